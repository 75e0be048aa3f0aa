//! Mapping of severities to decisions: an entry of `library/policies`.

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
    /// Decision that replaces an ask if no person can answer: `ask` or `deny`.
    ask: String,
    /// Effects, by name, that require approval at any severity.
    #[serde(default)]
    asks: Vec<String>,
    /// With `asks`: patterns of read-only commands. Every other command requires approval.
    #[serde(default)]
    looks: Vec<String>,
    /// Decision on a call that cannot be recorded: empty, or `deny`.
    #[serde(default)]
    unrecorded: String,
    /// Decision on a loss that was backed up first: `warn` or `ask`. Backups are only made if it is set.
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
