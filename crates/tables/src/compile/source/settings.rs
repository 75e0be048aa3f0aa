//! How a client reads a settings file: an entry of `library/settings`.

use serde::Deserialize;
use serde_json::{Value, json};

/// How a client reads a settings file. What is not said is not read: a comment, a byte-order mark, an empty file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingsForm {
    pub(super) form: String,
    agent: String,
    /// The client that was seen to read it so.
    version: String,
    #[expect(dead_code, reason = "for readers of the file and the generated manual")]
    about: String,
    paths: Vec<String>,
    /// `json`, or anything else for a file of which only the bytes are looked at.
    format: String,
    /// What it reads beyond strict JSON: `comments`, `commas` behind the last entry, a byte-order `mark`, `bytes` that are
    /// no UTF-8, an `empty` file, `halves` of surrogate pairs, a key that stands `twice`.
    #[serde(default)]
    reads: Vec<String>,
    /// Whether the client does not start with a text that it cannot read, a project's too, or loses all hooks with it.
    #[serde(default)]
    stops: bool,
    /// Variables with which it runs no hook of the user.
    #[serde(default)]
    variables: Vec<String>,
    /// The keys at the top on which its hooks hang; all where none are named.
    #[serde(default)]
    weighty: Vec<String>,
    /// Other files on which its hooks hang.
    #[serde(default)]
    with: Vec<String>,
    /// The only keys that may stand at the top; any if there are none.
    #[serde(default)]
    known: Vec<String>,
    /// The events that the client knows.
    #[serde(default)]
    events: Vec<String>,
    /// `key.key: type`, each of a value with which the client drops the whole file if it has another type.
    #[serde(default)]
    types: Vec<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    taken: Vec<Value>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    dropped: Vec<Value>,
    /// Other files, and what the user's hook does beside each: `fires` or `silent`.
    #[serde(default)]
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    beside: Vec<Value>,
}

impl SettingsForm {
    pub(super) fn lower(self) -> Value {
        json!({"form": self.form, "agent": self.agent, "version": self.version, "paths": self.paths,
            "format": self.format, "stops": self.stops, "known": self.known, "events": self.events,
            "types": self.types, "reads": self.reads, "variables": self.variables, "weighty": self.weighty, "with": self.with})
    }
}
