//! Formats records as CSV rows for spreadsheets.

use crate::commands::history::record::{Record, subject};
use crate::terminal::visible::visible;
use serde_json::Value;

const COLUMNS: [&str; 12] =
    ["seq", "time", "kind", "agent", "session", "tool", "decision", "risk", "id", "workspace", "text", "findings"];

pub(super) fn header() -> String {
    COLUMNS.join(",")
}

pub(super) fn row(record: &Record) -> String {
    let field = |name: &&str| match (*name, record.get(*name)) {
        ("text", _) => subject(record),
        ("findings", Some(Value::Array(findings))) => {
            findings.iter().filter_map(|finding| finding.get("id")?.as_str()).collect::<Vec<_>>().join(" ")
        }
        (_, Some(Value::String(text))) => text.clone(),
        (_, Some(value)) => value.to_string(),
        (_, None) => String::new(),
    };
    COLUMNS.iter().map(field).map(|text| quoted(&text)).collect::<Vec<_>>().join(",")
}

/// Quotes a field as in RFC 4180. A spreadsheet parses a field that begins with one of these signs as a formula, also
/// after blanks; a leading apostrophe keeps it text.
fn quoted(text: &str) -> String {
    let shown = visible(text);
    let formula =
        shown.trim_start_matches([' ', '␉', '␊', '␍']).starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let safe = if formula { format!("'{shown}") } else { shown };
    if safe.contains([',', '"', '\n', '\r']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}
