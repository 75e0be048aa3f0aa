//! The way a client reads a settings file: an entry of `library/settings`.

use serde::Deserialize;
use serde_json::{Value, json};

/// The way a client reads a settings file. Anything not listed is rejected: a comment, a byte-order mark, an empty
/// file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingsForm {
    pub(super) form: String,
    agent: String,
    /// Version of the client for which this was observed.
    version: String,
    #[expect(dead_code, reason = "for readers of the file and the generated manual")]
    about: String,
    paths: Vec<String>,
    /// `json`, or any other value for a file that is compared by its bytes only.
    format: String,
    /// Extensions to strict JSON that it accepts: `comments`, `commas` after the last entry, a byte-order `mark`,
    /// `bytes` that are not UTF-8, an `empty` file, `halves` of surrogate pairs, a key that occurs `twice`.
    #[serde(default)]
    reads: Vec<String>,
    /// Whether an unreadable file, including a project's, keeps the client from starting or disables all its hooks.
    #[serde(default)]
    stops: bool,
    /// Environment variables under which the client runs no user hooks.
    #[serde(default)]
    variables: Vec<String>,
    /// Top-level keys that its hooks depend on; all keys if empty.
    #[serde(default)]
    weighty: Vec<String>,
    /// Other files that its hooks depend on.
    #[serde(default)]
    with: Vec<String>,
    /// Top-level keys that are allowed; any key if empty.
    #[serde(default)]
    known: Vec<String>,
    /// Events that the client supports.
    #[serde(default)]
    events: Vec<String>,
    /// Types as `key.key: type`: the client drops the entire file if the value has another type.
    #[serde(default)]
    types: Vec<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    taken: Vec<Value>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    dropped: Vec<Value>,
    /// Other files, each with the resulting behavior of the user's hook: `fires` or `silent`.
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
