//! `judge` of a policy: the model that decides prompts in auto-pilot.

use crate::problem::{Level, Problems};
use crate::yaml::Located;
use serde_json::{Map, Value};

/// The keys of `judge`.
const KEYS: [&str; 6] = ["provider", "model", "url", "key_file", "command", "timeout"];

/// The protocols for calling a model.
pub(crate) const PROVIDERS: [&str; 3] = ["command", "anthropic", "openai"];

/// Maximum time for an answer in seconds.
const MAX_TIMEOUT: u64 = 20;

/// Compiles `judge: {provider: anthropic, model: …, key_file: ~/…, timeout: 10s}`.
pub(crate) fn judge_of(value: &Located, problems: &mut Problems<'_>) -> Value {
    let mut node = Map::new();
    for (key, value) in value.entries().unwrap_or(&[]) {
        let text = value.text().unwrap_or_default();
        match key.text.as_str() {
            "provider" if !PROVIDERS.contains(&text.as_str()) => {
                problems.unknown(Level::Error, &value.span, ("provider", &text), &PROVIDERS);
            }
            "timeout" => match text.strip_suffix('s').unwrap_or(&text).trim().parse::<u64>() {
                Ok(seconds) if (1..=MAX_TIMEOUT).contains(&seconds) => {
                    node.insert("timeout".into(), seconds.into());
                }
                _ => problems.error(&value.span, "the timeout is not between 1s and 20s", "write `timeout: 10s`"),
            },
            "url" if !may_be_asked(&text) => {
                let help = "use https:// for a remote model; http:// works only for a model on this machine";
                problems.error(&value.span, "the address is not encrypted", help);
            }
            name if KEYS.contains(&name) => drop(node.insert(name.into(), text.into())),
            other => problems.unknown(Level::Error, &key.span, ("key of `judge`", other), &KEYS),
        }
    }
    let is_set = |key: &str| node.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let needs: &[&str] = match node.get("provider").and_then(Value::as_str) {
        Some("command") => &["command"],
        Some("anthropic") => &["model", "key_file"],
        Some("openai") => &["model", "url"],
        _ => &["provider"],
    };
    if let Some(key) = needs.iter().find(|key| !is_set(key)) {
        problems.error(&value.span, format!("`judge` has no `{key}`"), "see docs/auto-pilot.md");
        node.clear();
    }
    Value::Object(node)
}

/// Whether a call may be sent to this URL: it is encrypted, or local.
fn may_be_asked(url: &str) -> bool {
    let local = ["http://127.0.0.1", "http://localhost", "http://[::1]"].iter().find_map(|host| url.strip_prefix(host));
    // `http://127.0.0.1:80@x.example/` connects to x.example.
    !url.contains('@')
        && (url.starts_with("https://") || local.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/'])))
}
