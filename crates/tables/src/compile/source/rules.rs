//! Dangerous effects: an entry of `library/rules`.

use super::map::put;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) id: String,
    category: String,
    severity: String,
    /// Confidence in percent.
    confidence: u32,
    #[serde(default)]
    tier: Option<String>,
    #[serde(default)]
    detector: Option<String>,
    pub(super) on: Vec<String>,
    #[serde(default)]
    when: Value,
    /// Result if `when` cannot be determined: `fire` or `quiet` (default).
    #[serde(default)]
    unknown: Option<String>,
    message: String,
    #[serde(default)]
    remedy: String,
    /// Severity if the command targets this machine.
    #[serde(default)]
    local: Option<String>,
    /// Severity if the command targets production.
    #[serde(default)]
    production: Option<String>,
    /// Backup that is made before the call so that no prompt is needed: `files` (the effect's targets), `repository`
    /// (the work tree's changes with the index and the refs), or `silent` (the targets, without a notice).
    #[serde(default)]
    undo: Option<String>,
    /// Whether a model may answer the rule's prompt. Requires an `undo` that restores the loss.
    #[serde(default)]
    judge: bool,
    /// The way back from the loss, for a model that may answer the prompt.
    #[serde(default)]
    recovery: Option<String>,
    /// The danger, with a fact.
    #[serde(default)]
    why: Option<String>,
    /// URL of a page that confirms the fact.
    #[serde(default)]
    source: Option<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    fires: Vec<Value>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    quiet: Vec<Value>,
}

impl Rule {
    /// Returns the entry of `rationales`, if the rule has one.
    pub(super) fn rationale(&self) -> Option<Value> {
        self.why.as_ref().map(|why| json!({"why": why, "source": self.source}))
    }

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
            put(node, "recovery", self.recovery.filter(|_| self.judge).map_or(Value::Null, Value::from));
            put(node, "production", self.production.map_or(Value::Null, Value::from));
        }
        lowered
    }
}
