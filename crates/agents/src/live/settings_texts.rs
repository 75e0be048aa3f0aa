//! Checks of a client's settings: entries that prevent a launch with a scripted model, and entries that would run
//! during one.

use super::model::{Against, Text};
use crate::settings::guard_line::runs_guard;
use crate::settings::json_text::value;
use serde_json::Value;

/// Parses the texts, except TOML. Texts that are not JSON are skipped, as the client cannot parse them either.
pub(super) fn objects(texts: &[Text]) -> impl Iterator<Item = (&Text, Value)> {
    texts.iter().filter(|text| !text.file.ends_with(".toml")).filter_map(|text| Some((text, value(&text.text)?)))
}

/// Returns the keys (`a.b`) that are present and neither false nor empty.
pub(super) fn against(texts: &[Text], keys: &[&str]) -> Vec<Against> {
    let of = |(text, settings): (&Text, Value)| {
        let is_set = |key: &&&str| at(&settings, key).is_some_and(is_truthy);
        let found = keys.iter().filter(is_set).map(|key| Against { file: text.file.clone(), key: (*key).to_owned() });
        found.collect::<Vec<_>>()
    };
    objects(texts).flat_map(of).collect()
}

/// Returns the variables that a client's file sets below `env` for the client itself and that select another model or
/// key.
pub(super) fn against_in_env(texts: &[Text]) -> Vec<Against> {
    let of = |(text, settings): (&Text, Value)| {
        let set = settings.get("env").and_then(Value::as_object).cloned().unwrap_or_default();
        let leading = set.into_iter().filter(|(name, value)| leads_elsewhere(name) && is_truthy(value));
        leading.map(|(name, _)| Against { file: text.file.clone(), key: format!("env.{name}") }).collect::<Vec<_>>()
    };
    objects(texts).flat_map(of).collect()
}

/// Returns whether a variable of this name selects another model, key, login or proxy.
pub(super) fn leads_elsewhere(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends = ["_BASE_URL", "_API_KEY", "_AUTH_TOKEN", "_OAUTH_TOKEN", "_UNIX_SOCKET", "_CUSTOM_HEADERS", "_ENDPOINT"];
    let is_proxy = name.ends_with("_PROXY") && name != "NO_PROXY";
    is_proxy || ends.iter().any(|end| name.ends_with(end)) || name.starts_with("CLAUDE_CODE_USE_")
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty() && text != "0" && text != "false",
        Value::Bool(true) | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    }
}

fn at<'v>(settings: &'v Value, key: &str) -> Option<&'v Value> {
    key.split('.').try_fold(settings, |value, part| value.get(part))
}

/// Returns the hooks of other tools in texts of the form `{"hooks": {EVENT: …}}`.
pub(super) fn foreign_hooks(texts: &[Text]) -> Vec<String> {
    let mut found = Vec::new();
    for (text, settings) in objects(texts) {
        for (event, entries) in settings.get("hooks").and_then(Value::as_object).into_iter().flatten() {
            let mut lines = Vec::new();
            collect_lines(entries, &mut lines);
            let of_others = lines.iter().filter(|line| !is_ours(line));
            found.extend(of_others.map(|line| format!("a hook of {event} in {}: `{line}`", text.file)));
        }
    }
    found.dedup();
    found
}

/// Collects the command lines of handlers at any depth.
fn collect_lines(value: &Value, lines: &mut Vec<String>) {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    if let Some(line) = text("command").or_else(|| text("bash")).or_else(|| text("exec")).or_else(|| text("url")) {
        let words = value.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        lines.push([line].into_iter().chain(words).collect::<Vec<_>>().join(" "));
        return;
    }
    let inner: Vec<&Value> = match value {
        Value::Array(list) => list.iter().collect(),
        Value::Object(map) => map.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    inner.into_iter().for_each(|value| collect_lines(value, lines));
}

/// Returns whether a command line runs the guard. In a handler with separate arguments, a path with a space is not
/// quoted.
pub(super) fn is_ours(line: &str) -> bool {
    runs_guard(line) || ["/reflex hook ", "/rfx hook "].iter().any(|start| line.contains(start))
}

/// Returns the names below a key (`mcpServers`) in all texts, sorted and without duplicates.
pub(super) fn names_below(texts: &[Text], key: &str) -> Vec<String> {
    let of = |(_, settings): (&Text, Value)| {
        at(&settings, key).and_then(Value::as_object).map(|map| map.keys().cloned().collect()).unwrap_or_default()
    };
    let mut names: Vec<String> = objects(texts).flat_map::<Vec<String>, _>(of).collect();
    names.sort();
    names.dedup();
    names
}
