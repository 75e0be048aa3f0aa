//! A client that runs another client's hooks with its own payload format: recognized by that format, and answered so
//! that it honors a refusal.
//!
//! VS Code reads the hook files of Claude Code and Copilot CLI, and other clients adopt the same files. None of them
//! was observed to honor anything but a refusal.

use super::{claude, copilot};
use crate::form::answers;
use crate::form::arguments::{WRAPPERS, has_call, input, written};
use crate::json::{BadEvent, optional};
use crate::model::abilities::{HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use crate::tools;
use reflex_engine::{Action, Decision, Event, Moment, Outcome, Verdict};
use serde_json::{Map, Value, json};

/// The adapter for unlisted clients. It is not part of `AGENTS`, as a user cannot select it.
pub const AGENT: Agent = Agent {
    name: "stranger",
    aliases: &[],
    title: "another client",
    project_variable: None,
    is_caller,
    runs_hooks_of: &["claude", "copilot"],
    read,
    moment: |word| moment(word).unwrap_or(Moment::BeforeTool),
    says: &CAPABILITIES,
    write,
    refuse,
    settings: None,
    limits: &[],
};

const CAPABILITIES: [Line; 2] = [
    Line::new(Moment::BeforeTool, HookCapabilities::DENY, "the clients' documents: exit status 2 and their own JSON"),
    Line::new(Moment::PermissionRequest, HookCapabilities::DENY, "as before a tool"),
];

/// Keys under which clients send the event, the tool, its arguments and so on; the first present key counts.
const WORDS: [&str; 4] = ["hookEventName", "hook_event_name", "hookName", "event"];
const TOOLS: [&str; 5] = ["tool_name", "toolName", "tool", "name", "functionName"];
const FOLDERS: [&str; 6] = ["cwd", "working_dir", "workingDirectory", "workspaceRoot", "workspace_root", "workdir"];
const ROOTS: [&str; 3] = ["workspacePaths", "workspaceRoots", "workspace_roots"];
const SESSIONS: [&str; 5] = ["session_id", "sessionId", "conversationId", "conversation_id", "taskId"];
const CALLS: [&str; 5] = ["tool_use_id", "toolUseId", "tool_call_id", "toolCallId", "callId"];
const OUTPUTS: [&str; 6] = ["tool_response", "toolResponse", "tool_result", "toolResult", "output", "result"];

/// Payload formats, each recognized by a key that no other format has: the client's name and a predicate.
type Recogniser = (&'static str, fn(&Map<String, Value>) -> bool);

const FORMS: [Recogniser; 4] = [
    ("cline", |fields| ["clineVersion", "preToolUse", "postToolUse"].iter().any(|key| fields.contains_key(*key))),
    ("antigravity", |fields| fields.get("toolCall").is_some_and(Value::is_object)),
    ("vscode", |fields| fields.contains_key("hookEventName") && !fields.contains_key("hook_event_name")),
    // Goose and Crush. A payload with Claude Code's event name in `event` is not a universal event.
    ("other", |fields| {
        let event = fields.get("event").and_then(Value::as_str).unwrap_or("");
        fields.contains_key("tool_name") && claude::EVENTS.iter().any(|(word, _)| *word == event)
    }),
];

fn is_caller(payload: &Payload<'_>) -> bool {
    client(payload.fields).is_some()
}

fn client(fields: &Map<String, Value>) -> Option<&'static str> {
    FORMS.iter().find(|(_, fits)| fits(fields)).map(|(name, _)| *name)
}

/// Returns the moment of an event name, ignoring case and punctuation.
fn moment(word: &str) -> Option<Moment> {
    let plain =
        |word: &str| -> String { word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase() };
    let words = claude::EVENTS.iter().chain(&copilot::EVENTS);
    let known = words.clone().find(|(known, _)| plain(known) == plain(word)).map(|(_, moment)| *moment);
    known.or(match plain(word).as_str() {
        "beforetool" | "pretool" | "pretoolcall" => Some(Moment::BeforeTool),
        "aftertool" | "posttool" | "posttoolcall" => Some(Moment::AfterTool),
        _ => None,
    })
}

fn first<'f>(fields: &'f Map<String, Value>, keys: &[&str]) -> Result<Option<&'f str>, BadEvent> {
    for key in keys {
        if let Some(text) = optional(fields, key)? {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

fn read(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    let Payload { fields, event_name, .. } = *payload;
    let word = first(fields, &WORDS)?.or(event_name).unwrap_or("");
    let known = moment(word).or_else(|| event_name.and_then(moment)).or_else(|| by_wrapper(fields));
    let moment = known.unwrap_or(if has_call(fields) { Moment::BeforeTool } else { Moment::Other });
    event(fields, word, moment).map_err(|problem| BadEvent { moment: Some(moment), ..problem })
}

/// Returns the moment from the key that holds the call, as Cline sends it.
fn by_wrapper(fields: &Map<String, Value>) -> Option<Moment> {
    let moments = [("preToolUse", Moment::BeforeTool), ("postToolUse", Moment::AfterTool)];
    moments.iter().find(|(key, _)| fields.contains_key(*key)).map(|(_, moment)| *moment)
}

fn event(fields: &Map<String, Value>, word: &str, moment: Moment) -> Result<Event, BadEvent> {
    let call = WRAPPERS.iter().find_map(|key| fields.get(*key)?.as_object()).unwrap_or(fields);
    let root = || ROOTS.iter().find_map(|key| fields.get(*key)?.as_array()?.first()?.as_str());
    let mut event = Event {
        session: first(fields, &SESSIONS)?.unwrap_or("").into(),
        client: client(fields).unwrap_or(AGENT.name).into(),
        word: word.into(),
        mode: optional(fields, "permission_mode")?.map(str::to_owned),
        cwd: first(fields, &FOLDERS)?.or_else(root).unwrap_or("").into(),
        moment,
        tool: first(call, &TOOLS)?.unwrap_or("").into(),
        call: first(fields, &CALLS)?.unwrap_or("").into(),
        ..Event::default()
    };
    match moment {
        Moment::BeforeTool | Moment::PermissionRequest => event.actions = vec![action(&event.tool, call)?],
        Moment::AfterTool => {
            event.actions = action(&event.tool, call).map(|action| vec![action]).unwrap_or_default();
            let output = OUTPUTS.iter().find_map(|key| call.get(*key).or(fields.get(*key)));
            let output = output.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            event.outcome = Some(Outcome { output: output.unwrap_or_default(), ..Outcome::default() });
        }
        Moment::Prompt => {
            let text = first(fields, &["prompt", "user_prompt", "userPrompt"])?.unwrap_or("");
            event.actions = vec![Action::Prompt { text: text.into() }];
        }
        Moment::SessionStart
        | Moment::SessionEnd
        | Moment::Stop
        | Moment::Subagent
        | Moment::SettingsChange
        | Moment::Other => {}
    }
    Ok(event)
}

/// Returns the action of a tool call. The tools have no table, so the action is derived from the tool's name and
/// arguments.
fn action(tool: &str, call: &Map<String, Value>) -> Result<Action, BadEvent> {
    if tool.is_empty() {
        return Err(BadEvent::new("tool_name", "is missing"));
    }
    let input = input(call).ok_or_else(|| BadEvent::new("tool_input", "is missing"))?;
    let written = written(input);
    match input.as_object().or(written.as_ref()) {
        Some(input) => Ok(tools::mcp_named(tool, input).unwrap_or_else(|| tools::other(input))),
        None => Ok(Action::Other { arguments: input.to_string() }),
    }
}

fn write(event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    let (decision, reason) = delivery.reply();
    match decision {
        Decision::Deny if event.moment.is_before_execution() => answer(&event.client, reason),
        Decision::Deny | Decision::Ask | Decision::Pass => Reply::default(),
    }
}

/// Returns the refusal in the client's own dialect, if its documentation defines one.
fn answer(client: &str, reason: &str) -> Reply {
    let refusal = match client {
        "vscode" => answers::decided("deny", reason),
        "antigravity" => json!({"decision": "deny", "reason": reason}),
        "cline" => json!({"cancel": true, "errorMessage": reason}),
        _ => for_all(reason),
    };
    answers::refused_with(&refusal, reason)
}

/// Returns one object that as many clients as possible take for a refusal. A client that rejects unknown keys honors
/// the exit status and standard error.
fn for_all(reason: &str) -> Value {
    let mut all = answers::decided("deny", reason);
    let flat = json!({
        "decision": "block", "reason": reason, "permission": "deny", "user_message": reason, "agent_message": reason,
        "permissionDecision": "deny", "permissionDecisionReason": reason, "behavior": "deny", "message": reason,
        "cancel": true, "errorMessage": reason,
    });
    if let (Some(all), Value::Object(flat)) = (all.as_object_mut(), flat) {
        all.extend(flat);
    }
    all
}

fn refuse(_word: &str, moment: Moment, reason: &str) -> Reply {
    match moment {
        Moment::BeforeTool | Moment::PermissionRequest | Moment::Prompt => {
            answers::refused_with(&for_all(reason), reason)
        }
        Moment::AfterTool
        | Moment::SessionStart
        | Moment::SessionEnd
        | Moment::Stop
        | Moment::Subagent
        | Moment::SettingsChange
        | Moment::Other => Reply::default(),
    }
}
