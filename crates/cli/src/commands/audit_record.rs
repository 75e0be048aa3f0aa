//! A record of the audit log in words: its fields, its actions, its time.

use reflex_host::{duration, moment, now};
use serde_json::{Map, Value};

/// One line of the log.
pub(super) type Record = Map<String, Value>;

/// A text of a record of the log; empty where there is none.
pub(super) fn field<'r>(record: &'r Map<String, Value>, key: &str) -> &'r str {
    record.get(key).and_then(Value::as_str).unwrap_or("")
}

/// The decision about a call that the agent got, as people read it. The log has the words of its own form.
pub(super) fn decision(record: &Record) -> &'static str {
    let answered = record.get("said").and_then(|said| said.get("decision")?.as_str());
    // An agent that cannot ask blocks instead; a person let the call run, or the agent was only informed.
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

/// A decision in people's words, for a word of a search: theirs, the log's or the wire's. `pass` of the log is several.
pub(super) fn searched(decision: &str) -> &[&str] {
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

/// A date, a time, or how long ago.
pub(super) fn time(written: &str) -> Option<u64> {
    moment(written).or_else(|| duration(written).map(|length| now().saturating_sub(length)))
}

/// One action of a record: its text, else its kind.
pub(super) fn action(action: &Value) -> String {
    let text = action.as_object().and_then(|object| object.iter().nth(1)).and_then(|(_, value)| value.as_str());
    text.or_else(|| action.get("kind")?.as_str()).unwrap_or("").to_owned()
}

/// The call in one line, as the log has it.
pub(super) fn subject(record: &Record) -> String {
    let actions = record.get("actions").and_then(Value::as_array).into_iter().flatten();
    actions.map(action).collect::<Vec<_>>().join("; ")
}
