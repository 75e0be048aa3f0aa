//! Hook files of the form `{"hooks": {EVENT: [ENTRY]}}`, shared by many agents: adds and removes the guard's hook. All
//! other text is preserved.

use super::files::SettingsError;
use super::guard_line::{OURS, is_guard as is_guard_call, runs};
use super::hook_command::HookCommand;
use super::json_text::{input, value_of_object};
use crate::version::is_older;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::{ParseOptions, errors::ParseError};
use serde_json::Value;

/// Returns the contents of a file with the hook only.
pub(crate) fn alone(form: &HookFile, around: &str, command: HookCommand<'_>) -> String {
    let mut text = form.install(around, command).unwrap_or_default();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// A file of the form `{"hooks": {EVENT: [ENTRY]}}`, which many agents use.
pub(crate) struct HookFile {
    /// The agent's names of the events that run the guard.
    pub(crate) events: &'static [&'static str],
    /// Events of newer clients, each with the first version that knows it.
    pub(crate) later: &'static [(&'static str, &'static str)],
    /// Returns the guard's handler for an event: a JSON object.
    pub(crate) handler: fn(command: HookCommand<'_>, event: &str) -> Value,
    /// Whether an entry is a group, `{"matcher": "*", "hooks": [HANDLER]}`, rather than the handler itself.
    pub(crate) grouped: bool,
    /// Keys required next to `hooks`, with their numeric values.
    pub(crate) beside: &'static [(&'static str, u32)],
    /// Whether the agent accepts comments and trailing commas.
    pub(crate) comments: bool,
    /// Whether the guard created the file and may delete it with the last hook.
    pub(crate) is_dedicated: bool,
}

impl HookFile {
    /// Returns the text with the guard's handlers. A text that already has them is returned unchanged.
    ///
    /// # Errors
    /// Returns an error if the agent cannot parse the text, or its `hooks` have an undocumented type.
    pub(crate) fn install(&self, text: &str, command: HookCommand<'_>) -> Result<String, SettingsError> {
        let root = self.parse(text)?;
        let settings = match root.value() {
            None => root.object_value_or_set(),
            Some(value) => value.as_object().ok_or(SettingsError::Shape("settings"))?,
        };
        if self.is_complete(&settings, command)? && self.waits_long_enough(&settings, command)? {
            return Ok(text.to_owned());
        }
        take_out(&settings, guarded(&settings)?);
        for (name, number) in self.beside {
            if settings.get(name).is_none() {
                settings.insert(0, name, CstInputValue::Number(number.to_string()));
            }
        }
        let hooks = settings.object_value_or_create("hooks").ok_or(SettingsError::Shape("hooks"))?;
        for event in self.events_of(command) {
            let entries = hooks.array_value_or_create(event).ok_or(SettingsError::Shape("hooks.*"))?;
            entries.append(input(&self.entry(command, event)));
            entries.ensure_multiline();
        }
        Ok(root.to_string())
    }

    /// Returns the text without the guard's handlers, and without parts that are empty after their removal. `None` if
    /// the file can be deleted.
    ///
    /// # Errors
    /// Same as [`HookFile::install`].
    pub(crate) fn remove(&self, text: &str) -> Result<Option<String>, SettingsError> {
        let failed = |error: ParseError| SettingsError::NotJson(error.to_string());
        let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(failed)?;
        let Some(settings) = root.object_value() else { return Ok(Some(text.to_owned())) };
        take_out(&settings, guarded(&settings)?);
        let beside = |name: String| self.beside.iter().any(|(known, _)| *known == name);
        let nothing_left = names(&settings).into_iter().all(beside);
        Ok(if self.is_dedicated && nothing_left { None } else { Some(root.to_string()) })
    }

    fn parse(&self, text: &str) -> Result<CstRootNode, SettingsError> {
        // An agent that accepts only strict JSON ignores the entire file because of a comment.
        if !self.comments && !text.trim().is_empty() {
            serde_json::from_str::<Value>(text).map_err(|problem| SettingsError::NotJson(problem.to_string()))?;
        }
        let failed = |error: ParseError| SettingsError::NotJson(error.to_string());
        CstRootNode::parse(text, &ParseOptions::default()).map_err(failed)
    }

    /// Returns the events that the client knows; all of them if its version is unknown.
    fn events_of(&self, command: HookCommand<'_>) -> Vec<&'static str> {
        let is_known = |since: &str| command.client.is_none_or(|version| !is_older(version, since));
        let later = self.later.iter().filter(|(_, since)| is_known(since)).map(|(event, _)| *event);
        self.events.iter().copied().chain(later).collect()
    }

    fn entry(&self, command: HookCommand<'_>, event: &str) -> Value {
        let handler = (self.handler)(command, event);
        if self.grouped { serde_json::json!({"matcher": "*", "hooks": [handler]}) } else { handler }
    }

    /// Returns whether no handler ends before a wait that is longer than usual. A person may have shortened a usual one.
    fn waits_long_enough(&self, settings: &CstObject, command: HookCommand<'_>) -> Result<bool, SettingsError> {
        let timeout = |command, event: &str| (self.handler)(command, event).get("timeout").and_then(Value::as_u64);
        let found = |handler: &CstObject| value_of_object(handler)?.get("timeout")?.as_u64();
        let is_enough = |entry: &Entry| {
            let (wanted, usual) =
                (timeout(command, &entry.event), timeout(HookCommand { wait: 0, ..command }, &entry.event));
            wanted == usual || entry.guard.iter().all(|handler| found(handler) >= wanted)
        };
        Ok(guarded(settings)?.iter().all(is_enough))
    }

    /// Returns whether the settings contain exactly the guard's handlers, or handlers that a person edited without
    /// weakening them.
    fn is_complete(&self, settings: &CstObject, command: HookCommand<'_>) -> Result<bool, SettingsError> {
        let found = guarded(settings)?;
        let is_for = |entry: &Entry, event: &str| {
            entry.event == event
                && (!self.grouped || sees_every_tool(&entry.object))
                && matches!(entry.guard.as_slice(), [handler] if guards_as_much(handler, &(self.handler)(command, event)))
        };
        let occurs_once = |event: &&str| found.iter().filter(|entry| is_for(entry, event)).count() == 1;
        let wanted = self.events_of(command);
        let (known, others): (Vec<_>, Vec<_>) = found.iter().partition(|entry| wanted.contains(&entry.event.as_str()));
        // An older client keeps the other hooks beside one for an event that it does not know.
        let is_later = |entry: &&Entry| self.later.iter().any(|(event, _)| *event == entry.event);
        Ok(known.len() == wanted.len() && wanted.iter().all(occurs_once) && others.iter().all(is_later))
    }
}

pub(super) fn take_out(settings: &CstObject, found: Vec<Entry>) {
    for entry in found {
        let handlers = entry.object.array_value("hooks").map_or(1, |list| list.elements().len());
        if entry.guard.len() == handlers {
            entry.object.remove();
        } else {
            entry.guard.into_iter().for_each(CstObject::remove);
        }
        remove_if_empty(settings, &entry.list);
    }
}

/// Returns the entries that run the guard.
pub(super) fn guarded(settings: &CstObject) -> Result<Vec<Entry>, SettingsError> {
    entries(settings, &OURS)
}

/// Returns the entries with handlers that run a guard of one of these names.
pub(super) fn entries(settings: &CstObject, names: &[&str]) -> Result<Vec<Entry>, SettingsError> {
    let Some(hooks) = last(settings, "hooks") else { return Ok(Vec::new()) };
    let hooks = hooks.object_value().ok_or(SettingsError::Shape("hooks"))?;
    let mut entries = Vec::new();
    for property in hooks.properties() {
        let list = property.array_value().ok_or(SettingsError::Shape("hooks.*"))?;
        let event = property.name().and_then(|name| name.decoded_value().ok()).unwrap_or_default();
        for object in list.elements().iter().filter_map(CstNode::as_object) {
            let handlers = object.array_value("hooks").map(|list| list.elements());
            let handlers = handlers.map_or_else(|| vec![object.clone()], |list| objects(&list));
            let guard = handlers.into_iter().filter(|handler| is_guard(handler, names)).collect();
            entries.push(Entry { event: event.clone(), list: list.clone(), object, guard });
        }
    }
    entries.retain(|entry| !entry.guard.is_empty());
    Ok(entries)
}

/// Returns the value of a key. Every client takes the last of two equal keys.
fn last(object: &CstObject, key: &str) -> Option<jsonc_parser::cst::CstObjectProp> {
    let is_it = |property: &jsonc_parser::cst::CstObjectProp| {
        property.name().and_then(|name| name.decoded_value().ok()).as_deref() == Some(key)
    };
    object.properties().into_iter().rev().find(is_it)
}

/// One entry of an event's list, with those of its handlers that run the guard.
pub(super) struct Entry {
    pub(super) event: String,
    list: CstArray,
    object: CstObject,
    pub(super) guard: Vec<CstObject>,
}

fn objects(list: &[CstNode]) -> Vec<CstObject> {
    list.iter().filter_map(CstNode::as_object).collect()
}

fn names(object: &CstObject) -> Vec<String> {
    object.properties().into_iter().filter_map(|property| property.name()?.decoded_value().ok()).collect()
}

fn sees_every_tool(group: &CstObject) -> bool {
    group.get("matcher").is_none()
        || text_of(group, "matcher").is_some_and(|matcher| matches!(matcher.as_str(), "" | "*"))
}

/// Returns whether a handler equals the wanted one, apart from its timeout and its display text.
fn guards_as_much(handler: &CstObject, wanted: &Value) -> bool {
    let Some(found) = value_of_object(handler) else { return false };
    let Value::Object(wanted) = wanted else { return false };
    let free = |name: &str| matches!(name, "timeout" | "timeoutSec" | "statusMessage" | "name" | "description");
    // The free keys must keep their type, as a client ignores a handler with another type.
    let fits = |name: &str, value: &Value| {
        found.get(name).is_none_or(|found| std::mem::discriminant(found) == std::mem::discriminant(value))
    };
    wanted.iter().filter(|(name, _)| free(name)).all(|(name, value)| fits(name, value))
        && wanted.iter().filter(|(name, _)| !free(name)).all(|(name, value)| found.get(name) == Some(value))
        && found.keys().all(|name| free(name) || wanted.contains_key(name))
}

/// Returns whether a handler runs a guard of one of these names: its binary with the hook arguments, in exec form or in
/// a shell line.
fn is_guard(handler: &CstObject, names: &[&str]) -> bool {
    let Some(handler) = value_of_object(handler) else { return false };
    let text = |name: &str| handler.get(name).and_then(Value::as_str).unwrap_or("");
    let arguments = handler.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if !arguments.is_empty() {
        let arguments: Vec<&str> = arguments.iter().filter_map(Value::as_str).collect();
        let is_one = |program: &str| is_guard_call(program, &arguments, names);
        return arguments.first() == Some(&"hook") && [text("command"), text("exec")].into_iter().any(is_one);
    }
    ["command", "bash", "powershell", "commandWindows"].iter().any(|name| runs(text(name), names))
}

fn text_of(object: &CstObject, name: &str) -> Option<String> {
    object.get(name)?.value()?.as_string_lit()?.decoded_value().ok()
}

/// Removes events without entries, and `hooks` without events.
fn remove_if_empty(settings: &CstObject, list: &CstArray) {
    if !list.elements().is_empty() {
        return;
    }
    let Some(hooks) = settings.object_value("hooks") else { return };
    for event in hooks.properties() {
        if event.array_value().is_some_and(|entries| entries.elements().is_empty()) {
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
    use crate::adapters::{claude, gemini};
    use crate::settings::guards::guard_hooks;

    fn install(text: &str, binary: &str) -> Result<String, SettingsError> {
        claude::SETTINGS.install(text, HookCommand { binary, home: Some("/home/me"), key: None, wait: 0, client: None })
    }

    fn remove(text: &str) -> Result<String, SettingsError> {
        claude::SETTINGS.remove(text).map(Option::unwrap_or_default)
    }

    const FOREIGN: &str = "{\n  // mine\n  \"model\": \"x\",\n  \"hooks\": {\"PreToolUse\": [ {\"matcher\":\"Bash\", \"hooks\":[{\"type\":\"command\",\"command\":\"other hook\"}]} ]}\n}\n";

    #[test]
    fn installing_twice_changes_nothing_the_second_time() {
        for text in ["", "{}", &FOREIGN.replace("// mine", "")] {
            let once = install(text, "/x/reflex").unwrap();
            assert_eq!(install(&once, "/x/reflex").unwrap(), once);
            assert!(once.contains("\"/x/reflex\"") && once.contains("\"onFailure\": \"block\""), "{once}");
        }
    }

    #[test]
    fn foreign_hooks_comments_and_order_stay() {
        assert!(matches!(install(FOREIGN, "/x/reflex"), Err(SettingsError::NotJson(_))));
        let installed = gemini::SETTINGS.install(FOREIGN, HookCommand::shared("/x/reflex")).unwrap();
        assert!(installed.contains("// mine") && installed.contains("\"command\":\"other hook\""), "{installed}");
        let removed = remove(&installed).unwrap();
        assert!(removed.contains("other hook") && !removed.contains("reflex"), "{removed}");
    }

    #[test]
    fn of_hooks_that_stand_twice_the_last_count() {
        let once = install("{}", "/x/reflex").unwrap();
        assert_eq!(guard_hooks(&once).len(), 7);
        let twice = once.trim_end().strip_suffix('}').unwrap().trim_end().to_owned() + ",\n  \"hooks\": {}\n}\n";
        assert_eq!(guard_hooks(&twice), []);
    }

    #[test]
    fn an_event_of_a_newer_client_is_left_out_for_an_older_one() {
        let event = "PreSkillShellCommand";
        let with = |client| {
            let command = HookCommand { client, ..HookCommand::shared("/x/reflex") };
            claude::SETTINGS.install("{}", command).unwrap().contains(event)
        };
        assert_eq!([Some("2.1.331"), Some("2.1.332"), None].map(with), [false, true, true]);
    }

    #[test]
    fn another_binary_replaces_the_one_that_stands_there() {
        let first = install("{}", "/old/reflex").unwrap();
        let second = install(&first, "/new/reflex").unwrap();
        assert!(!second.contains("/old/reflex") && second.contains("/new/reflex"), "{second}");
    }

    #[test]
    fn a_text_of_another_shape_is_refused() {
        assert!(matches!(install("{", "r"), Err(SettingsError::NotJson(_))));
        assert_eq!(install("[]", "r"), Err(SettingsError::Shape("settings")));
        assert_eq!(install("{\"hooks\":[]}", "r"), Err(SettingsError::Shape("hooks")));
    }
}
