//! Formats a record of the audit log: its fields, its actions, its time.

use reflex_host::{duration, moment, now};
use serde_json::{Map, Value};

/// One record of the log.
pub(in crate::commands) type Record = Map<String, Value>;

/// The numbers in a record of what a watched run changed.
const CHANGES: [&str; 5] = ["deleted", "replaced", "renamed", "created", "missed"];

/// Returns a text field of a record; empty if it is missing.
pub(in crate::commands) fn field<'r>(record: &'r Map<String, Value>, key: &str) -> &'r str {
    record.get(key).and_then(Value::as_str).unwrap_or("")
}

/// Returns the decision that the agent received, as people read it. The log uses the names of its own format.
pub(in crate::commands) fn decision(record: &Record) -> &'static str {
    let answered = record.get("said").and_then(|reply| reply.get("decision")?.as_str());
    // An agent that cannot ask blocks instead; otherwise a person let the call run, or the agent was only informed.
    let answered = answered.filter(|answered| *answered == "deny").unwrap_or(field(record, "decision"));
    match answered {
        "deny" => "block",
        "ask" => "ask",
        "pass" if record.contains_key("kept") && record.contains_key("said") => "keep",
        "pass" if record.contains_key("said") => "warn",
        "pass" => "allow",
        _ => "",
    }
}

/// Returns the decisions that match a search word of people, the log or the wire. `pass` of the log matches several.
pub(in crate::commands) fn searched(decision: &str) -> &[&str] {
    match decision {
        "block" | "deny" => &["block"],
        "ask" | "require_approval" => &["ask"],
        "allow" => &["allow"],
        "warn" => &["warn"],
        "keep" => &["keep"],
        "pass" => &["allow", "warn", "keep"],
        _ => &[],
    }
}

/// Returns the word of the log that every record with one of these decisions has in its verdict or its answer.
pub(in crate::commands) fn logged(decisions: &[&str]) -> Option<&'static str> {
    match decisions {
        ["block"] => Some("deny"),
        ["ask"] => Some("ask"),
        [] => None,
        _ => Some("pass"),
    }
}

/// Returns the call of a watched run and the numbers of files that it changed.
pub(in crate::commands) fn changes(record: &Record) -> String {
    let number = |word: &&str| record.get(*word).and_then(Value::as_u64).filter(|count| *count > 0);
    let counted = CHANGES.iter().filter_map(|word| Some(format!("{} {word}", number(word)?)));
    format!("{} by {}", counted.collect::<Vec<_>>().join(", "), field(record, "call"))
}

/// Parses a date, a time, or a duration before now.
pub(in crate::commands) fn time(written: &str) -> Option<u64> {
    moment(written).or_else(|| duration(written).map(|length| now().saturating_sub(length)))
}

/// Returns the text of an action, else its kind.
pub(in crate::commands) fn action(action: &Value) -> String {
    let text = action.as_object().and_then(|object| object.iter().nth(1)).and_then(|(_, value)| value.as_str());
    text.or_else(|| action.get("kind")?.as_str()).unwrap_or("").to_owned()
}

/// Returns the call on one line, from the log.
pub(in crate::commands) fn subject(record: &Record) -> String {
    let actions = record.get("actions").and_then(Value::as_array).into_iter().flatten();
    actions.map(action).collect::<Vec<_>>().join("; ")
}
