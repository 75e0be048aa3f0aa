//! The list of the reflexes that ship with Reflex.

use super::package::MANIFEST;
use reflex_script::official;
use serde_json::Value;

/// One entry of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// `no-force-push`
    pub name: String,
    /// Title for people.
    pub title: String,
    /// Description in one sentence.
    pub description: String,
    /// Its version.
    pub version: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The decisions that it may return.
    pub decisions: Vec<String>,
}

/// Lists the reflexes that ship with Reflex.
pub fn official() -> Vec<Listed> {
    let manifests = official::REFLEXES.iter().filter_map(|reflex| reflex.file(MANIFEST));
    manifests.filter_map(|text| serde_json::from_str(text).ok()).map(|value| listed(&value)).collect()
}

impl Listed {
    /// Whether the name, title, description and tags contain every word, ignoring case.
    pub fn fits(&self, words: &[&str]) -> bool {
        let all = format!("{} {} {} {}", self.name, self.title, self.description, self.tags.join(" ")).to_lowercase();
        words.iter().all(|word| all.contains(&word.to_lowercase()))
    }
}

fn listed(value: &Value) -> Listed {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let texts = |value: Option<&Value>| {
        let list = value.and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Listed {
        name: text("name"),
        title: text("title"),
        description: text("description"),
        version: text("version"),
        tags: texts(value.get("tags")),
        decisions: texts(value.pointer("/capabilities/decisions")),
    }
}
