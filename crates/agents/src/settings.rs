//! The agents' settings files: the text with and without the guard's hook. Everything else in the text stays as it is.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::{ParseOptions, json};
use std::fmt;

/// Why a settings text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsError {
    /// It is not JSON, with where that shows.
    NotJson(String),
    /// A part has another type than the agent documents.
    Shape(&'static str),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::NotJson(problem) => write!(f, "it is not JSON: {problem}"),
            SettingsError::Shape(part) => write!(f, "`{part}` has not the type that the agent expects"),
        }
    }
}

/// Where Claude Code keeps a user's settings, below the home folder.
pub const CLAUDE_USER_SETTINGS: &str = ".claude/settings.json";

/// Seconds that Claude Code waits for the hook: a person may have to answer in that time.
const CLAUDE_TIMEOUT: &str = "300";

const CLAUDE_ARGUMENTS: [&str; 5] = ["hook", "--agent", "claude", "--event", "PreToolUse"];

/// Claude Code's settings with the guard's hook before every tool. Text that has it already comes back unchanged.
///
/// # Errors
/// Text that is not JSON, or whose `hooks` are not what the agent documents.
pub fn install_claude(text: &str, binary: &str) -> Result<String, SettingsError> {
    let root = parse(text)?;
    let settings = match root.value() {
        None => root.object_value_or_set(),
        Some(value) => value.as_object().ok_or(SettingsError::Shape("settings"))?,
    };
    let whole = |group: &Group| group.guard.iter().all(|handler| is_whole(group, handler, binary));
    let (groups, handlers) = guarded(&settings)?;
    if handlers == 1 && groups.iter().all(whole) {
        return Ok(text.to_owned());
    }
    remove_handlers(&settings)?;
    let hooks = settings.object_value_or_create("hooks").ok_or(SettingsError::Shape("hooks"))?;
    let groups = hooks.array_value_or_create("PreToolUse").ok_or(SettingsError::Shape("hooks.PreToolUse"))?;
    groups.append(claude_group(binary));
    groups.ensure_multiline();
    Ok(root.to_string())
}

/// Claude Code's settings without the guard's hook, and without what is empty once it is gone.
///
/// # Errors
/// As [`install_claude`].
pub fn remove_claude(text: &str) -> Result<String, SettingsError> {
    let root = parse(text)?;
    let Some(settings) = root.object_value() else { return Ok(text.to_owned()) };
    remove_handlers(&settings)?;
    Ok(root.to_string())
}

fn parse(text: &str) -> Result<CstRootNode, SettingsError> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| SettingsError::NotJson(error.to_string()))
}

fn claude_group(binary: &str) -> CstInputValue {
    let timeout = CstInputValue::Number(CLAUDE_TIMEOUT.into());
    let arguments = CstInputValue::Array(CLAUDE_ARGUMENTS.map(|word| CstInputValue::String(word.into())).to_vec());
    json!({
        "matcher": "*",
        "hooks": [{
            "type": "command",
            "command": binary,
            "args": arguments,
            "timeout": timeout,
            "onFailure": "block"
        }]
    })
}

/// One group of an event's hooks, with the handlers in it that are the guard's.
struct Group {
    event: String,
    list: CstArray,
    object: CstObject,
    guard: Vec<CstObject>,
}

/// The groups in which the guard stands, and how many handlers it has in them.
fn guarded(settings: &CstObject) -> Result<(Vec<Group>, usize), SettingsError> {
    let Some(hooks) = settings.get("hooks") else { return Ok((Vec::new(), 0)) };
    let hooks = hooks.object_value().ok_or(SettingsError::Shape("hooks"))?;
    let mut groups = Vec::new();
    for property in hooks.properties() {
        let list = property.array_value().ok_or(SettingsError::Shape("hooks.*"))?;
        let event = property.name().and_then(|name| name.decoded_value().ok()).unwrap_or_default();
        for object in list.elements().iter().filter_map(CstNode::as_object) {
            let handlers = object.array_value("hooks").map(|list| list.elements()).unwrap_or_default();
            let guard = handlers.iter().filter_map(CstNode::as_object).filter(is_guard).collect();
            groups.push(Group { event: event.clone(), list: list.clone(), object, guard });
        }
    }
    groups.retain(|group| !group.guard.is_empty());
    let handlers = groups.iter().map(|group| group.guard.len()).sum();
    Ok((groups, handlers))
}

/// The guard's own binary with its hook arguments, in exec form or as one shell line.
fn is_guard(handler: &CstObject) -> bool {
    let command = text_of(handler, "command").unwrap_or_default();
    let arguments = handler.array_value("args").map(|list| list.elements()).unwrap_or_default();
    let first = arguments.first().and_then(CstNode::as_string_lit).and_then(|text| text.decoded_value().ok());
    let mut words = command.split_whitespace();
    let program = if arguments.is_empty() { words.next().unwrap_or("") } else { command.as_str() };
    let name = program.trim_matches(['"', '\'']).rsplit(['/', '\\']).next().unwrap_or("");
    let runs_hook = first.as_deref() == Some("hook") || words.next() == Some("hook");
    matches!(name, "reflex" | "rfx" | "reflex.exe") && runs_hook
}

/// Whether this handler sees every tool call and holds back what it does not answer.
fn is_whole(group: &Group, handler: &CstObject, binary: &str) -> bool {
    let text = |name: &str| text_of(handler, name).unwrap_or_default();
    let every_tool = group.object.get("matcher").is_none()
        || text_of(&group.object, "matcher").is_some_and(|matcher| matches!(matcher.as_str(), "" | "*"));
    let arguments = handler.array_value("args").map(|list| list.elements()).unwrap_or_default();
    let arguments: Vec<String> = arguments
        .iter()
        .filter_map(|argument| argument.as_string_lit().and_then(|text| text.decoded_value().ok()))
        .collect();
    let harmless =
        |name: String| matches!(name.as_str(), "type" | "command" | "args" | "timeout" | "onFailure" | "statusMessage");
    let names = handler.properties().into_iter().filter_map(|property| property.name()?.decoded_value().ok());
    let ours = text("command") == binary && arguments == CLAUDE_ARGUMENTS && text("onFailure") == "block";
    group.event == "PreToolUse" && every_tool && ours && names.into_iter().all(harmless)
}

fn text_of(object: &CstObject, name: &str) -> Option<String> {
    object.get(name)?.value()?.as_string_lit()?.decoded_value().ok()
}

fn remove_handlers(settings: &CstObject) -> Result<(), SettingsError> {
    for group in guarded(settings)?.0 {
        let handlers = group.object.array_value("hooks").map_or(0, |list| list.elements().len());
        if group.guard.len() == handlers {
            group.object.remove();
        } else {
            group.guard.into_iter().for_each(CstObject::remove);
        }
        remove_if_empty(settings, &group.list);
    }
    Ok(())
}

/// An event without groups, and `hooks` without events, are taken out too.
fn remove_if_empty(settings: &CstObject, list: &CstArray) {
    if !list.elements().is_empty() {
        return;
    }
    let Some(hooks) = settings.object_value("hooks") else { return };
    for event in hooks.properties() {
        if event.array_value().is_some_and(|groups| groups.elements().is_empty()) {
            event.remove();
        }
    }
    if hooks.properties().is_empty()
        && let Some(property) = settings.get("hooks")
    {
        property.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOREIGN: &str = "{\n  // mine\n  \"model\": \"x\",\n  \"hooks\": {\"PreToolUse\": [ {\"matcher\":\"Bash\", \"hooks\":[{\"type\":\"command\",\"command\":\"other hook\"}]} ]}\n}\n";

    #[test]
    fn installing_twice_changes_nothing_the_second_time() {
        for text in ["", "{}", FOREIGN] {
            let once = install_claude(text, "/x/reflex").unwrap();
            assert_eq!(install_claude(&once, "/x/reflex").unwrap(), once);
            assert!(once.contains("\"/x/reflex\"") && once.contains("\"onFailure\": \"block\""), "{once}");
        }
    }

    #[test]
    fn foreign_hooks_comments_and_order_stay() {
        let installed = install_claude(FOREIGN, "/x/reflex").unwrap();
        assert!(installed.contains("// mine") && installed.contains("\"command\":\"other hook\""), "{installed}");
        let removed = remove_claude(&installed).unwrap();
        assert!(removed.contains("other hook") && !removed.contains("reflex"), "{removed}");
    }

    #[test]
    fn another_binary_replaces_the_one_that_stands_there() {
        let first = install_claude("{}", "/old/reflex").unwrap();
        let second = install_claude(&first, "/new/reflex").unwrap();
        assert!(!second.contains("/old/reflex") && second.contains("/new/reflex"), "{second}");
    }

    #[test]
    fn a_text_of_another_shape_is_refused() {
        assert!(matches!(install_claude("{", "r"), Err(SettingsError::NotJson(_))));
        assert_eq!(install_claude("[]", "r"), Err(SettingsError::Shape("settings")));
        assert_eq!(install_claude("{\"hooks\":[]}", "r"), Err(SettingsError::Shape("hooks")));
    }
}
