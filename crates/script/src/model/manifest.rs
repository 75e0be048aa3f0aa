//! `reflex.json`, version 1: what a module says about itself, and what it may therefore see and answer.

use serde_json::{Map, Value};

/// A manifest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Manifest {
    /// `no-force-push`
    pub name: String,
    /// For people.
    pub title: String,
    /// One sentence.
    pub description: String,
    /// `0.0.0`
    pub version: String,
    /// The file whose default export is the reflex, below the module's folder.
    pub entry: String,
    /// `onToolCall`, `onToolResult`: no other event is delivered.
    pub events: Vec<String>,
    /// What it may see, answer and touch.
    pub capabilities: Capabilities,
    /// The names of the options that it takes.
    pub options: Vec<String>,
    /// The whole manifest.
    pub raw: Map<String, Value>,
}

/// What a module may see, answer and touch; also what a person granted of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// `pass deny ask modify`
    pub decisions: Vec<String>,
    /// Fields of the context: `command paths cwd raw options reflex`; nothing declared is everything.
    pub reads: Option<Vec<String>>,
    /// Globs of files that it may read.
    pub files: Vec<String>,
    /// Globs of files that it may write.
    pub writes: Vec<String>,
    /// Hosts that it may ask.
    pub network: Vec<String>,
    /// Variables of the environment that it may read.
    pub environment: Vec<String>,
}

impl Manifest {
    /// What a manifest says, as far as it can be understood: what it says wrong it does not say.
    /// [`crate::schema::problems`] names that.
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
    /// Whether there is anything among them that a person has to grant.
    pub fn asks_of_the_machine(&self) -> bool {
        [&self.files, &self.writes, &self.network, &self.environment].iter().any(|list| !list.is_empty())
    }

    /// The same without what a person has to grant.
    pub fn without_the_machine(&self) -> Capabilities {
        Capabilities { decisions: self.decisions.clone(), reads: self.reads.clone(), ..Capabilities::default() }
    }

    /// What an object of capabilities says.
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
