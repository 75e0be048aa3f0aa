//! Reads the lines of another guard's file, with their decisions, and finds lines that cover each other.

use super::report::{Fate, Import, ImportedLine, yaml};
use super::source::Source;
use crate::pattern::Variables;
use crate::problem::Level;
use crate::rule::rules_of;
use serde_json::{Value, json};

/// The decision that a line makes about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wish {
    Allow,
    Ask,
    Block,
}

/// A line that allows, asks about or blocks the commands that begin with `words`. Only such lines can be compared.
struct Entry {
    /// Index of the line's outcome.
    outcome: usize,
    wish: Wish,
    words: Vec<String>,
    /// Precedence among lines; at equal priority the strictest wins.
    priority: i64,
}

pub(super) struct Reader<'t> {
    pub(super) source: Source,
    pub(super) file: &'t str,
    pub(super) text: &'t str,
    pub(super) import: Import,
    entries: Vec<Entry>,
}

/// A line number and its text.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) text: String,
}

/// Programs that run their operands as commands: to allow one is to allow everything.
const RUNNERS: [&str; 34] = [
    "sh",
    "bash",
    "zsh",
    "dash",
    "fish",
    "ksh",
    "pwsh",
    "powershell",
    "cmd",
    "sudo",
    "doas",
    "su",
    "env",
    "xargs",
    "eval",
    "exec",
    "command",
    "nohup",
    "nice",
    "time",
    "timeout",
    "find",
    "ssh",
    "docker",
    "podman",
    "python",
    "python3",
    "node",
    "perl",
    "ruby",
    "npx",
    "bunx",
    "uvx",
    "awk",
];

impl<'t> Reader<'t> {
    /// A reader at the start of a file.
    pub(super) fn new(source: Source, file: &'t str, text: &'t str) -> Reader<'t> {
        Reader { source, file, text, import: Import::default(), entries: Vec::new() }
    }
}

impl Reader<'_> {
    /// The number of the first line that contains a text, after the first `from` lines.
    pub(super) fn line(&self, wanted: &str, from: usize) -> usize {
        let numbered = self.text.lines().enumerate().skip(from);
        numbered.filter(|(_, line)| line.contains(wanted)).map(|(index, _)| index + 1).next().unwrap_or(from.max(1))
    }

    pub(super) fn record(&mut self, line: &Line, fate: Fate, why: impl Into<String>) -> usize {
        let at = format!("{}:{}", self.file, line.number);
        self.import.lines.push(ImportedLine { at, text: line.text.clone(), fate, why: why.into() });
        self.import.lines.len() - 1
    }

    pub(super) fn refuse(&mut self, line: &Line, why: impl Into<String>) {
        self.record(line, Fate::Refused, why);
    }

    /// Imports a line about commands by their first words.
    pub(super) fn command(&mut self, line: &Line, wish: Wish, words: &[String], (message, priority): (&str, i64)) {
        let outcome = if wish == Wish::Allow {
            let Some(outcome) = self.allow(line, words) else { return };
            outcome
        } else {
            let pattern = format!("{} *", words.join(" "));
            let conditions = json!([{"matches_command": pattern}]);
            let Some(outcome) = self.rule(line, wish, (&["bash_command"], &conditions), message) else { return };
            outcome
        };
        self.entries.push(Entry { outcome, wish, words: words.to_vec(), priority });
    }

    /// Imports an allowance for one simple command with these first words.
    fn allow(&mut self, line: &Line, words: &[String]) -> Option<usize> {
        let first = words.first().map(String::as_str).unwrap_or("");
        let plain = |word: &String| {
            !word.is_empty() && !word.contains(['\'', '"', '\\', '$', '`', ';', '|', '&', '<', '>', '(', ')', '*', ' '])
        };
        if first.is_empty() || !words.iter().all(plain) {
            self.refuse(line, "only plain words can be allowed: no leading pattern, no quotes, no compound command");
            return None;
        }
        if words.len() == 1 && RUNNERS.contains(&first) {
            self.refuse(line, format!("`{first}` runs any command passed to it, so this would allow everything"));
            return None;
        }
        // Without a reason: an allowance of another guard must not lift a core rule.
        self.import.allow.push(json!({"argv": words}));
        let why =
            "it skips Reflex's question about this one plain command, but never a block or the agent's own prompt";
        Some(self.record(line, Fate::Narrowed, why))
    }

    /// Imports an allowance for exactly one command line.
    pub(super) fn allow_exactly(&mut self, line: &Line, command: &str) {
        self.import.allow.push(json!({"command": command}));
        self.record(line, Fate::Narrowed, "it skips Reflex's question about exactly this text, but never a block");
    }

    /// Imports a rule, if our parser accepts it.
    pub(super) fn rule(&mut self, line: &Line, wish: Wish, about: (&[&str], &Value), message: &str) -> Option<usize> {
        let (events, conditions) = about;
        let action = if wish == Wish::Block { "block" } else { "ask" };
        self.rule_with_keys(
            line,
            json!({"events": events, "conditions": conditions, "action": action, "message": message}),
        )
    }

    /// Imports a rule with all its keys. A missing name is generated.
    pub(super) fn rule_with_keys(&mut self, line: &Line, rule: Value) -> Option<usize> {
        let Value::Object(mut keys) = rule else { return None };
        let wanted = keys.get("name").and_then(Value::as_str).map_or_else(|| line.text.clone(), str::to_owned);
        keys.insert("name".into(), self.name(&wanted).into());
        keys.entry("severity").or_insert_with(|| "high".into());
        keys.entry("category").or_insert_with(|| "policy".into());
        let is_empty = keys.get("message").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty());
        if is_empty {
            let message = format!("A line of {} forbids this.", self.source.name());
            keys.insert("message".into(), message.into());
        }
        keys.insert("description".into(), format!("from {}:{}", self.file, line.number).into());
        let text = yaml(&Value::Object(keys.clone()));
        let (_, problems) = rules_of("rule", &text, Some(&Variables::new()));
        if let Some(problem) = problems.iter().find(|problem| problem.level == Level::Error) {
            let help = if problem.help.is_empty() { String::new() } else { format!("; {}", problem.help) };
            self.refuse(line, format!("{}{help}", problem.message));
            return None;
        }
        self.import.rules.push(Value::Object(keys));
        Some(self.record(line, Fate::Imported, ""))
    }

    fn name(&self, wanted: &str) -> String {
        let chars = wanted.chars().map(|ch| if ch.is_ascii_alphanumeric() { ch } else { '-' });
        let words: String = chars.collect();
        let joined = words.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-").to_lowercase();
        let base: String = format!("{}-{joined}", self.source.name()).chars().take(60).collect();
        let taken =
            |name: &String| self.import.rules.iter().any(|rule| rule.get("name") == Some(&Value::from(name.as_str())));
        let more = (2..).map(|number| format!("{base}-{number}"));
        std::iter::once(base.clone()).chain(more).find(|name| !taken(name)).unwrap_or(base)
    }

    /// Marks an imported line as weaker here than in its source.
    pub(super) fn narrow(&mut self, outcome: Option<usize>, why: &str) {
        if let Some(line) = outcome.and_then(|index| self.import.lines.get_mut(index)) {
            (line.fate, line.why) = (Fate::Narrowed, why.into());
        }
    }

    /// Finds the lines that have no effect because another line covers them.
    pub(super) fn settle(&mut self) {
        for (index, entry) in self.entries.iter().enumerate() {
            let covers =
                |other: &Entry| other.words.len() <= entry.words.len() && entry.words.starts_with(&other.words);
            let others = || self.entries.iter().enumerate().filter(|(at, other)| *at != index && covers(other));
            let stronger = |other: &Entry| {
                other.priority > entry.priority || (other.priority == entry.priority && other.wish > entry.wish)
            };
            let same = |at: usize, other: &Entry| {
                other.wish == entry.wish && (other.words.len() < entry.words.len() || at < index)
            };
            let over = others().find(|(_, other)| other.wish != entry.wish && stronger(other));
            let twin = others().find(|(at, other)| same(*at, other));
            let (fate, other) = match (over, twin) {
                (Some((_, other)), _) => (Fate::Dead, other),
                (None, Some((_, other))) => (Fate::Shadowed, other),
                (None, None) => continue,
            };
            let by = self
                .import
                .lines
                .get(other.outcome)
                .map_or(String::new(), |line| format!("{} (`{}`)", line.at, line.text));
            if let Some(line) = self.import.lines.get_mut(entry.outcome) {
                (line.fate, line.why) = (fate, format!("{by} covers it"));
            }
        }
        self.drop_covered();
    }

    /// Drops the rules and allowances of covered lines.
    fn drop_covered(&mut self) {
        let covered: Vec<(Wish, Vec<String>)> = self
            .entries
            .iter()
            .filter(|entry| {
                let fate = self.import.lines.get(entry.outcome).map(|line| line.fate);
                matches!(fate, Some(Fate::Dead | Fate::Shadowed))
            })
            .map(|entry| (entry.wish, entry.words.clone()))
            .collect();
        for (wish, words) in covered {
            let (is_allowed, pattern) = (json!(words), format!("{} *", words.join(" ")));
            if wish == Wish::Allow {
                let at = self.import.allow.iter().rposition(|entry| entry.get("argv") == Some(&is_allowed));
                at.map(|at| self.import.allow.remove(at));
            } else {
                let conditions = json!([{"matches_command": pattern}]);
                let at = self.import.rules.iter().rposition(|rule| rule.get("conditions") == Some(&conditions));
                at.map(|at| self.import.rules.remove(at));
            }
        }
    }
}

/// Converts a pattern with stars to a regular expression over the full text.
pub(super) fn regex_of(glob: &str) -> String {
    let escaped = |ch: char| match ch {
        '*' => ".*".to_owned(),
        ch if ch.is_alphanumeric() || " -_/:@=,\"'<>!#%&~".contains(ch) => ch.to_string(),
        ch => format!("\\{ch}"),
    };
    format!("^{}$", glob.chars().map(escaped).collect::<String>())
}

/// Splits a prefix into words.
pub(super) fn words_of(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
