//! `ask` and `notify` of a policy: how calls wait for a person who is away from the agent's terminal, and how that
//! person is notified.

use crate::problem::{Level, Problems};
use crate::yaml::Located;
use serde_json::{Map, Value, json};

/// The keys of `ask`.
const ASK: [&str; 2] = ["wait", "unattended"];

/// Decisions for a prompt that no person can answer.
pub(crate) const UNATTENDED: [&str; 3] = ["deny", "park", "allow-low"];

/// The keys of `notify`.
const NOTIFY: [&str; 3] = ["desktop", "command", "webhook"];

/// The keys of a webhook.
const WEBHOOK: [&str; 2] = ["url", "as"];

/// The payload formats of a webhook.
pub(crate) const FORMATS: [&str; 4] = ["json", "ntfy", "slack", "discord"];

/// Maximum waiting time of a hook in seconds.
const MAX_WAIT: u64 = 3600;

/// Compiles `ask: {wait: 20s, unattended: park}`.
pub(crate) fn ask_of(value: &Located, problems: &mut Problems<'_>) -> Value {
    let mut node = Map::new();
    for (key, value) in value.entries().unwrap_or(&[]) {
        let text = value.text().unwrap_or_default();
        match key.text.as_str() {
            "wait" => match seconds(&text).filter(|seconds| *seconds <= MAX_WAIT) {
                Some(seconds) => drop(node.insert("wait".into(), seconds.into())),
                None => {
                    problems.error(&value.span, "the wait must be at most 60m", "write `wait: 20s`, or 0 for never")
                }
            },
            "unattended" if UNATTENDED.contains(&text.as_str()) => {
                node.insert("unattended".into(), text.into());
            }
            "unattended" => problems.unknown(Level::Error, &value.span, ("answer", &text), &UNATTENDED),
            other => problems.unknown(Level::Error, &key.span, ("key of `ask`", other), &ASK),
        }
    }
    Value::Object(node)
}

/// Parses `20s`, `5m` or a number of seconds.
fn seconds(text: &str) -> Option<u64> {
    match text.strip_suffix('m') {
        Some(minutes) => minutes.trim().parse::<u64>().ok()?.checked_mul(60),
        None => text.strip_suffix('s').unwrap_or(text).trim().parse().ok(),
    }
}

/// Compiles `notify: {desktop: true, command: …, webhook: {url: …, as: ntfy}}`.
pub(crate) fn notify_of(value: &Located, problems: &mut Problems<'_>) -> Value {
    let mut node = Map::new();
    for (key, value) in value.entries().unwrap_or(&[]) {
        let text = value.text().unwrap_or_default();
        match key.text.as_str() {
            "desktop" if ["true", "false"].contains(&text.as_str()) => {
                node.insert("desktop".into(), (text == "true").into());
            }
            "desktop" => problems.error(&value.span, "this is neither true nor false", ""),
            "command" => drop(node.insert("command".into(), text.into())),
            "webhook" => drop(node.insert("webhook".into(), webhook(value, problems))),
            other => problems.unknown(Level::Error, &key.span, ("key of `notify`", other), &NOTIFY),
        }
    }
    Value::Object(node)
}

fn webhook(value: &Located, problems: &mut Problems<'_>) -> Value {
    let (mut url, mut format) = (value.text().unwrap_or_default(), String::from("json"));
    for (key, value) in value.entries().unwrap_or(&[]) {
        let text = value.text().unwrap_or_default();
        match key.text.as_str() {
            "url" => url = text,
            "as" if FORMATS.contains(&text.as_str()) => format = text,
            "as" => problems.unknown(Level::Error, &value.span, ("form of a message", &text), &FORMATS),
            other => problems.unknown(Level::Error, &key.span, ("key of a webhook", other), &WEBHOOK),
        }
    }
    let is_local = ["http://127.0.0.1", "http://localhost", "http://[::1]"].iter().any(|local| url.starts_with(local));
    if !url.starts_with("https://") && !is_local {
        problems.error(&value.span, "a webhook needs an https:// URL", "write `webhook: {url: https://…, as: ntfy}`");
        return Value::Null;
    }
    json!({"url": url, "as": format})
}
