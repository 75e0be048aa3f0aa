//! What was made of a file: rules and allowances of ours, and what became of every line.

use serde_json::{Map, Value, json};

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It says the same here, or more.
    Imported,
    /// It says less here.
    Narrowed,
    /// It is left out.
    Refused,
    /// It never had an effect where it stands: a stricter line covers it.
    Dead,
    /// Another line says the same already.
    Shadowed,
}

impl Fate {
    /// Its word.
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

/// A line of a file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedLine {
    /// `file:line`
    pub at: String,
    /// As it stands there.
    pub text: String,
    /// What became of it.
    pub fate: Fate,
    /// Why; empty where nothing is to say.
    pub why: String,
}

/// What was made of a file.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// Rules, each a map with the keys of a rule.
    pub rules: Vec<Value>,
    /// Entries for a policy's `allow`.
    pub allow: Vec<Value>,
    /// Entries for a policy's `allowed_roots`.
    pub roots: Vec<String>,
    /// Every line.
    pub told: Vec<ImportedLine>,
}

impl Import {
    /// The rules as a file of ours.
    pub fn rules_text(&self) -> String {
        self.rules.iter().map(yaml).collect::<Vec<_>>().join("---\n")
    }

    /// The rest as a part of a policy; empty where there is none.
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

    /// Takes what was made of another file too.
    pub fn join(&mut self, other: Import) {
        self.rules.extend(other.rules);
        self.allow.extend(other.allow);
        self.roots.extend(other.roots);
        self.told.extend(other.told);
    }
}

/// A map as YAML: each key on a line of its own, what it holds in the form of JSON, which YAML contains.
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
