//! The end of a turn: runs the configured checks, judges the changed files, and names open criteria and skipped skills.
//! A failed check keeps the agent at work, once.

use super::checks::{self, Check, Ran};
use super::host::Host;
use super::memory;
use super::stages::{Received, Scene, StopCheck};
use crate::audit::skills;
use crate::config::Loaded;
use crate::store::redact::Redactor;
use crate::store::session::session_key;
use crate::store::session::{CallEnd, History};
use crate::store::tasks::Declared;
use crate::world::LocalWorld;
use reflex_engine::{
    Action, AgentPath, Decision, DetectorName, Engine, Event, Finding, Git, Judgement, Moment, PolicyAction, Reason,
    Session, Severity, Untracked, plain_path,
};
use reflex_tables::{View, views};
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum number of changed files that are judged.
const MAX_FILES: usize = 40;

/// Maximum size of a file that is read, in bytes.
const MAX_BYTES: u64 = 128 * 1024;

/// Time limit of a task's command, in seconds.
const ACCEPT_SECONDS: u64 = 120;

/// Maximum number of times in a row that an agent is kept at work, if it does not report that it goes on already.
pub const MAX_IN_A_ROW: usize = 2;

/// The `verify` entries of all policies.
#[derive(Default)]
struct Wanted {
    checks: Vec<Check>,
    /// Files with criteria, each with the name under which it is reported.
    acceptance: Vec<(String, String)>,
    /// Whether any policy has a `verify` entry.
    any: bool,
}

impl Wanted {
    /// Collects commands only from layers that may loosen, and files with criteria from all layers.
    fn from_layers(loaded: &[Loaded]) -> Wanted {
        let mut wanted = Wanted::default();
        for one in loaded {
            let verify = one.layer.tables.policy().verify();
            wanted.any |= !verify.is_absent();
            let acceptance = verify.acceptance();
            let shown = if one.layer.is_strange() { plain_path(acceptance) } else { acceptance.to_owned() };
            wanted.acceptance.extend((!acceptance.is_empty()).then(|| (acceptance.to_owned(), shown)));
            if !one.layer.loosens.holds() {
                continue;
            }
            let check = |check: views::Check<'_>| Check {
                name: check.name().into(),
                command: check.command().into(),
                seconds: u64::from(check.seconds()),
            };
            wanted.checks.extend(verify.run().iter().map(check));
        }
        wanted
    }
}

impl Received<'_> {
    /// Adds what the checks at the end of a turn find.
    pub(super) fn check_end(&self, check: StopCheck, scene: &Scene<'_>, judgement: &mut Judgement) {
        let (host, store, event) = (self.incoming.host, self.incoming.store, &self.event);
        let mut findings = std::mem::take(&mut judgement.verdict.findings);
        if check == StopCheck::All {
            findings.extend(host.verified(event, &scene.loaded, &Redactor::new(store)));
        }
        findings.extend(skills::comply(event, store));
        if event.goes_on || in_a_row(scene.world.history()) >= MAX_IN_A_ROW {
            // The agent was kept at work already: open points are reported, and the turn ends.
            findings.iter_mut().for_each(|finding| finding.fixed = finding.fixed.min(Some(PolicyAction::Warn)));
        }
        if let Some(policy) = scene.policy.as_ref().filter(|_| !findings.is_empty()) {
            let engine = Engine::new(reflex_library::tables(), policy);
            judgement.verdict = engine.conclude(event, &scene.world, findings);
        }
        let exact = &judgement.fingerprint.exact;
        judgement.verdict.advise_once(|advice| memory::was_shown(scene.world.history(), advice, exact));
    }
}

impl Host {
    /// Runs the checks, judges the changes, and writes a report to the log.
    fn verified(&self, event: &Event, loaded: &[Loaded], redactor: &Redactor<'_>) -> Vec<Finding> {
        let wanted = Wanted::from_layers(loaded);
        if (!wanted.any && event.declared.is_none()) || std::env::var_os(checks::MARK).is_some() {
            return Vec::new();
        }
        let (mut findings, mut rows) = (Vec::new(), Vec::new());
        // A task's commands run only if a person has vouched for the task.
        let task = self.store().vouched_task(&event.workspace);
        let runs = task.iter().flat_map(|task| &task.accept_runs).map(|command| Check {
            name: command.clone(),
            command: command.clone(),
            seconds: ACCEPT_SECONDS,
        });
        for check in wanted.checks.iter().cloned().chain(runs) {
            let check = &check;
            let ran = self.checked(check, event, loaded);
            rows.push(json!({"name": check.name, "passed": ran.passed, "how": ran.how, "millis": u64::try_from(ran.millis).unwrap_or(u64::MAX)}));
            findings.extend((!ran.passed).then(|| failed(check, &ran, redactor)));
        }
        let files: Vec<(String, usize)> =
            wanted.acceptance.iter().map(|(file, shown)| (shown.clone(), open_boxes(event, file))).collect();
        findings.extend(files.iter().filter(|(_, open)| *open > 0).map(|(file, open)| unmet(file, *open)));
        let open: Vec<&str> = task.iter().flat_map(Declared::open).collect();
        findings.extend((!open.is_empty()).then(|| to_be_met(&open)));
        let store = self.store();
        let world = self.world(event, loaded).in_session(&store, session_key(event));
        let (changed, count) = changed(&world, &event.workspace);
        findings.extend(self.differences(event, loaded, &changed));
        let verdict = match (findings.iter().any(|finding| finding.fixed == Some(PolicyAction::Deny)), rows.is_empty())
        {
            (true, _) => "failed",
            (false, true) => "had nothing to run",
            (false, false) => "passed",
        };
        let lines = changed_lines(&world, event, &changed);
        let lines: Vec<Value> = lines
            .iter()
            .map(|(name, added, removed)| json!({"file": String::from(redactor.clean(name)), "added": added, "removed": removed}))
            .collect();
        let shown: Vec<String> = changed.iter().map(|name| redactor.clean(name).into()).collect();
        let report = json!({
            "agent": event.client, "session": event.session, "workspace": event.workspace, "task": event.task_name(),
            "verdict": verdict, "checks": rows, "changed": {"count": count, "names": shown, "lines": lines},
            "acceptance": files.iter().map(|(file, open)| json!({"file": file, "open": open})).collect::<Vec<_>>(),
            "criteria": {"open": open, "met": task.as_ref().map(|task| task.met.as_slice()).unwrap_or_default()},
            "findings": findings.iter().map(|finding| redactor.finding(finding)).collect::<Value>(),
        });
        let _ = self.store().note("verification", report);
        findings
    }

    /// Runs a check. It runs unguarded, so it must be a command that an agent may run too.
    fn checked(&self, check: &Check, event: &Event, loaded: &[Loaded]) -> Ran {
        let action = Action::Shell { command: check.command.clone(), language: Default::default() };
        let call = before(event, action);
        let world = self.world(event, loaded);
        let verdict = self.judge_in(&call, &world, loaded).verdict;
        if verdict.decision != Decision::Pass {
            let reasons: Vec<String> = verdict.reasons.iter().map(Reason::brief).collect();
            let how = format!("it was not run: {}", reasons.join(" "));
            return Ran { passed: false, how, millis: 0, tail: String::new() };
        }
        self.wait_for(check.seconds);
        checks::run(check, Path::new(&event.workspace), &self.folders().cache.join("checks"))
    }

    /// Judges each changed file as if it were written now, by the rules of any write: scope, protected paths, secrets,
    /// places.
    fn differences(&self, event: &Event, loaded: &[Loaded], changed: &[String]) -> Vec<Finding> {
        let world = self.world(event, loaded).that_ran();
        let mut findings: Vec<Finding> = Vec::new();
        for name in changed.iter().take(MAX_FILES) {
            let path = Path::new(&event.workspace).join(name);
            let small = path.symlink_metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES);
            let content = small.then(|| fs::read_to_string(&path).ok()).flatten().unwrap_or_default();
            let call = before(event, Action::Write { path: AgentPath::new(path.to_string_lossy()), content });
            for mut finding in self.judge_in(&call, &world, loaded).verdict.findings {
                let known = findings.iter().any(|other| other.id == finding.id);
                if finding.severity < Severity::Medium || finding.detector == DetectorName::Loopbreaker || known {
                    continue;
                }
                finding.fixed = Some(PolicyAction::Warn);
                finding.at.within = format!("file:{name}");
                (finding.action, finding.effect) = (None, None);
                findings.push(finding);
            }
        }
        findings
    }
}

/// The event as a call that has not run.
fn before(event: &Event, action: Action) -> Event {
    Event {
        moment: Moment::BeforeTool,
        word: String::new(),
        tool: String::new(),
        actions: vec![action],
        outcome: None,
        ..event.clone()
    }
}

/// Files that differ from the last commit or are untracked, and their number. Without a repository only the files that
/// the session wrote are known.
fn changed(world: &LocalWorld<'_>, workspace: &str) -> (Vec<String>, usize) {
    if !world.is_managed(workspace) {
        let below = |path: &String| Some(path.strip_prefix(workspace)?.strip_prefix('/')?.to_owned());
        let names: Vec<String> = world.written().iter().filter_map(below).collect();
        let count = names.len();
        return (names, count);
    }
    let edited = world.uncommitted(workspace).known().unwrap_or_default();
    let fresh = world.untracked(workspace, Untracked::Ordinary).known().unwrap_or_default();
    let names = edited.names.into_iter().chain(fresh.names).collect();
    (names, edited.count + fresh.count)
}

/// Number of lines added to and removed from each changed file since the last commit, for text files up to
/// [`MAX_BYTES`].
fn changed_lines(world: &LocalWorld<'_>, event: &Event, changed: &[String]) -> Vec<(String, usize, usize)> {
    let of = |name: &String| {
        let path = Path::new(&event.workspace).join(name);
        let small = path.symlink_metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES);
        let now = if small { fs::read(&path).ok()? } else { Vec::new() };
        let before = world.committed(&path.to_string_lossy()).unwrap_or_default();
        let is_other = (path.symlink_metadata().is_ok() && !small) || before.len() as u64 > MAX_BYTES;
        if is_other || now.contains(&0) || before.contains(&0) {
            return None;
        }
        let (before, now) = (String::from_utf8_lossy(&before), String::from_utf8_lossy(&now));
        let diff = TextDiff::configure().deadline(Instant::now() + Duration::from_secs(1)).diff_lines(&*before, &*now);
        let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
        Some((name.clone(), count(ChangeTag::Insert), count(ChangeTag::Delete)))
    };
    changed.iter().take(MAX_FILES).filter_map(of).collect()
}

fn failed(check: &Check, ran: &Ran, redactor: &Redactor<'_>) -> Finding {
    let tail = redactor.clean(ran.tail.trim_end());
    let lines: Vec<&str> = tail.lines().rev().filter(|line| !line.trim().is_empty()).take(8).collect();
    let tail: Vec<&str> = lines.into_iter().rev().collect();
    let printed = if tail.is_empty() { String::new() } else { format!(" It printed last: {}", tail.join(" ⏎ ")) };
    Finding {
        command: redactor.cleaned(&check.command, 80).into(),
        fixed: Some(PolicyAction::Deny),
        message: format!("The check `{}` does not pass ({}).{printed}", check.name, ran.how),
        remedy: "fix the cause, or tell the user what is in the way".into(),
        severity: Severity::Medium,
        ..plain("verify/check-failed")
    }
}

fn unmet(file: &str, open: usize) -> Finding {
    Finding {
        command: file.into(),
        fixed: Some(PolicyAction::Deny),
        severity: Severity::Low,
        message: if open == 1 { "1 criterion is open.".into() } else { format!("{open} criteria are open.") },
        remedy: "meet them, or tell the user which cannot be met and why".into(),
        ..plain("verify/criteria-open")
    }
}

/// Criteria in prose, which no program can check.
fn to_be_met(open: &[&str]) -> Finding {
    Finding {
        command: String::new(),
        fixed: Some(PolicyAction::Warn),
        severity: Severity::Low,
        message: format!("The task is not done: no person has confirmed that {} is met.", listed(open)),
        remedy: "tell the user how it is met; they record it with `reflex task met`".into(),
        ..plain("task/criteria-open")
    }
}

fn listed(open: &[&str]) -> String {
    let quoted: Vec<String> = open.iter().map(|text| format!("`{text}`")).collect();
    quoted.join(" and ")
}

fn plain(id: &str) -> Finding {
    Finding {
        id: id.into(),
        detector: DetectorName::Duties,
        category: "verification".into(),
        confidence: 100,
        ..Finding::default()
    }
}

/// Number of unticked boxes (`- [ ]`) in a file of the workspace; 1 if the file is missing, too large or outside of it.
fn open_boxes(event: &Event, file: &str) -> usize {
    let path = Path::new(&event.workspace).join(file);
    let inside = !Path::new(file).is_absolute() && !file.split('/').any(|part| part == "..");
    let small = path.symlink_metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES);
    match fs::read_to_string(&path) {
        Ok(text) if inside && small => {
            let open = |line: &&str| ["- [ ]", "* [ ]", "+ [ ]"].iter().any(|sign| line.trim_start().starts_with(sign));
            text.lines().filter(open).count()
        }
        _ => 1,
    }
}

/// Number of times that the agent was kept at work since a turn of the session last ended.
fn in_a_row(history: &History) -> usize {
    let ends = history.calls().rev().filter(|call| call.findings.iter().any(|id| id.starts_with("verify/")));
    ends.take_while(|call| call.end == CallEnd::Deny).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_by_name_is_answered_too() {
        let event = |moment, word: &str| Event { moment, word: word.into(), ..Event::default() };
        assert_eq!(StopCheck::from_event(&event(Moment::Stop, "Stop")), Some(StopCheck::All));
        assert_eq!(StopCheck::from_event(&event(Moment::Other, "verify-result")), Some(StopCheck::All));
        assert_eq!(StopCheck::from_event(&event(Moment::Other, "skill-compliance")), Some(StopCheck::Skills));
        assert_eq!(StopCheck::from_event(&event(Moment::Other, "PreCompact")), None);
    }
}
