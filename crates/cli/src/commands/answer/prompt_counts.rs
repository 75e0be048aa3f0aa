//! Counts how often each rule asked, and how people answered. A person who is asked about calls they would always allow
//! stops reading.

use crate::commands::history::record::{Record, field};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Outcomes of the calls that one rule stopped.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) struct Asks {
    /// Calls for which it asked a person.
    pub(in crate::commands) asked: usize,
    /// Calls that it refused.
    pub(in crate::commands) blocked: usize,
    /// Calls that a person let run.
    pub(in crate::commands) approved: usize,
    /// Calls that a person denied.
    pub(in crate::commands) denied: usize,
}

impl Asks {
    /// Number of calls without an answer, or declined in the agent's own prompt, which no agent reports.
    fn unanswered(self) -> usize {
        (self.asked + self.blocked).saturating_sub(self.approved + self.denied)
    }

    /// Returns the counts on one line, without the rule's name.
    pub(in crate::commands) fn describe(self) -> String {
        let Asks { asked, blocked, approved, denied } = self;
        format!("asked {asked}, blocked {blocked}: yes {approved}, no {denied}, no answer {}", self.unanswered())
    }

    /// Returns the counts as JSON.
    pub(in crate::commands) fn json(self, id: &str) -> Value {
        let Asks { asked, blocked, approved, denied } = self;
        json!({
            "id": id, "asked": asked, "blocked": blocked, "yes": approved, "no": denied, "unanswered": self.unanswered(),
        })
    }
}

/// Returns every rule that stopped a call of these records, the most frequent first. A call counts for its first
/// finding, which is the strictest.
pub(in crate::commands) fn by_rule<'r>(records: impl Iterator<Item = &'r Record>) -> Vec<(String, Asks)> {
    let (mut stopped, mut approved, mut denied) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for record in records {
        match field(record, "kind") {
            "call" if matches!(field(record, "decision"), "ask" | "deny") => stopped.extend(rule(record)),
            "approval" => drop(approved.insert(field(record, "of"))),
            "denial" => drop(denied.insert(field(record, "of"))),
            "outcome" if field(record, "answered").starts_with("a person") => {
                approved.insert(field(record, "of"));
            }
            _ => {}
        }
    }
    let mut rules: BTreeMap<&str, Asks> = BTreeMap::new();
    for (id, rule, is_question) in stopped {
        let asks = rules.entry(rule).or_default();
        *(if is_question { &mut asks.asked } else { &mut asks.blocked }) += 1;
        asks.approved += usize::from(approved.contains(id));
        asks.denied += usize::from(denied.contains(id) && !approved.contains(id));
    }
    let mut rules: Vec<(String, Asks)> = rules.into_iter().map(|(rule, asks)| (rule.to_owned(), asks)).collect();
    rules.sort_by_key(|(_, asks)| std::cmp::Reverse((asks.asked, asks.blocked)));
    rules
}

/// Returns the id of a stopped call, the rule that stopped it, and whether the rule asked.
fn rule(record: &Record) -> Option<(&str, &str, bool)> {
    let first = record.get("findings")?.as_array()?.first()?.as_object()?;
    Some((field(record, "id"), field(first, "id"), field(record, "decision") == "ask"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;

    #[test]
    fn a_rule_is_described_with_the_answers() {
        let record = |value: Value| value.as_object().unwrap().clone();
        let call = |id: &str, rule: &str, decision: &str| {
            record(json!({"kind": "call", "id": id, "decision": decision, "findings": [{"id": rule}, {"id": "x/y"}]}))
        };
        let records = [
            call("1", "rm/untracked", "ask"),
            call("2", "rm/untracked", "ask"),
            call("3", "rm/untracked", "ask"),
            call("4", "git/push-force", "deny"),
            call("5", "git/clean", "pass"),
            record(json!({"kind": "outcome", "of": "1", "answered": "a person at the agent's prompt"})),
            record(json!({"kind": "denial", "of": "2"})),
            record(json!({"kind": "approval", "of": "4"})),
        ];
        let lines: Vec<String> =
            by_rule(records.iter()).into_iter().map(|(rule, asks)| format!("{rule}: {}", asks.describe())).collect();
        assert_eq!(
            lines,
            [
                "rm/untracked: asked 3, blocked 0: yes 1, no 1, no answer 1",
                "git/push-force: asked 0, blocked 1: yes 1, no 0, no answer 0",
            ]
        );
    }
}
