//! Detects sessions that go in circles: repeated calls, edits that undo each other, one error after ever different
//! commands, outputs with less and less information, a denied goal in other words.
//!
//! The outcome of a call is not always known. Anything that justifies a repetition counts as progress: a new change to
//! a file between two equal calls, or a different result. The thresholds follow Warden's Loopbreaker.

mod signature;
pub(crate) mod step;

use crate::model::finding::{At, Decision, DetectorName, Finding, Severity, Tier};
use crate::model::session::PASSES;
use std::collections::BTreeMap;

pub use crate::model::session::{End, RepeatAllowance, Step, StepKind};
pub use signature::chars;

/// Maximum number of occurrences of a run of one to three calls that is not reported.
const MAX_RUNS: usize = 3;

/// Number of a session's latest calls that are compared.
pub const WINDOW: usize = 50;

/// Number of occurrences from which on a person is prompted, because such a loop does not end without help.
const ASK_FROM: usize = 8;

/// Number of occurrences from which on the call is denied, so that the turn ends.
const STOP_FROM: usize = 16;

/// Factor for the limits of calls that wait before they repeat, or that poll something running in the background.
const PATIENCE: usize = 4;

/// Factor for calls that do both.
const PATIENCE_WITH_BOTH: usize = 8;

/// Minimum number of failures of different commands with one signature that form a spiral.
const SPIRAL: usize = 3;

/// Minimum difference between two commands of a spiral, in percent of their characters.
const APART_PERCENT: usize = 30;

/// Maximum number of characters of a command that are compared.
const COMPARED: usize = 200;

/// Minimum number of consecutive looks at no more than [`FEW_PLACES`] places that are reported.
const MANY_LOOKS: usize = 12;

/// See [`MANY_LOOKS`].
const FEW_PLACES: usize = 4;

/// Number of outputs whose bytes are counted together.
const OUTPUTS: usize = 20;

/// Minimum number of bytes for a meaningful distribution.
const MIN_CHARS: u64 = 4096;

/// Entropy limit in bits per byte: English prose has more than four, a repeated word less than this.
const COLLAPSED: f64 = 3.5;

/// A detected loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// `loop/repeat`, …
    pub id: &'static str,
    /// Severity of the finding.
    pub severity: Severity,
    /// Confidence in percent.
    pub confidence: u32,
    /// Description of the repetition, in a sentence.
    pub message: String,
    /// A way out.
    pub remedy: &'static str,
}

/// Every kind of loop: its id and what it detects.
pub const CIRCLES: [(&str, &str); 7] = [
    ("loop/repeat", "one to three calls more than three times, and nothing changed between them"),
    ("loop/tight", "the same call three times in a row, or a pair twice, with the same result"),
    ("loop/flip", "edits of a file that undo each other"),
    ("loop/reread", "a dozen looks in a row at a few places"),
    ("loop/spiral", "the same error three times after different commands"),
    ("loop/refused", "what was refused, in other words"),
    ("loop/collapse", "twenty outputs that hold less and less"),
];

impl Loop {
    /// Converts the loop to a finding on the call that closes it.
    pub fn finding(&self, now: &Step) -> Finding {
        Finding {
            id: self.id.into(),
            detector: DetectorName::Loopbreaker,
            category: "loop".into(),
            severity: self.severity,
            confidence: self.confidence,
            tier: Tier::Recommended,
            fixed: None,
            would: None,
            message: self.message.clone(),
            remedy: self.remedy.into(),
            command: crate::text::excerpt::shortened(&now.text),
            rewrite: None,
            otherwise: Decision::Deny,
            at: At { within: "session".into(), span: Default::default(), derived: Vec::new() },
            evidence: Vec::new(),
            action: None,
            effect: None,
            by_stranger: false,
            after: None,
        }
    }
}

/// Returns the loops that a call would close, before it runs. `past` is oldest first.
pub fn before(now: &Step, past: &[Step]) -> Vec<Loop> {
    let all: Vec<&Step> = past.iter().chain([now]).collect();
    let found = [repeated(&all).or_else(|| tight(&all)), flipped(&all), reread(&all), refused(now, past)];
    found.into_iter().flatten().collect()
}

/// Records the end of a call. It replaces the step that was recorded before the call ran, if there was one.
pub fn finish(past: &mut Vec<Step>, ended: Step) {
    let waiting = past.iter().rposition(|step| step.exact == ended.exact && step.end.is_none());
    if let Some(at) = waiting {
        past.remove(at);
    }
    past.push(ended);
}

/// Returns the loops that become visible with the end of the last call. `past` is oldest first.
pub fn after(past: &[Step]) -> Vec<Loop> {
    [spiral(past), collapsed(past)].into_iter().flatten().collect()
}

/// Repeated runs of one to three calls at the end, counted backwards up to the last progress.
fn repeated(all: &[&Step]) -> Option<Loop> {
    let counts = (1..=3).map(|length| runs(all, length));
    let count = counts.max().unwrap_or(0);
    let now = all.last();
    let patience = patience(all);
    if count <= MAX_RUNS * patience {
        return None;
    }
    // If an earlier outcome is unknown, a warning is the maximum.
    let known = now.is_some_and(|now| past_ends_are_known(all, now));
    let severity = match count {
        _ if !known => Severity::Medium,
        _ if count >= STOP_FROM * patience => Severity::Critical,
        _ if count >= ASK_FROM * patience => Severity::High,
        _ => Severity::Medium,
    };
    Some(Loop {
        id: "loop/repeat",
        severity,
        confidence: 85,
        message: format!("This was done {count} times and nothing changed in between."),
        remedy: "read the last output to its end, change something, or tell the user what is in the way",
    })
}

/// Factor for the limits that apply to the last call.
fn patience(all: &[&Step]) -> usize {
    let now = all.last().map_or(RepeatAllowance::Straight, |step| step.pace);
    let waited = all.iter().rev().take(4).any(|step| step.pace == RepeatAllowance::Waits);
    match now {
        RepeatAllowance::Asks if waited => PATIENCE_WITH_BOTH,
        RepeatAllowance::Straight if !waited => 1,
        RepeatAllowance::Straight | RepeatAllowance::Asks | RepeatAllowance::Waits => PATIENCE,
    }
}

fn past_ends_are_known(all: &[&Step], now: &Step) -> bool {
    let mut before = all.iter().rev().skip(1).filter(|step| step.exact == now.exact);
    before.all(|step| step.end.is_some() || step.refused)
}

/// Number of occurrences of the last `length` calls, without overlaps, back to the last progress.
fn runs(all: &[&Step], length: usize) -> usize {
    let Some(wanted) = all.len().checked_sub(length).and_then(|start| all.get(start..)) else { return 0 };
    if wanted.iter().all(|step| step.kind == StepKind::Opaque && step.end.is_none()) {
        return 0;
    }
    let is_run = |start: usize| {
        let run = all.get(start..start + length).unwrap_or(&[]);
        run.iter().zip(wanted).all(|(one, other)| one.exact == other.exact)
    };
    let (mut count, mut begin) = (1, all.len() - length);
    let mut start = begin;
    while start > 0 {
        start -= 1;
        if start + length <= begin && is_run(start) {
            if is_progress(all, start, begin, length) {
                break;
            }
            (count, begin) = (count + 1, start);
        }
    }
    count
}

/// Whether progress separates two equal runs: a new change since the first one, or different results. With unknown
/// results, a new command in between may have changed anything.
fn is_progress(all: &[&Step], first: usize, second: usize, length: usize) -> bool {
    let between = all.get(first + length..second).unwrap_or(&[]);
    let known = |step: &Step| all.iter().take(first + length).any(|before| before.exact == step.exact);
    let changed = between.iter().any(|step| step.kind == StepKind::Change && !step.refused && !known(step));
    let differ = (0..length).any(|at| match (all.get(first + at), all.get(second + at)) {
        (Some(one), Some(other)) => {
            one.end.as_ref().zip(other.end.as_ref()).is_some_and(|(one, other)| one.output != other.output)
        }
        _ => false,
    });
    let ends = |start: usize| all.get(start..start + length).unwrap_or(&[]).iter().all(|step| step.end.is_some());
    let ran = || between.iter().any(|step| step.kind == StepKind::Run && !step.refused && !known(step));
    changed || differ || (!(ends(first) && ends(second)) && ran())
}

/// The same call three times in a row, or a pair twice, with equal results as far as they are known. At least the
/// earlier results must be known.
fn tight(all: &[&Step]) -> Option<Loop> {
    let same = |one: usize, other: usize| -> bool {
        let at = |back: usize| all.len().checked_sub(back).and_then(|index| all.get(index));
        at(one).zip(at(other)).is_some_and(|(one, other)| one.exact == other.exact && equal_ends(one, other))
    };
    let ended = |back: usize| {
        all.len().checked_sub(back).and_then(|index| all.get(index)).is_some_and(|step| step.end.is_some())
    };
    let three = same(1, 2) && same(2, 3) && ended(2) && ended(3);
    let pair = same(1, 3) && same(2, 4) && !same(1, 2) && ended(2) && ended(3) && ended(4);
    // For transient errors the agent was already given a number of retries.
    let passes = |back: usize| {
        let end = all.len().checked_sub(back).and_then(|index| all.get(index)).and_then(|step| step.end.as_ref());
        end.is_some_and(|end| end.error.starts_with(PASSES))
    };
    if !(three || pair) || patience(all) > 1 || passes(2) && passes(3) {
        return None;
    }
    Some(Loop {
        id: "loop/tight",
        severity: Severity::Medium,
        confidence: 70,
        message: "This ran just before with the same result.".into(),
        remedy: "look for the cause first: nothing has changed since",
    })
}

/// Whether two steps ended with the same output and status. A step whose end is unknown equals any other.
fn equal_ends(one: &Step, other: &Step) -> bool {
    match (&one.end, &other.end) {
        (Some(one), Some(other)) => one.output == other.output && one.failed == other.failed,
        _ => true,
    }
}

/// A file alternates between two states. A single return is not a loop if the same call was tried in both states and
/// gave different results.
fn flipped(all: &[&Step]) -> Option<Loop> {
    let now = all.last()?;
    let turns = |(path, new): &(String, String)| {
        let changes = states(all, path);
        let other = changes.len().checked_sub(2).and_then(|at| changes.get(at)).map(|(_, digest)| *digest)?;
        let is_turn = |at: usize, digest: &str| digest == if at.is_multiple_of(2) { new } else { other };
        let count = changes.iter().rev().enumerate().take_while(|(at, (_, one))| is_turn(*at, one)).count();
        let begins: Vec<usize> = changes.iter().rev().take(3).map(|(at, _)| *at).collect();
        Some(if count == 3 && is_tried(all, &begins) { 0 } else { count })
    };
    let counted = now.changes.iter().filter_map(|change| Some((&change.0, turns(change)?)));
    let (path, count) = counted.max_by_key(|(_, count)| *count)?;
    if count < 3 {
        return None;
    }
    Some(Loop {
        id: "loop/flip",
        severity: if count >= ASK_FROM { Severity::High } else { Severity::Medium },
        confidence: 75,
        message: format!("The last {count} changes of {path} undo each other."),
        remedy: "decide on one of the two, and write a test that shows why the other fails",
    })
}

/// The consecutive distinct states of a file, each with the index of the call that created it.
fn states<'s>(all: &[&'s Step], path: &str) -> Vec<(usize, &'s str)> {
    let done = all.iter().enumerate().filter(|(_, step)| !step.refused);
    let mut states: Vec<(usize, &str)> = done
        .flat_map(|(at, step)| step.changes.iter().map(move |change| (at, change)))
        .filter(|(_, (other, digest))| other == path && !digest.is_empty())
        .map(|(at, (_, digest))| (at, digest.as_str()))
        .collect();
    states.dedup_by(|one, other| one.1 == other.1);
    states
}

/// Whether a call was made in both of the last two states of a file, without a known equal result. `begins` are the
/// calls that began the states, the newest first.
fn is_tried(all: &[&Step], begins: &[usize]) -> bool {
    let [now, second, first] = begins else { return false };
    let calls =
        |from: usize, to: usize| all.get(from + 1..to).unwrap_or(&[]).iter().filter(|step| step.kind != StepKind::Look);
    let is_known_alike = |one: &Step, other: &Step| one.end.is_some() && other.end.is_some() && equal_ends(one, other);
    let differs =
        |one: &&&Step| calls(*second, *now).any(|other| other.exact == one.exact && !is_known_alike(one, other));
    calls(*first, *second).any(|one| differs(&one))
}

fn reread(all: &[&Step]) -> Option<Loop> {
    let looks: Vec<&&Step> = all.iter().rev().take_while(|step| step.kind == StepKind::Look).collect();
    let mut places: Vec<&str> = looks.iter().take(MANY_LOOKS).map(|step| step.exact.as_str()).collect();
    places.sort_unstable();
    places.dedup();
    let is_news = |one: &Step, other: &Step| one.exact == other.exact && !equal_ends(one, other);
    let last = || looks.iter().take(MANY_LOOKS);
    let grew = last().any(|one| one.pace != RepeatAllowance::Straight || last().any(|other| is_news(one, other)));
    if looks.len() < MANY_LOOKS || places.len() > FEW_PLACES || grew {
        return None;
    }
    Some(Loop {
        id: "loop/reread",
        severity: Severity::Medium,
        confidence: 70,
        message: format!("The last {MANY_LOOKS} calls looked at the same {} places again and again.", places.len()),
        remedy: "note what they say, then act on it or ask the user",
    })
}

/// A denied effect in a different spelling. The message includes the count, so that the person sees the attempts.
fn refused(now: &Step, past: &[Step]) -> Option<Loop> {
    let is_same = |step: &&Step| step.refused && step.goals.iter().any(|goal| now.goals.contains(goal));
    let same: Vec<&Step> = past.iter().filter(is_same).collect();
    if same.is_empty() || same.iter().all(|step| step.exact == now.exact) {
        return None;
    }
    Some(Loop {
        id: "loop/refused",
        severity: Severity::High,
        confidence: 90,
        message: format!("The same was refused in this session before, in other words ({} times).", same.len()),
        remedy: "do not look for a way around it: tell the user what you need it for",
    })
}

/// One error after commands that have little in common.
fn spiral(past: &[Step]) -> Option<Loop> {
    let last = past.last()?;
    let error = &last.end.as_ref().filter(|end| end.failed && !end.error.is_empty())?.error;
    let failed: Vec<&Step> = past
        .iter()
        .rev()
        .filter(|step| step.kind != StepKind::Look)
        .filter(|step| step.end.as_ref().is_some_and(|end| end.failed))
        .take_while(|step| step.end.as_ref().is_some_and(|end| end.error == *error))
        .collect();
    let mut kinds: Vec<&Step> = Vec::new();
    for step in &failed {
        if kinds.last().is_none_or(|before| are_apart(&before.text, &step.text)) {
            kinds.push(step);
        }
    }
    if kinds.len() < SPIRAL {
        return None;
    }
    Some(Loop {
        id: "loop/spiral",
        severity: Severity::Medium,
        confidence: 75,
        message: format!("{} different commands ended with the same error.", kinds.len()),
        remedy: "stop varying the command: state the error, its cause and one way to check that cause",
    })
}

fn are_apart(one: &str, other: &str) -> bool {
    let cut = |text: &str| text.chars().take(COMPARED).collect::<String>();
    let (one, other) = (cut(one), cut(other));
    let longer = one.chars().count().max(other.chars().count());
    strsim::levenshtein(&one, &other) * 100 >= longer * APART_PERCENT && longer > 0
}

/// The last outputs have low entropy. As the weakest indication, it never exceeds a warning.
fn collapsed(past: &[Step]) -> Option<Loop> {
    let outputs = past.iter().rev().filter_map(|step| step.end.as_ref()).filter(|end| !end.chars.is_empty());
    let outputs: Vec<&End> = outputs.take(OUTPUTS).collect();
    let mut counts: BTreeMap<u8, u64> = BTreeMap::new();
    for (byte, count) in outputs.iter().flat_map(|end| &end.chars) {
        *counts.entry(*byte).or_default() += u64::from(*count);
    }
    let all: u64 = counts.values().sum();
    if outputs.len() < OUTPUTS || all < MIN_CHARS {
        return None;
    }
    let share = |count: &u64| *count as f64 / all as f64;
    let bits: f64 = counts.values().map(share).map(|share| -share * share.log2()).sum();
    (bits < COLLAPSED).then(|| Loop {
        id: "loop/collapse",
        severity: Severity::Medium,
        confidence: 50,
        message: format!("The last {OUTPUTS} outputs say hardly anything new ({bits:.1} bits in each byte)."),
        remedy: "read the output: it may be the same lines over and over",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(text: &str, kind: StepKind) -> Step {
        Step { exact: text.into(), text: text.into(), kind, ..Step::default() }
    }

    fn ended(text: &str, output: &str, failed: bool) -> Step {
        let error = if failed { signature::error_signature(crate::library::tables(), output) } else { String::new() };
        let end = End { failed, output: output.into(), error, chars: chars(output) };
        Step { end: Some(end), ..step(text, StepKind::Run) }
    }

    fn ids(steps: &[Step]) -> Vec<&'static str> {
        let Some((now, past)) = steps.split_last() else { return Vec::new() };
        before(now, past).iter().map(|found| found.id).collect()
    }

    #[test]
    fn a_call_more_than_three_times_is_a_loop_until_something_changes() {
        let mut steps = vec![step("make", StepKind::Run); 3];
        assert_eq!(ids(&steps), [""; 0]);
        steps.push(step("make", StepKind::Run));
        assert_eq!(ids(&steps), ["loop/repeat"]);
        steps.insert(3, step("edit a", StepKind::Change));
        assert_eq!(ids(&steps), [""; 0]);
        // Repeating the same edit is not progress.
        steps.insert(0, step("edit a", StepKind::Change));
        assert_eq!(ids(&steps), ["loop/repeat"]);
    }

    #[test]
    fn a_group_of_three_is_counted_too() {
        let group = ["a", "b", "c"].map(|text| step(text, StepKind::Run));
        let rounds = |count: usize| group.iter().cloned().cycle().take(3 * count).collect::<Vec<_>>();
        assert_eq!(ids(&rounds(3)), [""; 0]);
        assert_eq!(ids(&rounds(4)), ["loop/repeat"]);
    }

    #[test]
    fn what_goes_on_is_asked_about_and_then_refused() {
        let severity = |count: usize| {
            let mut steps = vec![ended("make", "no", true); count];
            steps.push(step("make", StepKind::Run));
            steps.split_last().and_then(|(now, past)| before(now, past).first().map(|found| found.severity))
        };
        assert_eq!(severity(3), Some(Severity::Medium));
        assert_eq!(severity(7), Some(Severity::High));
        assert_eq!(severity(15), Some(Severity::Critical));
        let unknown = vec![step("make", StepKind::Run); 20];
        let found_loops = unknown.split_last().map(|(now, past)| before(now, past));
        assert!(found_loops.is_some_and(|loops| loops.iter().all(|found| found.severity == Severity::Medium)));
    }

    #[test]
    fn a_waiting_agent_gets_a_warning_before_a_question() {
        let severity = |count: usize| {
            let steps =
                vec![Step { pace: RepeatAllowance::Waits, ..ended("sleep 60; gh run view", "queued", false) }; count];
            steps.split_last().and_then(|(now, past)| before(now, past).first().map(|found| found.severity))
        };
        assert_eq!(severity(12), None);
        assert_eq!(severity(13), Some(Severity::Medium));
        assert_eq!(severity(31), Some(Severity::Medium));
        assert_eq!(severity(32), Some(Severity::High));
    }

    #[test]
    fn other_results_are_progress_and_equal_ones_are_not() {
        let equal =
            [ended("npm test", "1 failed", true), ended("npm test", "1 failed", true), step("npm test", StepKind::Run)];
        assert_eq!(ids(&equal), ["loop/tight"]);
        let growing = ["1", "2", "3", "4", "5"].map(|output| ended("tail log", output, false));
        assert_eq!(ids(&growing), [""; 0]);
        let paced = |pace, count| vec![Step { pace, ..ended("check", "down", true) }; count];
        assert_eq!(ids(&paced(RepeatAllowance::Waits, 12)), [""; 0]);
        assert_eq!(ids(&paced(RepeatAllowance::Asks, 12)), [""; 0]);
        assert_eq!(ids(&paced(RepeatAllowance::Asks, 13)), ["loop/repeat"]);
        let wait = || Step { pace: RepeatAllowance::Waits, ..ended("sleep 5", "", false) };
        let poll = || Step { pace: RepeatAllowance::Asks, ..ended("docker compose ps", "starting", false) };
        let polls: Vec<Step> = (0..20).flat_map(|_| [wait(), poll()]).collect();
        assert_eq!(ids(&polls), [""; 0]);
    }

    #[test]
    fn what_ran_in_between_may_have_changed_anything_unless_results_are_known() {
        let mixed = ["lint", "test a", "lint", "test b", "lint", "test c", "lint"];
        assert_eq!(ids(&mixed.map(|text| step(text, StepKind::Run))), [""; 0]);
        assert_eq!(ids(&mixed.map(|text| ended(text, "no", true))), ["loop/repeat"]);
        let looked = ["lint", "look a", "lint", "look b", "lint", "look c", "lint"];
        let kind = |text: &str| if text == "lint" { StepKind::Run } else { StepKind::Look };
        assert_eq!(ids(&looked.map(|text| step(text, kind(text)))), ["loop/repeat"]);
    }

    #[test]
    fn edits_that_undo_each_other_are_noticed() {
        let edit = |new: &str| Step { changes: vec![("a".into(), new.into())], ..step(new, StepKind::Change) };
        assert_eq!(ids(&[edit("x"), edit("y")]), [""; 0]);
        assert_eq!(ids(&[edit("x"), edit("y"), edit("x")]), ["loop/flip"]);
        assert_eq!(ids(&[edit("x"), edit("y"), edit("z")]), [""; 0]);
        let tried =
            |first, second| [edit("x"), ended("make", first, false), edit("y"), ended("make", second, true), edit("x")];
        assert_eq!(ids(&tried("ok", "no")), [""; 0]);
        let twice = [&tried("ok", "no")[..], &[ended("make", "ok", false), edit("y")]].concat();
        assert_eq!(ids(&twice), ["loop/flip"]);
        let alike = [edit("x"), ended("make", "no", true), edit("y"), ended("make", "no", true), edit("x")];
        assert_eq!(ids(&alike), ["loop/flip"]);
    }

    #[test]
    fn one_error_after_different_commands_is_a_spiral() {
        let commands = ["npm run build", "npx tsc --noEmit -p .", "yarn workspace web compile --force"];
        let steps = commands.map(|command| ended(command, "error TS2304: cannot find name 'a' in src/x.ts", true));
        assert_eq!(after(&steps).iter().map(|found| found.id).collect::<Vec<_>>(), ["loop/spiral"]);
        let mended = [&steps[..2], &[ended("npm run lint", "error: other things are wrong", true)]].concat();
        assert_eq!(after(&mended), []);
    }

    #[test]
    fn a_wall_of_one_word_collapses_and_prose_does_not() {
        let wall = vec![ended("x", &"aaaaab ".repeat(100), false); 20];
        assert_eq!(after(&wall).iter().map(|found| found.id).collect::<Vec<_>>(), ["loop/collapse"]);
        let prose =
            "The quick brown fox jumps over the lazy dog, 1234567890 times; why? Nobody knows (yet).\n".repeat(5);
        assert_eq!(after(&vec![ended("x", &prose, false); 20]), []);
    }

    #[test]
    fn a_refused_goal_is_counted_in_other_words_only() {
        let goal = |exact: &str, refused| Step { goals: vec!["g".into()], refused, ..step(exact, StepKind::Change) };
        assert_eq!(ids(&[goal("rm -rf x", true), goal("rm -rf x", false)]), [""; 0]);
        assert_eq!(ids(&[goal("rm -rf x", true), goal("find x -delete", false)]), ["loop/refused"]);
    }
}
