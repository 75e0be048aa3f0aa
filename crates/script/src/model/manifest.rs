//! `reflex.json`, version 1: a module's metadata, and the capabilities that it declares.

use serde_json::{Map, Value};

/// A manifest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Manifest {
    /// Name, such as `no-force-push`.
    pub name: String,
    /// Display name.
    pub title: String,
    /// Description in one sentence.
    pub description: String,
    /// Version, such as `0.0.0`.
    pub version: String,
    /// Path of the file whose default export is the reflex, relative to the module's folder.
    pub entry: String,
    /// Events to deliver: `onToolCall`, `onToolResult`.
    pub events: Vec<String>,
    /// Fields, decisions and resources that the module may use.
    pub capabilities: Capabilities,
    /// Names of its options.
    pub options: Vec<String>,
    /// The complete manifest.
    pub raw: Map<String, Value>,
}

/// Fields, decisions and resources that a module may use; also the subset that a person granted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Decisions: `pass deny ask modify`.
    pub decisions: Vec<String>,
    /// Fields of the context: `command paths cwd raw options reflex`; `None` means all.
    pub reads: Option<Vec<String>>,
    /// Globs of readable files.
    pub files: Vec<String>,
    /// Globs of writable files.
    pub writes: Vec<String>,
    /// Hosts that it may contact.
    pub network: Vec<String>,
    /// Environment variables that it may read.
    pub environment: Vec<String>,
}

impl Manifest {
    /// Parses a manifest leniently: invalid entries are ignored. [`crate::schema::problems`] reports them.
    pub fn from_json(raw: &Map<String, Value>) -> Manifest {
        let text = |key: &str| raw.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let options = raw.get("options").and_then(Value::as_object);
        Manifest {
            name: text("name"),
            title: text("title"),
            description: text("description"),
            version: text("version"),
            entry: text("entry"),
            events: texts(raw.get("events")),
            capabilities: Capabilities::from_json(raw.get("capabilities")),
            options: options.into_iter().flat_map(Map::keys).cloned().collect(),
            raw: raw.clone(),
        }
    }
}

impl Capabilities {
    /// Returns whether any capability requires a grant by a person.
    pub fn asks_of_the_machine(&self) -> bool {
        [&self.files, &self.writes, &self.network, &self.environment].iter().any(|list| !list.is_empty())
    }

    /// Returns the capabilities without those that require a grant.
    pub fn without_the_machine(&self) -> Capabilities {
        Capabilities { decisions: self.decisions.clone(), reads: self.reads.clone(), ..Capabilities::default() }
    }

    /// Parses an object of capabilities.
    pub fn from_json(value: Option<&Value>) -> Capabilities {
        let get = |key: &str| value.and_then(|value| value.get(key));
        Capabilities {
            decisions: texts(get("decisions")),
            reads: get("reads").map(|reads| texts(Some(reads))),
            files: texts(get("files")),
            writes: texts(get("writes")),
            network: texts(get("network")),
            environment: texts(get("environment")),
        }
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}
