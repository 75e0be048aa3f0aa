//! Agents' tools in agent-independent terms: a table maps a tool's name to its action and the arguments that describe
//! it.

use crate::json::{BadEvent, optional, required, texts};
use reflex_engine::shell::Language;
use reflex_engine::shell::patch::{self, FileChange, Part};
use reflex_engine::{Action, AgentPath};
use serde_json::{Map, Value};

/// The names of an argument across versions; the first present one counts.
pub(crate) type Field = &'static [&'static str];

/// The action of a tool, with the names of its relevant arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tool {
    /// Runs a command.
    Shell { command: Field, language: Language },
    /// Reads one or more files.
    Read { path: Field },
    /// Writes an entire file.
    Write { path: Field, content: Field },
    /// Changes a part of a file. The content may also be in the entries of a list `edits`.
    Edit { path: Field, content: Field },
    /// Deletes a file.
    Delete { path: Field },
    /// Searches below a folder, by default the working directory.
    Search { path: Field },
    /// Fetches a URL.
    Fetch { url: Field },
    /// Starts another agent.
    Spawn { prompt: Field },
    /// Uses a skill.
    Skill { name: Field },
    /// Types into a running program.
    Input { text: Field },
}

/// Returns the actions of a call to the tool of this name; `None` if the table does not contain it.
///
/// # Errors
/// Returns an error that names `tool_input.FIELD` if an argument is missing or has the wrong type.
pub(crate) fn known(
    table: &[(&str, Tool)],
    name: &str,
    input: &Map<String, Value>,
) -> Result<Option<Vec<Action>>, BadEvent> {
    let Some((_, tool)) = table.iter().find(|(known, _)| *known == name) else { return Ok(None) };
    actions(*tool, input).map(Some).map_err(|problem| inside(&problem))
}

fn actions(tool: Tool, input: &Map<String, Value>) -> Result<Vec<Action>, BadEvent> {
    let one = |action: Action| Ok(vec![action]);
    match tool {
        Tool::Shell { command, language } => one(Action::Shell { command: needed(input, command)?, language }),
        Tool::Read { path } => paths(input, path, |path| Action::Read { path }),
        Tool::Delete { path } => paths(input, path, |path| Action::Delete { path }),
        Tool::Write { path, content } => {
            one(Action::Write { path: AgentPath::new(needed(input, path)?), content: needed(input, content)? })
        }
        Tool::Edit { path, content } => {
            let path = AgentPath::new(needed(input, path)?);
            one(Action::Edit {
                path,
                content: edited(input, content)?,
                removed: removed_text(input),
                parts: parts(input, content),
            })
        }
        Tool::Search { path } => one(Action::Search {
            path: AgentPath::new(or_empty(input, path)?),
            arguments: Value::Object(input.clone()).to_string(),
        }),
        Tool::Fetch { url } => one(Action::Fetch { url: needed(input, url)? }),
        Tool::Spawn { prompt } => one(Action::SpawnAgent { prompt: or_empty(input, prompt)? }),
        Tool::Skill { name } => one(Action::Skill { name: or_empty(input, name)? }),
        Tool::Input { text } => one(Action::Input { text: or_empty(input, text)? }),
    }
}

/// Returns a call to an MCP server's tool.
pub(crate) fn mcp(server: &str, tool: &str, input: &Map<String, Value>) -> Action {
    Action::McpCall { server: server.into(), tool: tool.into(), arguments: Value::Object(input.clone()).to_string() }
}

/// Parses a tool name of the form `mcp__SERVER__TOOL`, which many agents use.
pub(crate) fn mcp_named(name: &str, input: &Map<String, Value>) -> Option<Action> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    Some(mcp(server, tool, input))
}

/// Returns the action of an unknown tool.
pub(crate) fn other(input: &Map<String, Value>) -> Action {
    Action::Other { arguments: Value::Object(input.clone()).to_string() }
}

/// Returns the file operations of a patch.
///
/// # Errors
/// Returns an error if the text names no file, as another parser might read it differently.
pub(crate) fn patched(text: &str) -> Result<Vec<Action>, BadEvent> {
    let actions: Vec<Action> = patch::changes(text).into_iter().flat_map(changed).collect();
    if actions.is_empty() { Err(BadEvent::new("tool_input", "is not a valid patch")) } else { Ok(actions) }
}

/// Returns the actions of one change. A moved file is an edit of the source and a write of the destination.
fn changed(change: FileChange) -> Vec<Action> {
    let path = AgentPath::new;
    match change {
        FileChange::Add { path: file, content } => vec![Action::Write { path: path(file), content }],
        FileChange::Delete { path: file } => vec![Action::Delete { path: path(file) }],
        FileChange::Update { path: file, added, parts, moved } => {
            let removed = parts.iter().map(|part| part.removed.as_str()).collect();
            let edit = Action::Edit { path: path(file), content: added.clone(), removed, parts };
            let written = moved.map(|to| Action::Write { path: path(to), content: added });
            [edit].into_iter().chain(written).collect()
        }
    }
}

/// Prefixes an argument's error with `tool_input`, the key that most agents use for the arguments.
pub(crate) fn inside(problem: &BadEvent) -> BadEvent {
    BadEvent::new(&format!("tool_input.{}", problem.field), problem.problem.clone())
}

fn paths(
    input: &Map<String, Value>,
    field: Field,
    action: impl Fn(AgentPath) -> Action,
) -> Result<Vec<Action>, BadEvent> {
    let Some(name) = present_name(input, field) else { return Err(missing(field)) };
    Ok(texts(input, name)?.into_iter().map(|path| action(AgentPath::new(path))).collect())
}

fn edited(input: &Map<String, Value>, field: Field) -> Result<String, BadEvent> {
    if present_name(input, field).is_some() {
        return needed(input, field);
    }
    let Some(Value::Array(edits)) = input.get("edits") else { return Ok(String::new()) };
    let new = |edit: &Value| field.iter().find_map(|name| edit.get(name)?.as_str().map(str::to_owned));
    Ok(edits.iter().filter_map(new).collect::<Vec<_>>().join("\n"))
}

/// Returns the entries of a list `edits`, each with its removed and its new text.
fn parts(input: &Map<String, Value>, field: Field) -> Vec<Part> {
    let edits = input.get("edits").and_then(Value::as_array).into_iter().flatten();
    let text = |edit: &Value, field: Field| field.iter().find_map(|name| edit.get(*name)?.as_str().map(str::to_owned));
    let part = |edit: &Value| {
        let [removed, content] = [REMOVED, field].map(|field| text(edit, field).unwrap_or_default());
        Part { context: String::new(), removed, content }
    };
    edits.map(part).collect()
}

/// Argument names for the text that an edit removes.
const REMOVED: Field = &["old_string", "old_str", "oldString", "old_source"];

/// Returns the text that an edit removes. It is optional: without it, all new content counts as added.
fn removed_text(input: &Map<String, Value>) -> String {
    let old = |edit: &Map<String, Value>| REMOVED.iter().find_map(|name| edit.get(*name)?.as_str().map(str::to_owned));
    let edits = input.get("edits").and_then(Value::as_array).into_iter().flatten();
    let parts: Vec<String> = old(input).into_iter().chain(edits.filter_map(|edit| old(edit.as_object()?))).collect();
    parts.join("\n")
}

fn present_name(input: &Map<String, Value>, field: Field) -> Option<&'static str> {
    field.iter().find(|name| input.get(**name).is_some_and(|value| !value.is_null())).copied()
}

fn missing(field: Field) -> BadEvent {
    BadEvent::new(field.first().unwrap_or(&""), "is missing")
}

fn needed(input: &Map<String, Value>, field: Field) -> Result<String, BadEvent> {
    let name = present_name(input, field).ok_or_else(|| missing(field))?;
    required(input, name).map(str::to_owned)
}

fn or_empty(input: &Map<String, Value>, field: Field) -> Result<String, BadEvent> {
    match present_name(input, field) {
        Some(name) => Ok(optional(input, name)?.unwrap_or("").to_owned()),
        None => Ok(String::new()),
    }
}
