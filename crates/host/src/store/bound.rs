//! The stored form of what a yes is bound to besides the text of a call.

use serde_json::{Map, Value, json};

/// One thing that a call takes its orders from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bound {
    /// For a person: `runs deploy.sh (sha256 12ab34cd56ef, 14 lines)`.
    pub shown: String,
    /// The file, for a script whose digest is told; else empty.
    pub path: String,
    /// The SHA-256 of its content, in hexadecimal; empty where it is not told.
    pub sha256: String,
    /// Whether a change of it would be noticed.
    pub firm: bool,
}

impl Bound {
    /// Its form for machines.
    pub fn json(&self) -> Value {
        json!({"shown": self.shown, "path": self.path, "sha256": self.sha256, "firm": self.firm})
    }

    pub(crate) fn from_json(value: &Value) -> Option<Bound> {
        let map: &Map<String, Value> = value.as_object()?;
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let firm = map.get("firm")?.as_bool()?;
        Some(Bound { shown: text("shown"), path: text("path"), sha256: text("sha256"), firm })
    }
}
