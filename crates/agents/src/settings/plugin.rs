//! The plugin that `init` writes for OpenCode, which runs no commands before its tools.

use super::files::{SettingsError, Start};
use super::hook_command::HookCommand;
use serde_json::Value;

/// First line of the plugin; a file with another first line is not the guard's.
const FIRST_LINE: &str = "// Reflex: written by `reflex init`, taken away by `reflex uninstall`.";

const PLUGIN: &str = include_str!("opencode.js");

/// Renders the plugin. The path is inserted as a JSON string, which is also a valid JavaScript string.
pub(crate) fn install(text: &str, command: HookCommand<'_>) -> Result<String, SettingsError> {
    if !text.trim().is_empty() && !is_ours(text) {
        return Err(SettingsError::Foreign("it is not the plugin of Reflex, which would replace it"));
    }
    let home = command.home.into_iter().flat_map(|home| ["--home", home]);
    let key = command.key.into_iter().flat_map(|key| ["--key", key]);
    let place: Vec<&str> = home.chain(key).collect();
    let plugin = PLUGIN.replace("\"REFLEX\"", &Value::from(command.binary).to_string());
    Ok(plugin.replace("[\"HOME\"]", &Value::from(place).to_string()))
}

pub(crate) fn remove(text: &str) -> Result<Option<String>, SettingsError> {
    Ok(if is_ours(text) { None } else { Some(text.to_owned()) })
}

fn is_ours(text: &str) -> bool {
    text.starts_with(FIRST_LINE)
}

/// Returns the events and commands of the guard's plugin; `None` for any other text.
pub(crate) fn guard_hooks(text: &str) -> Option<Vec<(String, Start)>> {
    let written = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).filter(|_| is_ours(text));
    let binary: String = serde_json::from_str(written("const BINARY = ")?).ok()?;
    let home: Vec<String> =
        written("const PLACE = ").and_then(|home| serde_json::from_str(home).ok()).unwrap_or_default();
    let start = |event: &str| {
        let words = [binary.as_str(), "hook", "--agent", "opencode", "--event", event].map(str::to_owned);
        (event.to_owned(), Start::Exec(words.into_iter().chain(home.iter().cloned()).collect()))
    };
    Some(["tool.execute.before", "tool.execute.after"].map(start).to_vec())
}
