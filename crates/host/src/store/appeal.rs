//! The stored form of an appeal against a refusal.

use serde_json::{Value, json};

/// Maximum number of appeals per call.
pub const MAX_APPEALS: usize = 3;

/// A request to let a refused call run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Appeal {
    /// Milliseconds since 1970.
    pub time: u64,
    /// The author: a person's name and terminal, or `agent`.
    pub by: String,
    /// The reason, without secrets.
    pub because: String,
    /// The decision about the call at the time of the appeal: `pass`, `ask`, `deny`; empty if it could not be judged
    /// again.
    pub now: String,
}

impl Appeal {
    /// The JSON form.
    pub fn json(&self) -> Value {
        json!({"time": self.time, "by": self.by, "because": self.because, "now": self.now})
    }

    pub(crate) fn from_json(value: &Value) -> Option<Appeal> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Appeal {
            time: value.get("time")?.as_u64()?,
            by: text("by")?,
            because: text("because")?,
            now: text("now")?,
        })
    }
}
