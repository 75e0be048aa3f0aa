//! Events for rules that people write: a call raises named events, each with fields.

use crate::facts::cache::Facts;
use crate::model::analysis::Analysis;
use crate::model::effect::EffectKind;
use crate::model::event::{Action, AgentPath, Event, Moment};
use reflex_shell::ExecTarget;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Names of the events that rules can refer to. `any` matches all of them.
pub const RULE_EVENTS: [&str; 10] = [
    "bash_command",
    "file_write",
    "file_edit",
    "file_delete",
    "prompt_submit",
    "session_start",
    "session_stop",
    "tool_call",
    "post_tool",
    "any",
];

/// Fields that a rule can refer to. `tool_input.NAME` and `NAME.NAME` access nested values.
pub const RULE_FIELDS: [&str; 19] = [
    "command",
    "file_path",
    "content",
    "added",
    "prompt",
    "user_prompt",
    "output",
    "exit_code",
    "tool_name",
    "tool_input",
    "url",
    "cwd",
    "workspace",
    "agent",
    "user",
    "event",
    "git.branch",
    "git.dirty",
    "deletes",
];

/// Maximum number of events per call. Further files of a command are only covered by rules over effects.
const MAX_RAISED: usize = 256;

/// An event as rules see it.
#[derive(Debug)]
pub struct RuleEvent<'a> {
    /// Names under which rules can refer to it.
    pub events: Vec<&'static str>,
    /// Index of its action in the call.
    pub action: Option<usize>,
    /// Index of its effect in the analysis, if a command causes it.
    pub effect: Option<usize>,
    fields: Fields<'a>,
}

#[derive(Debug)]
enum Fields<'a> {
    /// Fields of a call: texts by name, and the tool's own arguments as JSON.
    Call {
        texts: Vec<(&'static str, Cow<'a, str>)>,
        arguments: Option<&'a str>,
        /// Whether the written content is not part of the call.
        hides_content: bool,
    },
    /// Fields given by the caller.
    Named(&'a Map<String, Value>),
}

/// Value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// A text, empty for a field that does not exist.
    Text(String),
    /// A value that is unknown before the call runs.
    Unknown,
}

impl<'a> RuleEvent<'a> {
    /// Creates an event from fields given by the caller. `event` must be one of [`RULE_EVENTS`] to be found by its
    /// name.
    pub fn from_fields(event: &str, fields: &'a Map<String, Value>) -> RuleEvent<'a> {
        let known = RULE_EVENTS.iter().find(|name| **name == event).copied();
        RuleEvent { events: known.into_iter().collect(), action: Some(0), effect: None, fields: Fields::Named(fields) }
    }

    /// The lines that a write or an edit adds, without those of the replaced text.
    fn added(&self, facts: &Facts<'_>) -> String {
        let Some(action) = self.action.and_then(|index| facts.event.actions.get(index)) else { return String::new() };
        action.content().map(|content| lines_beside(content, &facts.user().replaced(action))).unwrap_or_default()
    }

    /// Returns the value of a field.
    pub fn field(&self, name: &str, facts: &Facts<'_>) -> FieldValue {
        match name {
            "git.branch" => return facts.git().branch().map_or(FieldValue::Unknown, FieldValue::Text),
            "git.dirty" => {
                return facts.git().is_dirty().map_or(FieldValue::Unknown, |dirty| FieldValue::Text(dirty.to_string()));
            }
            "deletes" if matches!(self.fields, Fields::Call { .. }) => {
                return FieldValue::Text(facts.user().deletes().to_string());
            }
            _ => {}
        }
        let is_call = matches!(self.fields, Fields::Call { .. });
        if let Some(variable) = name.strip_prefix("env.").filter(|_| is_call) {
            return FieldValue::Text(facts.call.world.variable(variable).unwrap_or_default());
        }
        match &self.fields {
            Fields::Named(map) if name == "added" && !map.contains_key(name) => {
                FieldValue::Text(reached(map, "content"))
            }
            Fields::Named(map) => FieldValue::Text(reached(map, name)),
            Fields::Call { hides_content: true, .. } if name == "content" || name == "added" => FieldValue::Unknown,
            Fields::Call { .. } if name == "added" => FieldValue::Text(self.added(facts)),
            Fields::Call { texts, arguments, .. } => {
                let name = if name == "user_prompt" { "prompt" } else { name };
                if let Some((_, text)) = texts.iter().find(|(known, _)| *known == name) {
                    return FieldValue::Text(text.as_ref().to_owned());
                }
                FieldValue::Text(match name.strip_prefix("tool_input") {
                    Some("") => arguments.map_or_else(|| as_json(texts), str::to_owned),
                    Some(path) => in_arguments(path.trim_start_matches('.'), texts, *arguments),
                    None => String::new(),
                })
            }
        }
    }
}

/// The lines of a text that do not occur in another one.
fn lines_beside(text: &str, other: &str) -> String {
    let stood: BTreeSet<&str> = other.lines().map(str::trim_end).collect();
    let new = text.lines().filter(|line| !stood.contains(line.trim_end()));
    new.flat_map(|line| [line, "\n"]).collect()
}

/// The arguments of a tool that every agent has, as JSON.
fn as_json(texts: &[(&'static str, Cow<'_, str>)]) -> String {
    let found = texts.iter().filter(|(name, _)| is_argument(name));
    let map: Map<String, Value> = found.map(|(name, text)| ((*name).to_owned(), text.as_ref().into())).collect();
    Value::Object(map).to_string()
}

fn is_argument(name: &str) -> bool {
    ["command", "file_path", "content", "prompt", "url"].contains(&name)
}

fn in_arguments(path: &str, texts: &[(&'static str, Cow<'_, str>)], arguments: Option<&str>) -> String {
    if let Some(arguments) = arguments {
        let parsed = serde_json::from_str::<Map<String, Value>>(arguments).unwrap_or_default();
        return reached(&parsed, path);
    }
    let path = if path == "new_string" { "content" } else { path };
    let found = texts.iter().find(|(name, _)| *name == path && is_argument(name));
    found.map_or(String::new(), |(_, text)| text.as_ref().to_owned())
}

/// The value at `a.b.0` in a map, as text. Lists are joined by commas.
fn reached(map: &Map<String, Value>, path: &str) -> String {
    if let Some(value) = map.get(path) {
        return shown(value);
    }
    let mut parts = path.split('.');
    let mut at = parts.next().and_then(|first| map.get(first));
    for part in parts {
        at = match at {
            Some(Value::Object(inner)) => inner.get(part),
            Some(Value::Array(items)) => part.parse().ok().and_then(|index: usize| items.get(index)),
            _ => None,
        };
    }
    at.map_or(String::new(), shown)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(","),
    }
}

/// Events of a call: one per action, and one per file that a command would write or delete.
pub(crate) fn rule_events<'a>(event: &'a Event, analysis: &'a Analysis, facts: &Facts<'a>) -> Vec<RuleEvent<'a>> {
    let mut raised: Vec<RuleEvent<'a>> = Vec::new();
    for (index, action) in event.actions.iter().enumerate() {
        raised.push(of_action(event, index, action, facts));
    }
    if event.actions.is_empty() {
        let names: &[&'static str] = match event.moment {
            Moment::SessionStart => &["session_start", "any"],
            Moment::SessionEnd | Moment::Stop => &["session_stop", "any"],
            Moment::AfterTool => &["post_tool", "any"],
            Moment::BeforeTool
            | Moment::PermissionRequest
            | Moment::Prompt
            | Moment::Subagent
            | Moment::SettingsChange
            | Moment::Other => &["any"],
        };
        raised.push(with_fields(event, names.to_vec(), Vec::new()));
    }
    if event.moment.is_before_execution() {
        for (index, _) in analysis.effects.iter().enumerate().filter(|(_, effect)| effect.command.is_some()) {
            let room = MAX_RAISED.saturating_sub(raised.len());
            raised.extend(of_effect(event, index, facts).into_iter().take(room));
        }
    }
    raised
}

fn of_action<'a>(event: &'a Event, index: usize, action: &'a Action, facts: &Facts<'_>) -> RuleEvent<'a> {
    let path = |path: &'a AgentPath| ("file_path", Cow::from(path.with_slashes()));
    let text = |name: &'static str, text: &'a str| (name, Cow::from(text));
    let (name, texts): (&[&'static str], Vec<(&'static str, Cow<'a, str>)>) = match action {
        Action::Shell { command, .. } => (&["bash_command"], vec![text("command", command)]),
        Action::Write { path: file, content } => {
            // Replacing a file raises both events, so that rules on either apply.
            let names: &[&'static str] =
                if facts.call.is_missing(file) { &["file_write"] } else { &["file_write", "file_edit"] };
            (names, vec![path(file), text("content", content)])
        }
        Action::Edit { path: file, content, .. } => (&["file_edit"], vec![path(file), text("content", content)]),
        Action::Delete { path: file } => (&["file_delete"], vec![path(file)]),
        Action::Read { path: file } | Action::Search { path: file, .. } => (&[], vec![path(file)]),
        Action::Fetch { url } => (&[], vec![text("url", url)]),
        Action::Prompt { text: prompt } => (&["prompt_submit"], vec![text("prompt", prompt)]),
        Action::SpawnAgent { prompt } => (&[], vec![text("prompt", prompt)]),
        Action::Skill { name } => (&[], vec![text("content", name)]),
        Action::Input { text: typed } => (&[], vec![text("content", typed)]),
        Action::McpCall { .. } | Action::Other { .. } => (&[], Vec::new()),
    };
    let mut events = match event.moment {
        Moment::AfterTool => vec!["post_tool"],
        Moment::BeforeTool | Moment::PermissionRequest => [name, &["tool_call"]].concat(),
        Moment::Prompt
        | Moment::SessionStart
        | Moment::SessionEnd
        | Moment::Stop
        | Moment::Subagent
        | Moment::SettingsChange
        | Moment::Other => name.to_vec(),
    };
    events.push("any");
    let mut raised = with_fields(event, events, texts);
    raised.action = Some(index);
    if let (
        Action::McpCall { arguments: written, .. } | Action::Other { arguments: written },
        Fields::Call { arguments, .. },
    ) = (action, &mut raised.fields)
    {
        *arguments = Some(written);
    }
    raised
}

fn with_fields<'a>(
    event: &'a Event,
    events: Vec<&'static str>,
    mut texts: Vec<(&'static str, Cow<'a, str>)>,
) -> RuleEvent<'a> {
    let user = event.home.rsplit('/').next().unwrap_or("");
    let named = events.first().copied().unwrap_or("any");
    texts.extend([
        ("event", Cow::from(named)),
        ("tool_name", Cow::from(event.tool.as_str())),
        ("cwd", Cow::from(event.cwd.as_str())),
        ("workspace", Cow::from(event.workspace.as_str())),
        ("agent", Cow::from(event.role.as_deref().unwrap_or(&event.client))),
        ("user", Cow::from(user)),
    ]);
    if let Some(outcome) = &event.outcome {
        texts.push(("output", Cow::from(outcome.output.as_str())));
        texts.extend(outcome.exit_code.map(|code| ("exit_code", Cow::from(code.to_string()))));
    }
    RuleEvent {
        events,
        action: None,
        effect: None,
        fields: Fields::Call { texts, arguments: None, hides_content: false },
    }
}

/// Events for the files that a local command would write or delete. A glob is expanded to the files it matches, if they
/// are known.
fn of_effect<'a>(event: &'a Event, index: usize, facts: &Facts<'a>) -> Vec<RuleEvent<'a>> {
    let Some(effect) = facts.analysis.effects.get(index).filter(|effect| effect.site == ExecTarget::Here) else {
        return Vec::new();
    };
    let Some(names) = kind(effect.kind) else { return Vec::new() };
    let of_path = |path: Cow<'a, str>| {
        let mut raised = with_fields(event, names.to_vec(), vec![("file_path", path)]);
        (raised.action, raised.effect) = (Some(effect.action), Some(index));
        if let (Some(Action::Shell { command, .. }), Fields::Call { texts, hides_content, .. }) =
            (event.actions.get(effect.action), &mut raised.fields)
        {
            texts.push(("command", Cow::from(command.as_str())));
            *hides_content = true;
        }
        raised
    };
    let mut all = Vec::new();
    for target in &effect.targets {
        let Some(path) = target.path() else { continue };
        // An existing file only gets a different time.
        if effect.kind == EffectKind::SetTimes && facts.call.exists(path) != Some(false) {
            continue;
        }
        match facts.user().found_by(effect, target).filter(|found| !found.is_empty()) {
            Some(found) => all.extend(found.into_iter().take(MAX_RAISED).map(|path| of_path(path.into()))),
            None => all.push(of_path(path.into())),
        }
    }
    all
}

/// Event names for the effect of a command.
fn kind(kind: EffectKind) -> Option<&'static [&'static str]> {
    let named: [(&[EffectKind], &'static [&'static str]); 4] = [
        (&[EffectKind::Delete, EffectKind::Move, EffectKind::DiscardUntracked], &["file_delete"]),
        (&[EffectKind::Overwrite], &["file_write", "file_edit"]),
        (&[EffectKind::Link, EffectKind::SetTimes], &["file_write"]),
        (&[EffectKind::Append, EffectKind::Edit, EffectKind::Truncate, EffectKind::DiscardChanges], &["file_edit"]),
    ];
    named.into_iter().find(|(kinds, _)| kinds.contains(&kind)).map(|(_, names)| names)
}
