//! The agents' settings files: the text with and without the guard's hook. Everything else in the text stays as it is.

use crate::HookCommand;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::{ParseOptions, errors::ParseError};
use serde_json::{Map, Value};
use std::fmt;

/// Where the guard's hook stands for one agent.
pub struct Settings {
    /// Its files, each with a hook of its own.
    pub files: &'static [SettingsFile],
    /// Where the hook stands for one project alone: the first of these files that is there, else the first.
    pub project: &'static [SettingsFile],
    /// What has to be true before the agent runs a project's hook; empty if nothing.
    pub project_needs: &'static str,
    /// Where an administrator puts the hook for everybody; `None` where no such place is known.
    pub managed: Option<&'static Managed>,
    /// Folders below the home folder that show that the agent is used here.
    pub folders: &'static [&'static str],
    /// Its programs, which show the same on the `PATH`.
    pub programs: &'static [&'static str],
    /// What a person has to know once the hook stands there; empty if nothing.
    pub afterwards: &'static str,
    /// Switches that turn hooks off: a file in the folder of the first file, a pattern of its text, what to do.
    pub switches: &'static [Switch],
    /// Whether the agent runs no hook in a folder that it does not trust.
    pub folder_trust: Option<&'static FolderTrust>,
    /// How the agent comes to trust the hook, if it has to.
    pub trust: Option<&'static crate::Trust>,
}

/// A switch of an agent that turns its hooks off.
#[derive(Debug, Clone, Copy)]
pub struct Switch {
    /// The file, in the folder of the agent's first settings file; empty where only a project's count.
    pub file: &'static str,
    /// Files of a project in which the same switch turns the user's hooks off too, each stronger than those before it.
    pub in_project: &'static [&'static str],
    /// Whether the file's text has hooks switched off; nothing where it says neither.
    pub is_off: fn(text: &str) -> Option<bool>,
    /// The switch, as a person finds it there.
    pub name: &'static str,
}

/// The folders that an agent trusts.
#[derive(Debug, Clone, Copy)]
pub struct FolderTrust {
    /// Files in the folder of the agent's first settings file.
    pub files: [&'static str; 2],
    /// Whether a folder is trusted, by the texts of these files, empty where there is none.
    pub is_trusted: fn(texts: [&str; 2], folder: &str) -> bool,
}

/// How an agent starts a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A program with its arguments.
    Exec(Vec<String>),
    /// A line for a shell.
    Shell(String),
}

impl Start {
    /// The guard's binary in it.
    pub fn program(&self) -> Option<String> {
        match self {
            Start::Exec(words) => words.first().cloned(),
            Start::Shell(line) => words(line).into_iter().find(|word| is_named(word, &OURS)),
        }
    }

    /// The public key that it names with `--key`.
    pub fn key(&self) -> Option<String> {
        let line = match self {
            Start::Exec(words) => words.join(" "),
            Start::Shell(line) => line.clone(),
        };
        let (_, rest) = line.split_once(" --key")?;
        let rest = rest.strip_prefix(['=', ' ']).unwrap_or(rest).trim_start_matches(['\'', '"']);
        Some(rest.chars().take_while(char::is_ascii_alphanumeric).collect())
    }
}

/// The guard's hooks in a text of the form `{"hooks": …}`, or in its plugin: the event, and how the agent starts it.
pub fn guard_hooks(text: &str) -> Vec<(String, Start)> {
    if let Some(hooks) = crate::opencode::guard_hooks(text) {
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

/// The lines that start a guard that came before this one: `arx hook …`, `vf hook …`.
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

/// The text without them, and without what is empty once they are gone.
///
/// # Errors
/// As that of [`SettingsFile::install`].
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

/// What a JSON text with comments stands for.
pub(crate) fn value(text: &str) -> Option<Value> {
    value_of(&CstRootNode::parse(text, &ParseOptions::default()).ok()?.value()?)
}

/// Whether a key at the top of a JSON object is true.
pub(crate) fn is_true(text: &str, key: &str) -> bool {
    flag(text, key) == Some(true)
}

/// The truth value at the top of a JSON object under this key.
pub(crate) fn flag(text: &str, key: &str) -> Option<bool> {
    value(text)?.get(key)?.as_bool()
}

/// One file of an agent in which the guard's hook stands.
#[derive(Clone, Copy)]
pub struct SettingsFile {
    /// The environment variable that names another folder.
    pub variable: Option<&'static str>,
    /// The folder without it, below the home folder.
    pub folder: &'static str,
    /// The file in that folder.
    pub name: &'static str,
    /// Whether the agent itself writes it, when it comes to trust the hook: `init` leaves it alone.
    pub by_agent: bool,
    /// The text with the hook that runs this command; text that has it already comes back unchanged.
    pub install: fn(text: &str, command: HookCommand<'_>) -> Result<String, SettingsError>,
    /// The text without any hook of ours; `None` if the file was ours alone and can go.
    pub remove: fn(text: &str) -> Result<Option<String>, SettingsError>,
}

impl SettingsFile {
    /// A file in a folder of a project, with the same hook in it.
    pub(crate) const fn in_project(self, folder: &'static str, name: &'static str) -> SettingsFile {
        SettingsFile { variable: None, folder, name, ..self }
    }
}

/// Where an administrator puts the hook for everybody on a machine.
#[derive(Debug, Clone, Copy)]
pub struct Managed {
    /// The file on Linux.
    pub file: &'static str,
    /// The file on macOS; empty where it is not known.
    pub on_macos: &'static str,
    /// Its text where it holds nothing else.
    pub text: fn(command: HookCommand<'_>) -> String,
    /// What an administrator should know about it.
    pub note: &'static str,
    /// Whether a text of this file keeps the agent from running hooks that stand elsewhere.
    pub shuts_out: fn(text: &str) -> bool,
}

/// The text of a file that holds the hook and nothing else.
pub(crate) fn alone(form: &HookFile, around: &str, command: HookCommand<'_>) -> String {
    let mut text = form.install(around, command).unwrap_or_default();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Why a settings text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsError {
    /// It is not JSON, with where that shows.
    NotJson(String),
    /// A part has another type than the agent documents.
    Shape(&'static str),
    /// It is somebody else's text, with why it cannot become ours.
    Foreign(&'static str),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::NotJson(problem) => write!(f, "it is not JSON: {problem}"),
            SettingsError::Shape(part) => write!(f, "`{part}` has not the type that the agent expects"),
            SettingsError::Foreign(problem) => write!(f, "{problem}"),
        }
    }
}

/// A file of the form `{"hooks": {EVENT: [ENTRY]}}`, which many agents share.
pub(crate) struct HookFile {
    /// The events before which the guard stands, in the agent's words.
    pub(crate) events: &'static [&'static str],
    /// The guard's handler for an event: a JSON object.
    pub(crate) handler: fn(command: HookCommand<'_>, event: &str) -> Value,
    /// Whether an entry is a group, `{"matcher": "*", "hooks": [HANDLER]}`, and not the handler itself.
    pub(crate) grouped: bool,
    /// Keys beside `hooks` that have to be there, with their numbers.
    pub(crate) beside: &'static [(&'static str, u32)],
    /// Whether the agent reads comments and trailing commas.
    pub(crate) comments: bool,
    /// Whether the file is made by the guard, so that it can go with the last hook.
    pub(crate) own: bool,
}

impl HookFile {
    /// The text with the guard's handlers. Text that has them already comes back unchanged.
    ///
    /// # Errors
    /// Text that the agent cannot read, or whose `hooks` are not what it documents.
    pub(crate) fn install(&self, text: &str, command: HookCommand<'_>) -> Result<String, SettingsError> {
        let root = self.parse(text)?;
        let settings = match root.value() {
            None => root.object_value_or_set(),
            Some(value) => value.as_object().ok_or(SettingsError::Shape("settings"))?,
        };
        if self.is_whole(&settings, command)? {
            return Ok(text.to_owned());
        }
        take_out(&settings, guarded(&settings)?);
        for (name, number) in self.beside {
            if settings.get(name).is_none() {
                settings.insert(0, name, CstInputValue::Number(number.to_string()));
            }
        }
        let hooks = settings.object_value_or_create("hooks").ok_or(SettingsError::Shape("hooks"))?;
        for event in self.events {
            let entries = hooks.array_value_or_create(event).ok_or(SettingsError::Shape("hooks.*"))?;
            entries.append(input(&self.entry(command, event)));
            entries.ensure_multiline();
        }
        Ok(root.to_string())
    }

    /// The text without the guard's handlers, and without what is empty once they are gone.
    ///
    /// # Errors
    /// As [`HookFile::install`].
    pub(crate) fn remove(&self, text: &str) -> Result<Option<String>, SettingsError> {
        let failed = |error: ParseError| SettingsError::NotJson(error.to_string());
        let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(failed)?;
        let Some(settings) = root.object_value() else { return Ok(Some(text.to_owned())) };
        take_out(&settings, guarded(&settings)?);
        let beside = |name: String| self.beside.iter().any(|(known, _)| *known == name);
        let nothing_left = names(&settings).into_iter().all(beside);
        Ok(if self.own && nothing_left { None } else { Some(root.to_string()) })
    }

    fn parse(&self, text: &str) -> Result<CstRootNode, SettingsError> {
        // An agent that reads JSON and nothing beyond it drops the whole file for a comment.
        if !self.comments && !text.trim().is_empty() {
            serde_json::from_str::<Value>(text).map_err(|problem| SettingsError::NotJson(problem.to_string()))?;
        }
        let failed = |error: ParseError| SettingsError::NotJson(error.to_string());
        CstRootNode::parse(text, &ParseOptions::default()).map_err(failed)
    }

    fn entry(&self, command: HookCommand<'_>, event: &str) -> Value {
        let handler = (self.handler)(command, event);
        if self.grouped { serde_json::json!({"matcher": "*", "hooks": [handler]}) } else { handler }
    }

    /// Whether exactly the guard's handlers stand there, or such as a person arranged otherwise and that guard as much.
    fn is_whole(&self, settings: &CstObject, command: HookCommand<'_>) -> Result<bool, SettingsError> {
        let found = guarded(settings)?;
        let is_for = |entry: &Entry, event: &str| {
            entry.event == event
                && (!self.grouped || sees_every_tool(&entry.object))
                && matches!(entry.guard.as_slice(), [handler] if guards_as_much(handler, &(self.handler)(command, event)))
        };
        let stands = |event: &&str| found.iter().filter(|entry| is_for(entry, event)).count() == 1;
        Ok(found.len() == self.events.len() && self.events.iter().all(stands))
    }
}

fn take_out(settings: &CstObject, found: Vec<Entry>) {
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

/// The entries in which the guard stands.
fn guarded(settings: &CstObject) -> Result<Vec<Entry>, SettingsError> {
    entries(settings, &OURS)
}

/// The entries with handlers that run a guard of one of these names.
fn entries(settings: &CstObject, names: &[&str]) -> Result<Vec<Entry>, SettingsError> {
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

/// The value of a key. Of one that stands twice every client takes the last.
fn last(object: &CstObject, key: &str) -> Option<jsonc_parser::cst::CstObjectProp> {
    let is_it = |property: &jsonc_parser::cst::CstObjectProp| {
        property.name().and_then(|name| name.decoded_value().ok()).as_deref() == Some(key)
    };
    object.properties().into_iter().rev().find(is_it)
}

/// One entry of an event's list, with the handlers in it that are the guard's.
struct Entry {
    event: String,
    list: CstArray,
    object: CstObject,
    guard: Vec<CstObject>,
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

/// Whether a handler is the wanted one, but for how long it may take and what is shown meanwhile.
fn guards_as_much(handler: &CstObject, wanted: &Value) -> bool {
    let Some(found) = value_of_object(handler) else { return false };
    let Value::Object(wanted) = wanted else { return false };
    let free = |name: &str| matches!(name, "timeout" | "timeoutSec" | "statusMessage" | "name" | "description");
    // Of what a person may choose the type stays: a client drops a handler with another.
    let fits = |name: &str, value: &Value| {
        found.get(name).is_none_or(|found| std::mem::discriminant(found) == std::mem::discriminant(value))
    };
    wanted.iter().filter(|(name, _)| free(name)).all(|(name, value)| fits(name, value))
        && wanted.iter().filter(|(name, _)| !free(name)).all(|(name, value)| found.get(name) == Some(value))
        && found.keys().all(|name| free(name) || wanted.contains_key(name))
}

/// Whether a handler runs a guard of one of these names: its own binary with its hook arguments, in exec form or in a
/// shell line.
fn is_guard(handler: &CstObject, names: &[&str]) -> bool {
    let Some(handler) = value_of_object(handler) else { return false };
    let text = |name: &str| handler.get(name).and_then(Value::as_str).unwrap_or("");
    let arguments = handler.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if !arguments.is_empty() {
        let program = [text("command"), text("exec")].into_iter().any(|program| is_named(program, names));
        return program && arguments.first().and_then(Value::as_str) == Some("hook");
    }
    ["command", "bash", "powershell", "commandWindows"].iter().any(|name| runs(text(name), names))
}

/// Whether a shell line runs the guard, at its beginning or behind a wrapper of a few known ones.
pub(crate) fn runs_guard(line: &str) -> bool {
    runs(line, &OURS)
}

fn runs(line: &str, names: &[&str]) -> bool {
    let words = words(line);
    if let [_, _, script, program, ..] = words.as_slice()
        && script.starts_with("\"$0\" hook ")
    {
        return is_named(program, names);
    }
    let is_hook = |pair: &[String]| matches!(pair, [program, word] if is_named(program, names) && word == "hook");
    let Some(at) = words.windows(2).position(is_hook) else { return false };
    let wraps = |word: &String| {
        matches!(word.as_str(), "timeout" | "exec" | "command" | "env" | "nice" | "&")
            || word.starts_with('-')
            || word.starts_with(|first: char| first.is_ascii_digit())
            || word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'))
    };
    words.iter().take(at).all(wraps)
}

/// The names of the guard.
const OURS: [&str; 2] = ["reflex", "rfx"];

/// The names of guards that came before it.
const OLDER: [&str; 2] = ["arx", "vf"];

fn is_named(program: &str, names: &[&str]) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or("");
    names.contains(&name.strip_suffix(".exe").unwrap_or(name))
}

/// The words of a shell line as far as quotes divide them.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => (quote, begun) = (Some(letter), true),
            (None, letter) if letter.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (_, letter) => {
                word.push(letter);
                begun = true;
            }
        }
    }
    words.extend(begun.then_some(word));
    words
}

/// A word that a POSIX shell reads as this text.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%".contains(letter);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { reflex_engine::shell::quoted(text) }
}

fn text_of(object: &CstObject, name: &str) -> Option<String> {
    object.get(name)?.value()?.as_string_lit()?.decoded_value().ok()
}

/// What a part of a text stands for, without its comments.
fn value_of(node: &CstNode) -> Option<Value> {
    if let Some(object) = node.as_object() {
        return value_of_object(&object).map(Value::Object);
    }
    if let Some(list) = node.as_array() {
        return list.elements().iter().map(value_of).collect::<Option<Vec<Value>>>().map(Value::Array);
    }
    if let Some(text) = node.as_string_lit() {
        return text.decoded_value().ok().map(Value::String);
    }
    serde_json::from_str(&node.to_string()).ok()
}

fn value_of_object(object: &CstObject) -> Option<Map<String, Value>> {
    let value = |property: &jsonc_parser::cst::CstObjectProp| {
        Some((property.name()?.decoded_value().ok()?, value_of(&property.value()?)?))
    };
    object.properties().iter().map(value).collect()
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(object) => {
            CstInputValue::Object(object.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// An event without entries, and `hooks` without events, are taken out too.
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

    fn install(text: &str, binary: &str) -> Result<String, SettingsError> {
        crate::claude::SETTINGS.install(text, HookCommand { binary, home: Some("/home/me"), key: None })
    }

    fn remove(text: &str) -> Result<String, SettingsError> {
        crate::claude::SETTINGS.remove(text).map(Option::unwrap_or_default)
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
        let installed = crate::gemini::SETTINGS.install(FOREIGN, HookCommand::shared("/x/reflex")).unwrap();
        assert!(installed.contains("// mine") && installed.contains("\"command\":\"other hook\""), "{installed}");
        let removed = remove(&installed).unwrap();
        assert!(removed.contains("other hook") && !removed.contains("reflex"), "{removed}");
    }

    #[test]
    fn of_hooks_that_stand_twice_the_last_count() {
        let once = install("{}", "/x/reflex").unwrap();
        assert_eq!(guard_hooks(&once).len(), 4);
        let twice = once.trim_end().strip_suffix('}').unwrap().trim_end().to_owned() + ",\n  \"hooks\": {}\n}\n";
        assert_eq!(guard_hooks(&twice), []);
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

    #[test]
    fn a_shell_line_runs_the_guard_or_does_not() {
        for (line, ours) in [
            ("/x/reflex hook --agent codex", true),
            ("'/home me/reflex' hook", true),
            ("timeout 8 reflex hook --agent copilot", true),
            ("X=1 exec \"/a b/rfx\" hook || { exit 2; }", true),
            ("/bin/sh -c '\"$0\" hook --agent codex || exit 2' '/a b/reflex'", true),
            ("/bin/sh -c '\"$0\" hook --agent codex --home \"$1\" || exit 2' /a/reflex '/home/a b'", true),
            ("/bin/sh -c '\"$0\" hook --agent codex || exit 2' /a/other", false),
            ("echo reflex hook", false),
            ("/opt/reflexology hook", false),
            ("reflex status", false),
            ("cat reflex; true", false),
        ] {
            assert_eq!(runs_guard(line), ours, "{line}");
        }
    }

    #[test]
    fn what_is_quoted_is_one_word() {
        for text in ["/x/reflex", "/home me/reflex", "a'b", "$(x)", ""] {
            assert_eq!(words(&format!("{} hook", quoted(text).replace("'\\''", "'\"'\"'"))), [text, "hook"], "{text}");
        }
    }
}
