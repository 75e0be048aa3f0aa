//! Checks a session's calls in the log against the skills that a project lists in `.reflex/skills.yaml`.

use crate::store::{Search, Store};
use reflex_engine::{
    Action, DetectorName, Event, Finding, PolicyAction, Severity, fits, quotation, quoted_from_stranger,
};
use reflex_rules::{MAX_BYTES, Skill, skills_of};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of records of a session that are read.
const MAX_RECORDS: usize = 5000;

/// Number of times a skill is passed over before its authors are asked to review it.
const OFTEN: usize = 3;

/// The project's list of skills, relative to the workspace.
const REGISTER: &str = ".reflex/skills.yaml";

/// The kind of the records about skills.
const NOTE: &str = "skills";

/// The verdict on a verified skill that was not used although it should have been.
const PASSED_OVER: &str = "passed over";

/// A verdict about one skill.
struct Seen<'s> {
    skill: &'s Skill,
    /// `passed over`, `used`, …
    verdict: &'static str,
    /// The call that caused the verdict, redacted as in the log.
    shown: String,
}

/// Findings about the skills of a workspace; also writes notes to the log.
pub(crate) fn comply(event: &Event, store: &Store) -> Vec<Finding> {
    findings_with(event, store, &[])
}

fn register(event: &Event) -> PathBuf {
    Path::new(&event.workspace).join(REGISTER)
}

/// Implements [`comply`]; `current` lists the kinds and texts of this event's actions, which may not be in the log yet.
fn findings_with(event: &Event, store: &Store, current: &[(&str, &str)]) -> Vec<Finding> {
    let file = register(event);
    let Some(text) = read(&file) else { return Vec::new() };
    let (skills, problems) = skills_of(REGISTER, &text);
    let mut findings: Vec<Finding> = problems
        .iter()
        .take(1)
        .map(|problem| {
            // A problem quotes content of the file.
            let context = quoted_from_stranger("The list of skills", &file.display().to_string(), &problem.to_string());
            finding("skill/unreadable", context, "ask the user to fix the file")
        })
        .collect();
    let fields = vec![("session".to_owned(), event.session.clone())];
    let records = store.log().search(&Search { fields, ..Search::default() }, MAX_RECORDS).unwrap_or_default();
    for seen in skills.iter().flat_map(|skill| look(skill, (event, current), &records)) {
        let times = store.log().search(&passed_over(seen.skill, event), OFTEN).map_or(0, |found| found.len());
        let _ = store.note(
            NOTE,
            json!({
                "session": event.session, "agent": event.client, "workspace": event.workspace, "skill": seen.skill.name,
                "version": seen.skill.version, "verdict": seen.verdict, "text": seen.shown,
            }),
        );
        findings.push(context(&seen));
        if seen.verdict == PASSED_OVER && times + 1 >= OFTEN {
            let message = format!(
                "The skill {} was passed over {} times or more in this project: it may not fit any more.",
                quotation(&seen.skill.name),
                times + 1
            );
            findings.push(finding(
                "skill/update-wanted",
                message,
                "ask the user to look at its steps and triggers, or to retire it",
            ));
        }
    }
    findings
}

/// Like [`comply`], after a file was changed that a skill is meant for.
pub(crate) fn comply_after(event: &Event, store: &Store) -> Vec<Finding> {
    let changes = event.actions.iter().filter(|action| action.content().is_some());
    let changed: Vec<(&str, &str)> = changes.filter_map(Action::path).map(|path| ("write", &*path.text)).collect();
    let file = register(event);
    if changed.is_empty() || !file.exists() {
        return Vec::new();
    }
    let (skills, _) = skills_of(REGISTER, &read(&file).unwrap_or_default());
    let is_meant = changed.iter().any(|(kind, path)| skills.iter().any(|skill| triggers(skill, kind, path)));
    if is_meant { findings_with(event, store, &changed) } else { Vec::new() }
}

/// A search for earlier cases in this project in which the skill was passed over.
fn passed_over(skill: &Skill, event: &Event) -> Search {
    let fields =
        [("kind", NOTE), ("skill", &skill.name), ("verdict", PASSED_OVER), ("workspace", event.workspace.as_str())];
    Search { fields: fields.map(|(key, value)| (key.to_owned(), value.to_owned())).into(), ..Search::default() }
}

/// A list that is not a small regular file is ignored.
fn read(file: &Path) -> Option<String> {
    let data = file.symlink_metadata().ok().filter(|data| data.is_file() && data.len() <= MAX_BYTES)?;
    let _ = data;
    fs::read_to_string(file).ok()
}

/// Whether the record is of a call that was not refused.
fn ran(record: &Map<String, Value>) -> bool {
    let is = |key: &str, word: &str| record.get(key).and_then(Value::as_str) == Some(word);
    is("kind", "call") && is("moment", "before-tool") && !is("decision", "deny")
}

/// New verdicts about a skill since the last one in this session: a call counts once, however many turns end after it.
fn look<'s>(
    skill: &'s Skill,
    (event, current): (&Event, &[(&str, &str)]),
    records: &[Map<String, Value>],
) -> Vec<Seen<'s>> {
    let is = |record: &Map<String, Value>, key: &str, word: &str| record.get(key).and_then(Value::as_str) == Some(word);
    let is_reported = |record: &Map<String, Value>| is(record, "kind", NOTE) && is(record, "skill", &skill.name);
    let fresh = records.iter().rposition(is_reported).map_or(0, |last| last + 1);
    let of_calls = |records| -> Vec<(&str, &str)> {
        let records: &[Map<String, Value>] = records;
        records.iter().filter(|record| ran(record)).flat_map(subjects).collect()
    };
    let (all, fresh) = (of_calls(records), of_calls(records.get(fresh..).unwrap_or_default()));
    let uses = |calls: &[(&str, &str)]| calls.iter().any(|(kind, text)| uses(skill, kind, text));
    let by_hand = fresh.iter().chain(current).find(|(kind, text)| triggers(skill, kind, text));
    let (ever, now) = (uses(&all), uses(&fresh));
    let shown = by_hand.map(|(_, text)| text.chars().take(100).collect()).unwrap_or_default();
    let verdict = match skill.status.as_str() {
        "verified" if by_hand.is_some() && !ever => Some(PASSED_OVER),
        "deprecated" if now => Some("used although it is deprecated"),
        "draft" if now => Some("used although it is not verified"),
        _ => None,
    };
    let verdict = verdict.map(|verdict| Seen { skill, verdict, shown });
    verdict.into_iter().chain(outdated(skill, event).filter(|_| now)).collect()
}

/// A skill whose own file names another version than the list.
fn outdated<'s>(skill: &'s Skill, event: &Event) -> Option<Seen<'s>> {
    if skill.path.is_empty() || skill.version.is_empty() || skill.path.split('/').any(|part| part == "..") {
        return None;
    }
    let folder = Path::new(&event.workspace).join(skill.path.trim_start_matches('/'));
    let text = read(&if folder.is_dir() { folder.join("SKILL.md") } else { folder })?;
    let head = text.strip_prefix("---\n")?.split("\n---").next()?;
    let version = head.lines().find_map(|line| line.strip_prefix("version:"))?.trim().trim_matches(['"', '\'']);
    (version != skill.version).then(|| Seen {
        skill,
        verdict: "used in another version than the register names",
        shown: String::new(),
    })
}

/// The kind and the text of each action of the call.
fn subjects(call: &Map<String, Value>) -> impl Iterator<Item = (&str, &str)> {
    let actions = call.get("actions").and_then(Value::as_array).into_iter().flatten();
    actions.filter_map(|action| {
        let action = action.as_object()?;
        let text = action.iter().find(|(key, value)| *key != "kind" && *key != "sha256" && value.is_string())?;
        Some((action.get("kind")?.as_str()?, text.1.as_str()?))
    })
}

/// Whether a call uses the skill: through the agent's skill tool, or by reading the skill's file.
fn uses(skill: &Skill, kind: &str, text: &str) -> bool {
    let named = kind == "skill" && text.trim_start_matches('/').rsplit(':').next() == Some(&skill.name);
    let written = !skill.path.is_empty() && text.contains(skill.path.trim_matches('/'));
    named || (matches!(kind, "read" | "shell") && written)
}

fn triggers(skill: &Skill, kind: &str, text: &str) -> bool {
    skill.triggers.iter().any(|trigger| match kind {
        "shell" => text.split(['\n', ';', '|', '&']).any(|part| like(trigger, part.trim())),
        "write" | "edit" | "delete" => fits(trigger, &format!("/{}", text.trim_start_matches('/')), ""),
        _ => false,
    })
}

/// Matches a pattern in which `*` matches any characters.
fn like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut open = false;
    for part in parts {
        open = part.is_empty();
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or(""),
            None => return false,
        }
    }
    open || rest.is_empty()
}

fn context(seen: &Seen<'_>) -> Finding {
    let Skill { name, version, .. } = seen.skill;
    // The list of skills is never accepted by a person, so its words are quoted as a repository's.
    let name = quotation(&if version.is_empty() { name.clone() } else { format!("{name} {version}") });
    let (id, message) = match seen.verdict {
        PASSED_OVER => {
            ("skill/passed-over", format!("This was done by hand, and there is a verified skill for it: {name}."))
        }
        verdict => ("skill/status", format!("The skill {name} was {verdict}.")),
    };
    Finding {
        command: seen.shown.clone(),
        ..finding(id, message, "use the skill next time, or tell the user why it does not fit")
    }
}

fn finding(id: &str, message: String, remedy: &str) -> Finding {
    Finding {
        id: id.into(),
        detector: DetectorName::Duties,
        category: "skill".into(),
        severity: Severity::Low,
        confidence: 90,
        fixed: Some(PolicyAction::Warn),
        message,
        remedy: remedy.into(),
        ..Finding::default()
    }
}

#[cfg(test)]
mod tests {
    use super::like;

    #[test]
    fn a_star_matches_any_characters() {
        assert!(
            like("npm publish*", "npm publish --tag next") && like("git tag *", "git tag v1") && like("make", "make")
        );
        assert!(
            like("*deploy*prod", "x deploy to prod") && !like("make", "make all") && !like("git tag *", "git tags")
        );
    }
}
