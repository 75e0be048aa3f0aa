//! Records as events of the Open Cybersecurity Schema Framework 1.3: a call with findings is a Detection Finding, any
//! other record an API Activity. The conversion is lossless: `unmapped` holds the full record.

use crate::commands::history::record::{Record, field, subject};
use reflex_host::moment;
use serde_json::{Map, Value, json};

const VERSION: &str = "1.3.0";

/// Identifiers of the schema.
const DETECTION_FINDING: (u32, u32) = (2, 2004);
const API_ACTIVITY: (u32, u32) = (6, 6003);
const CREATE: u32 = 1;
const OTHER: u32 = 99;

pub(super) fn event(record: &Record) -> Value {
    let findings = record.get("findings").and_then(Value::as_array).filter(|findings| !findings.is_empty());
    let mut event = match findings {
        Some(findings) if field(record, "kind") == "call" => detection(record, findings),
        Some(_) | None => activity(record),
    };
    let common = json!({
        "metadata": {
            "version": VERSION, "uid": field(record, "id"), "profiles": ["security_control"],
            "product": {"name": "Reflex", "vendor_name": "Reflex", "version": field(record, "reflex")},
        },
        "time": moment(field(record, "time")).unwrap_or(0),
        "severity_id": severity(field(record, "risk")).0, "severity": severity(field(record, "risk")).1,
        "message": subject(record),
        "actor": {"app_name": field(record, "agent"), "session": {"uid": field(record, "session")}},
        "unmapped": record,
    });
    event.extend(common.as_object().cloned().unwrap_or_default());
    if let Some((action, name, disposition)) = control(field(record, "decision")) {
        event.insert("action_id".into(), action.into());
        event.insert("action".into(), name.into());
        event.insert("disposition_id".into(), disposition.into());
    }
    Value::Object(event)
}

fn class((category, class): (u32, u32), activity: u32) -> Map<String, Value> {
    let ids = json!({
        "category_uid": category, "class_uid": class, "activity_id": activity, "type_uid": class * 100 + activity,
    });
    ids.as_object().cloned().unwrap_or_default()
}

fn detection(record: &Record, findings: &[Value]) -> Map<String, Value> {
    let text = |finding: &Value, key: &str| finding.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let ids: Vec<String> = findings.iter().map(|finding| text(finding, "id")).collect();
    let kinds: Vec<String> = findings.iter().map(|finding| text(finding, "category")).collect();
    let first = findings.first().cloned().unwrap_or_default();
    let mut event = class(DETECTION_FINDING, CREATE);
    event.insert(
        "finding_info".into(),
        json!({
            "uid": field(record, "id"), "title": ids.join(", "), "desc": text(&first, "message"), "types": kinds,
            "analytic": {"name": text(&first, "detector"), "type_id": 1, "type": "Rule", "uid": text(&first, "id")},
        }),
    );
    event.insert("confidence_score".into(), first.get("confidence").cloned().unwrap_or_default());
    event.insert("evidences".into(), json!([{"data": {"call": subject(record)}}]));
    event
}

fn activity(record: &Record) -> Map<String, Value> {
    let (kind, tool) = (field(record, "kind"), field(record, "tool"));
    let operation = if tool.is_empty() { kind.to_owned() } else { format!("{kind} {tool}") };
    let mut event = class(API_ACTIVITY, OTHER);
    event.insert("activity_name".into(), kind.into());
    event.insert("api".into(), json!({"operation": operation, "service": {"name": field(record, "agent")}}));
    event.insert("src_endpoint".into(), json!({"uid": field(record, "host"), "name": field(record, "host")}));
    event
}

fn severity(risk: &str) -> (u32, &'static str) {
    match risk {
        "low" => (2, "Low"),
        "medium" => (3, "Medium"),
        "high" => (4, "High"),
        "critical" => (5, "Critical"),
        _ => (1, "Informational"),
    }
}

/// Returns the action on the call, its name and the disposition (1 allowed, 2 blocked, 99 other: a person was asked).
fn control(decision: &str) -> Option<(u32, &'static str, u32)> {
    match decision {
        "pass" => Some((1, "Allowed", 1)),
        "deny" => Some((2, "Denied", 2)),
        "ask" => Some((99, "Asked", 99)),
        _ => None,
    }
}
