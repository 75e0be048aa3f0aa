//! The result of an import: rules and allowances, and the outcome of every line.

use serde_json::{Map, Value, json};

/// The outcome of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is at least as strict here.
    Imported,
    /// It is weaker here.
    Narrowed,
    /// It is left out.
    Refused,
    /// It has no effect: a stricter line covers it.
    Dead,
    /// Another line already has the same effect.
    Shadowed,
}

impl Fate {
    /// The word for reports.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Imported => "imported",
            Fate::Narrowed => "narrowed",
            Fate::Refused => "refused",
            Fate::Dead => "dead",
            Fate::Shadowed => "shadowed",
        }
    }
}

/// A line of an imported file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedLine {
    /// `file:line`
    pub at: String,
    /// The text of the line.
    pub text: String,
    /// Its outcome.
    pub fate: Fate,
    /// The reason; empty if there is nothing to explain.
    pub why: String,
}

/// The result of an import.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// Rules, each a map with the keys of a rule.
    pub rules: Vec<Value>,
    /// Entries for a policy's `allow`.
    pub allow: Vec<Value>,
    /// Entries for a policy's `allowed_roots`.
    pub roots: Vec<String>,
    /// Every line with its outcome.
    pub lines: Vec<ImportedLine>,
}

impl Import {
    /// The rules as the text of a rule file.
    pub fn rules_text(&self) -> String {
        self.rules.iter().map(yaml).collect::<Vec<_>>().join("---\n")
    }

    /// Allowances and roots as a part of a policy; empty if the import has neither.
    pub fn policy_text(&self) -> String {
        let mut text = String::new();
        if !self.roots.is_empty() {
            text.push_str(&format!("allowed_roots: {}\n", json!(self.roots)));
        }
        if !self.allow.is_empty() {
            text.push_str("allow:\n");
            self.allow.iter().for_each(|entry| text.push_str(&format!("  - {entry}\n")));
        }
        text
    }

    /// Adds the result of another import.
    pub fn join(&mut self, other: Import) {
        self.rules.extend(other.rules);
        self.allow.extend(other.allow);
        self.roots.extend(other.roots);
        self.lines.extend(other.lines);
    }
}

/// A map as YAML: one line per key, with the value in JSON, which is valid YAML.
pub(super) fn yaml(rule: &Value) -> String {
    const ORDER: [&str; 10] = [
        "name",
        "description",
        "category",
        "enabled",
        "events",
        "conditions",
        "action",
        "severity",
        "message",
        "examples",
    ];
    let empty = Map::new();
    let keys = rule.as_object().unwrap_or(&empty);
    let line = |key: &str| keys.get(key).map(|value| format!("{key}: {value}\n"));
    ORDER.iter().filter_map(|key| line(key)).collect()
}
