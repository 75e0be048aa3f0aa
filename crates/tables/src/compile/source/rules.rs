//! What is dangerous: an entry of `library/rules`.

use super::map::put;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) id: String,
    category: String,
    severity: String,
    /// In percent.
    confidence: u32,
    #[serde(default)]
    tier: Option<String>,
    #[serde(default)]
    detector: Option<String>,
    pub(super) on: Vec<String>,
    #[serde(default)]
    when: Value,
    /// What happens when `when` cannot be known: `fire` or `quiet` (default).
    #[serde(default)]
    unknown: Option<String>,
    message: String,
    #[serde(default)]
    remedy: String,
    /// The severity where the command points to this machine.
    #[serde(default)]
    local: Option<String>,
    /// The severity where the command points to production.
    #[serde(default)]
    production: Option<String>,
    /// What is kept before the call so that it need not be asked about: `files`, the effect's targets, `repository`, the
    /// work tree's changes with the index and the refs, or `silent`: the targets, and nobody is told.
    #[serde(default)]
    undo: Option<String>,
    /// Whether a model may answer the rule's question. Requires that `undo` brings back the loss.
    #[serde(default)]
    judge: bool,
    /// The reason for which the loss is not final.
    #[serde(default)]
    why: Option<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    fires: Vec<Value>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    quiet: Vec<Value>,
}

impl Rule {
    pub(super) fn lower(self) -> Value {
        let mut lowered = json!({
            "id": self.id,
            "category": self.category,
            "severity": self.severity,
            "confidence": self.confidence,
            "tier": self.tier.unwrap_or_else(|| "recommended".into()),
            "detector": self.detector.unwrap_or_else(|| "sentinel".into()),
            "when": self.when,
            "unknown": self.unknown.unwrap_or_else(|| "quiet".into()),
            "message": self.message,
            "remedy": self.remedy,
        });
        if let Value::Object(node) = &mut lowered {
            put(node, "local", self.local.map_or(Value::Null, Value::from));
            put(node, "undo", self.undo.map_or(Value::Null, Value::from));
            put(node, "why", self.why.filter(|_| self.judge).map_or(Value::Null, Value::from));
            put(node, "production", self.production.map_or(Value::Null, Value::from));
        }
        lowered
    }
}
