//! The stored form of an appeal against a refusal.

use serde_json::{Value, json};

/// One call can be appealed against so often.
pub const MAX_APPEALS: usize = 3;

/// A request that a refused call may run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Appeal {
    /// Milliseconds since 1970.
    pub time: u64,
    /// Who asks: a person's name and terminal, or `agent`.
    pub by: String,
    /// Why, without secrets.
    pub because: String,
    /// What the call would come to now: `pass`, `ask`, `deny`; empty if it could not be judged again.
    pub now: String,
}

impl Appeal {
    /// Its form for machines.
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
