//! What a severity is worth: an entry of `library/policies`.

use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Policy {
    pub(super) name: String,
    about: String,
    info: String,
    low: String,
    medium: String,
    high: String,
    critical: String,
    /// What an ask becomes where no person answers: `ask` or `deny`.
    ask: String,
    /// What is asked about whatever its severity: effects by name.
    #[serde(default)]
    asks: Vec<String>,
    /// Where `asks` is given: the commands that only look, as patterns; all others are asked about.
    #[serde(default)]
    looks: Vec<String>,
    /// What becomes of a call that cannot be recorded: nothing, or `deny`.
    #[serde(default)]
    unrecorded: String,
    /// What becomes of a question about a loss that was kept first: `warn`, or `ask`; without it nothing is kept.
    #[serde(default)]
    kept: String,
}

impl Policy {
    pub(super) fn lower(self) -> Value {
        json!({
            "about": self.about, "info": self.info, "low": self.low, "medium": self.medium, "high": self.high,
            "critical": self.critical, "ask": self.ask, "asks": self.asks, "looks": self.looks,
            "unrecorded": self.unrecorded, "kept": self.kept,
        })
    }
}
