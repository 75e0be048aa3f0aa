//! The entry of `allow` that an answer suggests: the program, its subcommand and the kind of targets that the person has
//! seen, or exactly the call.

use crate::commands::history::record::field;
use crate::error::Error;
use reflex_engine::{DetectorName, Effect, EffectKind, Judgement, Target, TargetKind, is_within};
use reflex_host::{now, timestamp};
use serde_json::{Map, Value};
use std::fmt::Write;

/// Programs whose first words do not determine their effect.
pub(super) const OPEN_ENDED: [&str; 19] = [
    "sh", "bash", "zsh", "dash", "fish", "python", "python3", "node", "ruby", "perl", "php", "ssh", "sudo", "env",
    "xargs", "eval", "make", "npx", "docker",
];

/// Maximum number of files and folders that an entry names.
const MAX_PATHS: usize = 5;

/// Workspace, finding and first two words of a habit.
pub(in crate::commands) type Key = (String, String, String);

/// An entry of `allow`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::commands) struct Proposal {
    /// The first words of the command.
    pub(in crate::commands) argv: Vec<String>,
    /// The rule that asks.
    pub(in crate::commands) rule: String,
    /// Patterns of the files that the call may change; any if empty.
    pub(in crate::commands) paths: Vec<String>,
    /// The project; any if empty.
    pub(in crate::commands) within: String,
    /// The last day, as `2026-12-31`; without end if empty.
    pub(in crate::commands) until: String,
    pub(in crate::commands) reason: String,
}

impl Proposal {
    /// Returns an entry for exactly these words, and whatever follows them.
    pub(in crate::commands) fn exact(command: &str, rule: &str) -> Proposal {
        let argv = command.split_whitespace().map(str::to_owned).collect();
        Proposal { argv, rule: rule.to_owned(), ..Proposal::default() }
    }

    /// Returns an entry for calls of the same program and subcommand that the same rule asks about, in the project. If
    /// they change files, the same files. `None` if such an entry would cover calls of unknown effect.
    pub(in crate::commands) fn of_class(self, judgement: &Judgement, workspace: &str) -> Option<Proposal> {
        let program = self.argv.first().filter(|program| !OPEN_ENDED.contains(&program.as_str()))?;
        let effects = &judgement.analysis.effects;
        let findings = judgement.verdict.findings.iter().filter(|finding| finding.id == self.rule);
        let effects: Vec<&Effect> = findings.filter_map(|finding| effects.get(finding.effect?)).collect();
        let paths = paths(&effects, workspace)?;
        let subcommand = self.argv.get(1).filter(|word| is_subcommand(word) && !paths.contains(word));
        if workspace.is_empty() || (subcommand.is_none() && paths.is_empty()) {
            return None;
        }
        let argv = [program].into_iter().chain(subcommand).cloned().collect();
        let paths = paths.iter().flat_map(|path| [path.clone(), format!("{path}/**")]).collect();
        Some(Proposal { argv, paths, within: workspace.to_owned(), ..self })
    }

    /// Describes the calls that it covers.
    pub(in crate::commands) fn sentence(&self) -> String {
        let place = if self.within.is_empty() { String::new() } else { format!(" in {}", self.within) };
        let about = match self.paths.first() {
            Some(first) if self.paths.len() > 2 => format!(" on {first} and {} more", self.paths.len() / 2 - 1),
            Some(first) => format!(" on {first}"),
            None => String::new(),
        };
        let end = if self.until.is_empty() { String::new() } else { format!(", until {}", self.until) };
        format!("`{} …`{about}{place}, where only {} asks{end}", self.argv.join(" "), self.rule)
    }

    /// Returns the entry as block YAML, the first line without its dash.
    pub(in crate::commands) fn yaml(&self) -> String {
        let list = |items: &[String]| items.iter().map(|item| word(item)).collect::<Vec<_>>().join(", ");
        let mut lines = format!("argv: [{}]\nrule: {}", list(&self.argv), word(&self.rule));
        let rest = [("in", &self.within), ("until", &self.until), ("reason", &self.reason)];
        if !self.paths.is_empty() {
            let _ = write!(lines, "\npath: [{}]", list(&self.paths));
        }
        for (key, value) in rest.into_iter().filter(|(_, value)| !value.is_empty()) {
            let _ = write!(lines, "\n{key}: {}", word(value));
        }
        lines
    }
}

/// Returns the files that the effects change, below the project; empty if they are about names. `None` if one lies
/// elsewhere, is the whole project or unknown.
fn paths(effects: &[&Effect], workspace: &str) -> Option<Vec<String>> {
    let mut paths = Vec::new();
    for effect in effects {
        if effect.kind.target_kind() == TargetKind::Name || effect.kind == EffectKind::DiscardChanges {
            continue;
        }
        for target in &effect.targets {
            let path = Target::path(target).filter(|path| is_within(path, workspace))?;
            let below = path.strip_prefix(workspace)?.trim_matches('/');
            if below.is_empty() || below.contains(['*', '?', '[']) || paths.len() >= MAX_PATHS {
                return None;
            }
            paths.push(below.to_owned());
        }
    }
    Some(paths)
}

/// Whether the second word of a command looks like a subcommand and not like a file or a name.
fn is_subcommand(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && !word.starts_with('-')
}

/// Returns the text as a YAML scalar.
fn word(text: &str) -> String {
    let is_plain = text.starts_with(|ch: char| ch.is_ascii_alphabetic() || "/~".contains(ch))
        && text.chars().all(|ch| ch.is_ascii_alphanumeric() || "/._-~+@ ".contains(ch))
        && !text.ends_with(' ')
        && !["true", "false", "null", "yes", "no", "on", "off"].contains(&text.to_lowercase().as_str());
    if is_plain { text.to_owned() } else { Value::from(text).to_string() }
}

/// Checks a date such as `2026-12-31`.
///
/// # Errors
/// It is not a date, or lies in the past.
pub(in crate::commands) fn last_day(written: &str) -> Result<String, Error> {
    let digits = |part: &str, length: usize| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = matches!(written.split('-').collect::<Vec<_>>()[..], [year, month, day]
        if digits(year, 4) && digits(month, 2) && digits(day, 2));
    let today = timestamp(now());
    if !is_date || written < today.get(..10).unwrap_or("") {
        return Err(Error::Day(written.to_owned()));
    }
    Ok(written.to_owned())
}

/// Returns the habit of a call and its command.
///
/// # Errors
/// The reason why no entry can cover the call.
pub(in crate::commands) fn key_and_command(record: &Map<String, Value>) -> Result<(Key, String), &'static str> {
    let list = |key: &str| record.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let of_call: Vec<&Value> = list("findings")
        .iter()
        .filter(|finding| text(finding, "detector") != DetectorName::Loopbreaker.name())
        .collect();
    let finding = match of_call[..] {
        [] => return Err("no rule asked about this call, so there is nothing to allow"),
        [finding] => finding,
        _ => return Err("several rules asked about this call, and an entry covers one"),
    };
    if text(finding, "tier") == "core" {
        return Err("a core rule stopped this call: only `reflex rules off ID --reason WHY` lowers one");
    }
    let [action] = list("actions") else { return Err("this call has several parts, and an entry covers one") };
    let command = text(action, "command");
    if command.is_empty() {
        return Err("this is not a command: `path` and `rule` in `allow` cover edits (docs/policy.md)");
    }
    if command.contains(['\'', '"', '\\', '$', '`', ';', '|', '&', '<', '>', '(', '\n', '[']) {
        return Err("this command has quotes, variables or several parts: only a plain one can be allowed");
    }
    let first = command.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    Ok(((field(record, "workspace").to_owned(), text(finding, "id"), first), command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_yaml_in_a_block() {
        let proposal = Proposal {
            within: "/home/me/my shop".into(),
            until: "2026-12-31".into(),
            reason: "allowed: by me".into(),
            ..Proposal::exact("git push -f +x", "git/push-force")
        };
        let yaml = "argv: [git, push, \"-f\", \"+x\"]\nrule: git/push-force\nin: /home/me/my shop\nuntil: \"2026-12-31\"\nreason: \"allowed: by me\"";
        assert_eq!(proposal.yaml(), yaml);
    }
}
