//! The stored form of the inputs that an approval is bound to besides the text of a call.

use serde_json::{Map, Value, json};

/// An input that directs a call, such as a script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bound {
    /// The description for a person: `runs deploy.sh (sha256 12ab34cd56ef, 14 lines)`.
    pub shown: String,
    /// The path of a script whose digest is known; else empty.
    pub path: String,
    /// The SHA-256 of its content, in hexadecimal; empty if it is unknown.
    pub sha256: String,
    /// Whether a change of it would be detected.
    pub firm: bool,
}

impl Bound {
    /// The JSON form.
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
