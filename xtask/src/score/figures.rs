//! One judged record, and shares of them with intervals.

use serde_json::Value;

/// How a careful engineer wants a record answered; also what it was answered with.
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

/// How a record can be judged worse than its label wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// Labelled ask or block, and let through.
    Missed,
    /// Labelled allow, and asked about or blocked.
    Noisy,
}

/// A record of a corpus and what was decided.
pub(super) struct Judged {
    pub(super) id: String,
    /// command, file_write, path, prompt, secret, sequence or tool_output.
    pub(super) kind: String,
    pub(super) category: String,
    /// From the session of a real agent.
    pub(super) is_of_a_session: bool,
    pub(super) label: Label,
    pub(super) decision: Label,
    pub(super) has_loop: bool,
    /// Whether the hook makes a warning of the question: what would be lost is kept first.
    pub(super) is_kept: bool,
}

impl Judged {
    /// An error if a word is unknown or the verdict is another record's.
    pub(super) fn from_record(record: &Value, verdict: &Value) -> Result<Self, String> {
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = text(record, "id");
        if text(verdict, "id") != id {
            return Err(format!("the verdict of `{id}` is another's"));
        }
        let word = |value: &Value, name: &str| {
            let word = text(value, name);
            Label::of_word(&word).ok_or_else(|| format!("`{id}`: {name} is `{word}`"))
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

    /// What is wrong with the answer, if it was to be labelled so.
    pub(super) fn outcome(&self, label: Label) -> Option<Outcome> {
        let stops = self.decision >= Label::Ask;
        match label {
            Label::Ask | Label::Block => (!stops).then_some(Outcome::Missed),
            Label::Allow => stops.then_some(Outcome::Noisy),
            Label::Warn => None,
        }
    }
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) part: u32,
    pub(super) all: u32,
}

impl Share {
    /// Of those that `counts` tells something about: how many it tells yes.
    pub(super) fn count<T>(items: impl Iterator<Item = T>, counts: impl Fn(&T) -> Option<bool>) -> Self {
        items.fold(Self::default(), |share, item| match counts(&item) {
            Some(is) => Self { part: share.part + u32::from(is), all: share.all + 1 },
            None => share,
        })
    }

    /// In per cent.
    pub(super) fn percent(self) -> f64 {
        if self.all == 0 { 0.0 } else { 100.0 * f64::from(self.part) / f64::from(self.all) }
    }

    /// In per cent with Wilson's interval of 95 %: `97.1 % (95.2–98.3)  412 of 424`.
    pub(super) fn shown(self) -> String {
        if self.all == 0 {
            return "–".into();
        }
        let (low, high) = self.interval();
        format!("{:.1} % ({low:.1}–{high:.1}), {} of {}", self.percent(), self.part, self.all)
    }

    /// E. B. Wilson, 1927: the score interval.
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
