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
    manifests.filter_map(|text| serde_json::from_str(text).ok()).map(|value| Listed::from_manifest(&value)).collect()
}

impl Listed {
    fn from_manifest(manifest: &Value) -> Listed {
        let text = |key: &str| manifest.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        Listed {
            name: text("name"),
            title: text("title"),
            description: text("description"),
            version: text("version"),
            tags: strings(manifest.get("tags")),
            decisions: strings(manifest.pointer("/capabilities/decisions")),
        }
    }

    /// Whether the name, title, description and tags contain every word, ignoring case.
    pub fn fits(&self, words: &[&str]) -> bool {
        let all = format!("{} {} {} {}", self.name, self.title, self.description, self.tags.join(" ")).to_lowercase();
        words.iter().all(|word| all.contains(&word.to_lowercase()))
    }
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}
