//! Records as OpenTelemetry logs, in the JSON encoding of OTLP.

use crate::commands::history::record::{Record, field, subject};
use reflex_host::moment;
use serde_json::{Value, json};

/// Returns a request with these log records.
pub(super) fn request(records: Vec<Value>) -> Value {
    json!({"resourceLogs": [{
        "resource": {"attributes": [attribute("service.name", "reflex")]},
        "scopeLogs": [{"scope": {"name": "reflex.audit", "version": env!("CARGO_PKG_VERSION")}, "logRecords": records}],
    }]})
}

/// Returns a record as a log record; 64-bit numbers are strings in this encoding.
pub(super) fn log_record(record: &Record) -> Value {
    let nanos = moment(field(record, "time")).map_or(0, |millis| u128::from(millis) * 1_000_000).to_string();
    let (number, name) = severity(field(record, "risk"));
    let names = [
        ("event.name", "kind"),
        ("reflex.record.id", "id"),
        ("reflex.decision", "decision"),
        ("reflex.risk", "risk"),
        ("reflex.agent", "agent"),
        ("session.id", "session"),
        ("reflex.tool", "tool"),
        ("reflex.workspace", "workspace"),
        ("reflex.task", "task"),
        ("reflex.pending", "pending"),
        ("host.id", "host"),
    ];
    let known = names.iter().filter(|(_, key)| !field(record, key).is_empty());
    let mut attributes: Vec<Value> = known.map(|(name, key)| attribute(name, field(record, key))).collect();
    let findings = record.get("findings").and_then(Value::as_array).into_iter().flatten();
    let ids: Vec<Value> =
        findings.filter_map(|finding| Some(json!({"stringValue": finding.get("id")?.as_str()?}))).collect();
    if !ids.is_empty() {
        attributes.push(json!({"key": "reflex.findings", "value": {"arrayValue": {"values": ids}}}));
    }
    attributes.push(attribute("reflex.record", &Value::Object(record.clone()).to_string()));
    json!({
        "timeUnixNano": nanos, "observedTimeUnixNano": nanos, "severityNumber": number, "severityText": name,
        "body": {"stringValue": subject(record)}, "attributes": attributes,
    })
}

fn attribute(key: &str, text: &str) -> Value {
    json!({"key": key, "value": {"stringValue": text}})
}

fn severity(risk: &str) -> (u32, &'static str) {
    match risk {
        "low" => (10, "INFO2"),
        "medium" => (13, "WARN"),
        "high" => (17, "ERROR"),
        "critical" => (21, "FATAL"),
        _ => (9, "INFO"),
    }
}

/// Returns the number of records that a collector rejected, from its answer.
pub(super) fn rejected(answer: &str) -> u64 {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let count = answer.get("partialSuccess").and_then(|partial| partial.get("rejectedLogRecords"));
    count.and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok())).unwrap_or(0)
}
