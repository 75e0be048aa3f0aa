//! The state kept of a call besides its record: for a person who may approve it, and for the calls that follow.

use super::appeal;
use super::bound;
use crate::audit::record::{self, CallRef};
use crate::store::approvals::{Pending, short_id};
use crate::store::redact::{Redactor, subject};
use crate::store::session::{Call, CallEnd, History};
use crate::system::digest::digest;
use crate::system::{clock, hex};
use crate::world::LocalWorld;
use reflex_agents::{Delivery, MAX_REASONS};
use reflex_engine::{
    Action, Advice, Decision, DetectorName, EffectKind, Event, Files, Judgement, Moment, Tier, Verdict,
};
use sha2::{Digest, Sha256};
use similar::TextDiff;
use std::fs;
use std::path::Path;

/// Maximum number of bytes of a refused call that are kept for a person. A longer call cannot be seen completely, and
/// so cannot be approved.
const MAX_SEEN: usize = 256 * 1024;

/// The texts of a call kept for a person, without secrets.
struct Seen<'a> {
    redactor: &'a Redactor<'a>,
    left: usize,
    complete: bool,
}

impl Seen<'_> {
    fn text(&mut self, text: &str) -> String {
        let shown = String::from(self.redactor.cleaned(text, self.left));
        self.complete &= text.len() <= self.left;
        self.left = self.left.saturating_sub(text.len());
        shown
    }
}

/// A refused call, as a person is asked about it. `kept` is the id of the copy of what it would lose.
pub(crate) fn pending(
    call: CallRef<'_>,
    judgement: &Judgement,
    redactor: &Redactor<'_>,
    (world, kept): (&LocalWorld<'_>, Option<&str>),
) -> Pending {
    let event = call.event;
    let verdict = &judgement.verdict;
    let commands = judgement.analysis.readings.iter().flat_map(|reading| &reading.commands);
    let mut seen = Seen { redactor, left: MAX_SEEN, complete: true };
    let text = full_text(&mut seen, event);
    let words = |command: &reflex_engine::shell::Command| {
        seen.text(&command.words.iter().map(|word| as_one_word(word.shown())).collect::<Vec<_>>().join(" "))
    };
    let parts = commands.map(words).collect();
    let time = clock::now();
    let binding = bound::binding(event, judgement, world, redactor);
    let effects = binding.effects.iter().map(|line| seen.text(line)).collect();
    // It only helps to read the text, which is complete without it.
    let diff = diff(event).filter(|diff| diff.len() <= MAX_DIFF);
    let diff = diff.map(|diff| redactor.cleaned(&diff, MAX_DIFF).into()).unwrap_or_default();
    Pending {
        id: short_id(),
        record: call.id.into(),
        time,
        listed: time,
        decision: record::decision(verdict.decision).into(),
        client: redactor.name(&event.client).into(),
        session: redactor.name(&event.session).into(),
        // An approval for a task applies to declared tasks only, because a call may name any task.
        task: event.declared.as_ref().map(|task| redactor.name(&task.id).into()).unwrap_or_default(),
        workspace: redactor.clean(&event.workspace).into(),
        cwd: redactor.clean(&event.cwd).into(),
        tool: redactor.name(&event.tool).into(),
        risk: verdict.risk.risk().into(),
        kept: kept.unwrap_or_default().into(),
        text,
        diff,
        parts,
        effects,
        is_complete: seen.complete,
        reasons: verdict.reasons.iter().map(|reason| redactor.clean(&reason.brief()).into()).collect(),
        guilty: verdict.findings.iter().map(|finding| redactor.clean(&finding.command).into()).collect(),
        until: 0,
        findings: verdict.findings.iter().map(|finding| finding.id.clone()).collect(),
        core: verdict.decision == Decision::Deny && verdict.findings.iter().any(|one| one.tier == Tier::Core),
        exact: same_call(call, judgement, world, [&binding.keys, &binding.once]),
        lasting: same_call(call, judgement, world, [&binding.keys, &binding.lasting]),
        bound: binding.shown,
        call: redactor.name(&event.call).into(),
        again: if seen.complete { appeal::call(event, redactor) } else { None },
        appeals: Vec::new(),
    }
}

/// Quotes a word that would look like several words.
fn as_one_word(word: String) -> String {
    let plain = !word.is_empty() && !word.contains(|ch: char| ch.is_whitespace() || "'\"\\".contains(ch));
    if plain { word } else { reflex_engine::shell::quoted(&word) }
}

/// The call with the content that it would write; an approval covers that too.
fn full_text(seen: &mut Seen<'_>, event: &Event) -> String {
    let one = |action: &Action| {
        let (kind, _, text) = subject(action);
        let text = seen.text(text);
        if matches!(action, Action::Shell { .. }) { text } else { format!("{kind} {text}") }
    };
    let calls: Vec<String> = event.actions.iter().map(one).collect();
    let contents: Vec<String> =
        event.actions.iter().filter_map(Action::content).map(|content| seen.text(content)).collect();
    [calls, contents].concat().join("\n")
}

/// Maximum size of a file that is compared with its new content, in bytes.
const MAX_COMPARED: u64 = 256 * 1024;

/// Maximum size of a difference, in bytes.
const MAX_DIFF: usize = 64 * 1024;

/// The difference that an edit or a write makes, line by line below a heading with the file's name. `None` for other
/// calls, and for a new file.
fn diff(event: &Event) -> Option<String> {
    let [action] = event.actions.as_slice() else { return None };
    let (path, after) = (action.path()?, action.content()?);
    let before = if let Action::Edit { removed, .. } = action {
        removed.clone()
    } else {
        let file = Path::new(&event.cwd).join(&path.text);
        let is_small = file.metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_COMPARED);
        is_small.then(|| fs::read_to_string(&file).ok()).flatten()?
    };
    let diff = TextDiff::from_lines(before.as_str(), after);
    let diff = diff.unified_diff().context_radius(2).missing_newline_hint(false).to_string();
    // A name in several lines is quoted, so that none of it is taken for the difference.
    let name = if path.text.contains('\n') { format!("{:?}", path.text) } else { path.text.clone() };
    (!diff.is_empty()).then(|| format!("{} {name}\n{diff}", subject(action).0))
}

/// The hash that a retry must share with a call to be covered by the same approval. It covers the text and its effects,
/// the parsed commands, the findings, the real paths of the targets, so that no symlink leads an approved call
/// elsewhere, and the bound files, settings and losses.
fn same_call(call: CallRef<'_>, judgement: &Judgement, world: &LocalWorld<'_>, bound: [&[String]; 2]) -> String {
    let analysis = &judgement.analysis;
    let commands = analysis.readings.iter().flat_map(|reading| &reading.commands);
    let commands = commands.map(|command| {
        let words: Vec<String> = command.words.iter().map(|word| word.shown()).collect();
        words.join("\u{1f}")
    });
    let paths = analysis.effects.iter().flat_map(|effect| &effect.targets).filter_map(|target| target.path());
    let places = paths.map(|path| world.real(before_pattern(path), true).path);
    // A retry is a repetition, which the approval covers.
    let found = judgement.verdict.findings.iter().filter(|finding| finding.detector != DetectorName::Loopbreaker);
    let found = found.map(|finding| finding.id.clone());
    let parts = [call.fingerprint.exact.clone()].into_iter().chain(found).chain(places).chain(commands);
    let parts: Vec<String> = parts.chain(bound.into_iter().flatten().cloned()).collect();
    hex::encode(&Sha256::digest(parts.join("\0"))).get(..32).unwrap_or("").to_owned()
}

/// The folder that precedes a pattern, or the path itself if it is not a pattern.
fn before_pattern(path: &str) -> &str {
    match path.find(['*', '?', '[']).and_then(|at| path.get(..at)) {
        Some(before) => before.rsplit_once('/').map_or("/", |(folder, _)| folder),
        None => path,
    }
}

/// The session's memory of this call.
pub(crate) fn call(call: CallRef<'_>, judgement: &Judgement, approved: bool) -> Call {
    let CallRef { event, fingerprint, id } = call;
    let after = event.moment == Moment::AfterTool;
    let failed = event.outcome.as_ref().is_some_and(|outcome| outcome.failed);
    let end = match (after, failed) {
        (true, true) => CallEnd::Failed,
        (true, false) => CallEnd::Ok,
        (false, _) => judgement.verdict.decision.into(),
    };
    let verdict = &judgement.verdict;
    let mut found: Vec<String> = verdict.findings.iter().map(|finding| finding.id.clone()).collect();
    for advice in verdict.advice.iter().filter(|_| end == CallEnd::Pass) {
        if !found.contains(&advice.finding) {
            found.push(advice.finding.clone());
        }
    }
    // The agent does not read the advice otherwise, so it was not informed.
    let reported = verdict.advice.iter().filter(|advice| !advice.is_known).take(MAX_REASONS);
    let shown_before = reported.filter(|_| end == CallEnd::Pass).map(mark).collect();
    Call {
        time: clock::now(),
        id: id.into(),
        after,
        end,
        tool: event.tool.clone(),
        exact: fingerprint.exact.clone(),
        approved,
        taint: if after { taint(event, judgement) } else { Vec::new() },
        findings: found,
        shown_before,
        files: if after { files(event, judgement) } else { Vec::new() },
        output: judgement.step.end.as_ref().map(|end| end.output.clone()).unwrap_or_default(),
        step: judgement.step.clone(),
        call: event.call.clone(),
        word: event.word.clone(),
    }
}

/// Whether the agent was warned of this in this session before. A warning about a repetition counts for the same call
/// only.
pub(crate) fn was_shown(history: &History, advice: &Advice, exact: &str) -> bool {
    history.shown_before(&advice.finding, &mark(advice), exact)
}

/// The mark of the sentence that explains how a person lets a refused call run.
const STEPS: &str = "steps";

/// The call with that mark, if the agent reads the sentence with this answer.
pub(crate) fn delivered(mut call: Call, delivery: &Delivery) -> Call {
    call.shown_before.extend((delivery.reply().0 == Decision::Deny).then(|| STEPS.to_owned()));
    call
}

/// Sets whether the agent has read that sentence in this session.
pub(crate) fn recall_steps<'h>(history: impl FnOnce() -> &'h History, verdict: &mut Verdict) {
    verdict.knows_steps = verdict.decision != Decision::Pass && history().shown_before(STEPS, STEPS, "");
}

/// A key that is equal for the same warning about the same subject.
fn mark(advice: &Advice) -> String {
    digest(&format!("{}\0{}", advice.finding, advice.about))
}

/// The sources of outside content that came in with this call.
fn taint(event: &Event, judgement: &Judgement) -> Vec<String> {
    let web = event.actions.iter().any(|action| matches!(action, Action::Fetch { .. }));
    let mcp = event.actions.iter().any(|action| matches!(action, Action::McpCall { .. }));
    let download = judgement.analysis.effects.iter().any(|effect| effect.kind == EffectKind::Fetch && !web);
    let orders = judgement.verdict.findings.iter().any(|finding| finding.category == "injection");
    let named = [(web, "web"), (mcp, "mcp"), (download, "download"), (orders, "injection")];
    named.iter().filter(|(is, _)| *is).map(|(_, name)| (*name).to_owned()).collect()
}

/// The files that this call wrote, each with the digest of its content; empty if the call does not hold all of it.
fn files(event: &Event, judgement: &Judgement) -> Vec<(String, String)> {
    let written = |kind| matches!(kind, EffectKind::Overwrite | EffectKind::Append | EffectKind::Edit);
    let effects = judgement.analysis.effects.iter().filter(|effect| written(effect.kind));
    let digest_of = |action: usize| match event.actions.get(action) {
        Some(Action::Write { content, .. }) => digest(content),
        _ => String::new(),
    };
    effects
        .flat_map(|effect| effect.targets.iter().filter_map(|target| target.path()).map(|path| (path, effect.action)))
        .map(|(path, action)| (path.to_owned(), digest_of(action)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reflex_engine::AgentPath;

    #[test]
    fn the_name_of_a_file_is_one_line_above_the_difference() {
        let edit = |path: &str| {
            let path = AgentPath::new(path);
            let (removed, content) = ("a\nb\n".into(), "a\nc\n".into());
            let action = Action::Edit { path, content, removed, parts: Vec::new() };
            diff(&Event { actions: vec![action], ..Event::default() }).unwrap_or_default()
        };
        let change = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
        assert_eq!(edit("src/a.rs"), format!("edit src/a.rs\n{change}"));
        assert_eq!(edit("a\n+b"), format!("edit \"a\\n+b\"\n{change}"));
    }
}
