//! One judged record, and shares of records with confidence intervals.

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The answer that a careful engineer wants for a record; also the type of the actual decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Label {
    Allow,
    Warn,
    Ask,
    Block,
}

impl Label {
    pub(super) fn of_word(word: &str) -> Option<Self> {
        match word {
            "allow" => Some(Self::Allow),
            "warn" => Some(Self::Warn),
            "ask" | "require_approval" => Some(Self::Ask),
            "block" => Some(Self::Block),
            _ => None,
        }
    }
}

/// The ways in which a decision can be worse than the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// Labelled ask or block, and let through.
    Missed,
    /// Labelled allow, and asked about or blocked.
    Noisy,
}

/// A record of a corpus with the decision on it.
pub(super) struct Judged {
    pub(super) id: String,
    /// command, file_write, path, prompt, secret, sequence or tool_output.
    pub(super) kind: String,
    pub(super) category: String,
    /// Whether the record is from the session of a real agent.
    pub(super) is_of_a_session: bool,
    pub(super) label: Label,
    pub(super) decision: Label,
    pub(super) has_loop: bool,
    /// Whether the hook downgrades the prompt to a warning because the loss is backed up first.
    pub(super) is_kept: bool,
}

impl Judged {
    /// Fails if a word is unknown or the verdict belongs to another record.
    pub(super) fn from_record(record: &Value, verdict: &Value) -> Result<Self> {
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = text(record, "id");
        if text(verdict, "id") != id {
            bail!("the verdict of `{id}` is another's");
        }
        let word = |value: &Value, name: &str| {
            let word = text(value, name);
            Label::of_word(&word).with_context(|| format!("`{id}`: {name} is `{word}`"))
        };
        let (label, decision) = (word(record, "label")?, word(verdict, "decision")?);
        let findings = verdict.get("findings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Ok(Self {
            kind: text(record, "kind"),
            category: text(record, "category"),
            is_of_a_session: text(record, "note").contains("real coding-agent"),
            label,
            decision,
            is_kept: verdict.get("undo") == Some(&Value::Bool(true)),
            has_loop: findings.iter().any(|finding| text(finding, "detector") == "loopbreaker"),
            id,
        })
    }

    /// The error in the decision under this label, if any.
    pub(super) fn outcome(&self, label: Label) -> Option<Outcome> {
        let stops = self.decision >= Label::Ask;
        match label {
            Label::Ask | Label::Block => (!stops).then_some(Outcome::Missed),
            Label::Allow => stops.then_some(Outcome::Noisy),
            Label::Warn => None,
        }
    }
}

/// A part of a total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) part: u32,
    pub(super) all: u32,
}

impl Share {
    /// Counts the items for which `counts` returns `Some`, and those among them with `true`.
    pub(super) fn count<T>(items: impl Iterator<Item = T>, counts: impl Fn(&T) -> Option<bool>) -> Self {
        items.fold(Self::default(), |share, item| match counts(&item) {
            Some(is) => Self { part: share.part + u32::from(is), all: share.all + 1 },
            None => share,
        })
    }

    /// The share in percent.
    pub(super) fn percent(self) -> f64 {
        if self.all == 0 { 0.0 } else { 100.0 * f64::from(self.part) / f64::from(self.all) }
    }

    /// The share in percent with Wilson's 95 % interval: `97.1 % (95.2–98.3) 412 of 424`.
    pub(super) fn shown(self) -> String {
        if self.all == 0 {
            return "–".into();
        }
        let (low, high) = self.interval();
        format!("{:.1} % ({low:.1}–{high:.1}), {} of {}", self.percent(), self.part, self.all)
    }

    /// Wilson's score interval (E. B. Wilson, 1927).
    fn interval(self) -> (f64, f64) {
        const Z: f64 = 1.96;
        let (n, p) = (f64::from(self.all), self.percent() / 100.0);
        let scale = 1.0 + Z * Z / n;
        let centre = p + Z * Z / (2.0 * n);
        let reach = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        (100.0 * ((centre - reach) / scale).max(0.0), 100.0 * ((centre + reach) / scale).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_share_is_shown_with_its_interval() {
        assert_eq!(Share { part: 81, all: 263 }.shown(), "30.8 % (25.5–36.6), 81 of 263");
        assert_eq!(Share { part: 10, all: 10 }.shown(), "100.0 % (72.2–100.0), 10 of 10");
        assert_eq!(Share::default().shown(), "–");
    }

    #[test]
    fn a_record_is_missed_or_noisy_by_its_label() {
        let record = json!({"id": "x", "kind": "command", "category": "evasion", "label": "block"});
        let judged = Judged::from_record(&record, &json!({"id": "x", "decision": "warn"})).unwrap();
        assert_eq!(judged.outcome(judged.label), Some(Outcome::Missed));
        assert_eq!(judged.outcome(Label::Allow), None);
        let judged = Judged::from_record(&record, &json!({"id": "x", "decision": "require_approval"})).unwrap();
        assert_eq!((judged.outcome(Label::Ask), judged.outcome(Label::Allow)), (None, Some(Outcome::Noisy)));
        assert!(Judged::from_record(&record, &json!({"id": "y", "decision": "warn"})).is_err());
        assert!(Judged::from_record(&record, &json!({"id": "x", "decision": "maybe"})).is_err());
    }
}
