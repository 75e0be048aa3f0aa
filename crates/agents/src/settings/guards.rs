//! Guards in a settings text: Reflex's own and earlier ones.

use super::files::{SettingsError, Start};
use super::guard_line::OLDER;
use super::hook_file::{entries, guarded, take_out};
use super::json_text::value_of_object;
use super::plugin;
use jsonc_parser::cst::CstRootNode;
use jsonc_parser::{ParseOptions, errors::ParseError};
use serde_json::{Map, Value};

/// Returns the guard's hooks in a text of the form `{"hooks": …}` or in its plugin: the event and the command.
pub fn guard_hooks(text: &str) -> Vec<(String, Start)> {
    if let Some(hooks) = plugin::guard_hooks(text) {
        return hooks;
    }
    let Ok(root) = CstRootNode::parse(text, &ParseOptions::default()) else { return Vec::new() };
    let entries = root.object_value().and_then(|settings| guarded(&settings).ok()).unwrap_or_default();
    let hooks = entries.iter().flat_map(|entry| entry.guard.iter().map(move |handler| (&entry.event, handler)));
    hooks.filter_map(|(event, handler)| Some((event.clone(), start(&value_of_object(handler)?)))).collect()
}

fn start(handler: &Map<String, Value>) -> Start {
    let text = |name: &str| handler.get(name).and_then(Value::as_str);
    let line = text("bash").or_else(|| text("command")).unwrap_or("");
    match handler.get("args").and_then(Value::as_array).filter(|arguments| !arguments.is_empty()) {
        Some(arguments) => {
            let words = arguments.iter().filter_map(Value::as_str).map(str::to_owned);
            let program = text("exec").unwrap_or(line).to_owned();
            Start::Exec([program].into_iter().chain(words).collect())
        }
        None => Start::Shell(line.to_owned()),
    }
}

/// Files that belong entirely to an earlier guard: the agent, the path below the home directory, and the path in a
/// project (agentreflex 0.4.0, `packages/adapters`).
pub const OLDER_FILES: [(&str, &str, &str); 2] = [
    ("copilot", ".copilot/hooks/agentreflex.json", ".github/hooks/agentreflex.json"),
    ("opencode", ".config/opencode/plugins/agentreflex.js", ".opencode/plugins/agentreflex.js"),
];

/// Returns whether a plugin starts an earlier guard.
pub fn is_older_plugin(text: &str) -> bool {
    text.contains("hook") && OLDER.iter().any(|name| text.contains(name))
}

/// Returns the command lines that start an earlier guard: `arx hook …`, `vf hook …`.
pub fn older_guards(text: &str) -> Vec<String> {
    let Ok(root) = CstRootNode::parse(text, &ParseOptions::default()) else { return Vec::new() };
    let found = root.object_value().and_then(|settings| entries(&settings, &OLDER).ok()).unwrap_or_default();
    let handlers = found.iter().flat_map(|entry| &entry.guard).filter_map(value_of_object);
    let mut lines: Vec<String> = handlers
        .map(|handler| match start(&handler) {
            Start::Exec(words) => words.join(" "),
            Start::Shell(line) => line,
        })
        .collect();
    lines.dedup();
    lines
}

/// Returns the text without hooks of this guard's predecessors, and without objects and lists that this leaves empty.
///
/// # Errors
/// Same as `SettingsFile::install`.
pub fn without_older_guards(text: &str) -> Result<String, SettingsError> {
    let failed = |error: ParseError| SettingsError::NotJson(error.to_string());
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(failed)?;
    let Some(settings) = root.object_value() else { return Ok(text.to_owned()) };
    let found = entries(&settings, &OLDER)?;
    if found.is_empty() {
        return Ok(text.to_owned());
    }
    take_out(&settings, found);
    Ok(root.to_string())
}
