//! Claude Code: its hook payloads and answers, as the client 2.1.329 was seen to send and honour them.

use crate::json::{BadEvent, object, optional, required};
use crate::{Abilities, Agent, Ask, Delivery, Reply};
use reflex_engine::shell::Language;
use reflex_engine::{Action, AgentPath, Decision, Event, Moment, Outcome, Verdict};
use serde_json::{Map, Value, json};

/// The adapter.
pub const AGENT: Agent = Agent {
    name: "claude",
    aliases: &["claude-code"],
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    read,
    moment,
    abilities,
    write,
    refuse,
};

/// Its words for events.
pub const EVENTS: [(&str, Moment); 33] = [
    ("PreToolUse", Moment::BeforeTool),
    ("PostToolUse", Moment::AfterTool),
    ("PostToolUseFailure", Moment::AfterTool),
    ("PostToolBatch", Moment::AfterTool),
    ("PermissionRequest", Moment::PermissionRequest),
    ("PermissionDenied", Moment::Other),
    ("UserPromptSubmit", Moment::Prompt),
    ("UserPromptExpansion", Moment::Other),
    ("SessionStart", Moment::SessionStart),
    ("SessionEnd", Moment::SessionEnd),
    ("Stop", Moment::Stop),
    ("StopFailure", Moment::Other),
    ("SubagentStart", Moment::Subagent),
    ("SubagentStop", Moment::Subagent),
    ("PreCompact", Moment::Other),
    ("PostCompact", Moment::Other),
    ("PreModelSwitch", Moment::Other),
    ("PostModelSwitch", Moment::Other),
    ("Setup", Moment::Other),
    ("Notification", Moment::Other),
    ("TeammateIdle", Moment::Other),
    ("TaskCreated", Moment::Other),
    ("TaskCompleted", Moment::Other),
    ("Elicitation", Moment::Other),
    ("ElicitationResult", Moment::Other),
    ("ConfigChange", Moment::Other),
    ("InstructionsLoaded", Moment::Other),
    ("WorktreeCreate", Moment::Other),
    ("WorktreeRemove", Moment::Other),
    ("CwdChanged", Moment::Other),
    ("FileChanged", Moment::Other),
    ("DirectoryAdded", Moment::Other),
    ("MessageDisplay", Moment::Other),
];

fn known_moment(event: &str) -> Option<Moment> {
    EVENTS.iter().find(|(name, _)| *name == event).map(|(_, moment)| *moment)
}

/// An event that is not known may be one that comes before a tool.
fn moment(event: &str) -> Moment {
    known_moment(event).unwrap_or(Moment::BeforeTool)
}

fn abilities(moment: Moment) -> Abilities {
    match moment {
        Moment::BeforeTool => Abilities { deny: true, ask: Ask::Native, advise: true, rewrite: false },
        // A person is being asked already.
        Moment::PermissionRequest => Abilities { deny: true, ask: Ask::Native, advise: false, rewrite: false },
        Moment::Prompt => Abilities { deny: true, ask: Ask::Never, advise: true, rewrite: false },
        Moment::AfterTool => Abilities { deny: false, ask: Ask::Never, advise: true, rewrite: false },
        Moment::SessionStart => Abilities { deny: false, ask: Ask::Never, advise: true, rewrite: false },
        Moment::SessionEnd | Moment::Stop | Moment::Subagent | Moment::Other => {
            Abilities { deny: false, ask: Ask::Never, advise: false, rewrite: false }
        }
    }
}

fn read(bytes: &[u8], told: Option<&str>) -> Result<Event, BadEvent> {
    let payload = object(bytes)?;
    let named = optional(&payload, "hook_event_name")?.or(told);
    let named = named.ok_or_else(|| BadEvent::of("hook_event_name", "is missing"))?;
    let has_call = payload.contains_key("tool_name") || payload.contains_key("tool_input");
    let known = known_moment(named).or_else(|| told.and_then(known_moment));
    let moment = known.unwrap_or(if has_call { Moment::BeforeTool } else { Moment::Other });
    event(&payload, moment).map_err(|problem| BadEvent { moment: Some(moment), ..problem })
}

fn event(payload: &Map<String, Value>, moment: Moment) -> Result<Event, BadEvent> {
    let mut event = Event {
        session: optional(payload, "session_id")?.unwrap_or("").into(),
        client: AGENT.name.into(),
        role: optional(payload, "agent_type")?.map(str::to_owned),
        mode: optional(payload, "permission_mode")?.map(str::to_owned),
        cwd: optional(payload, "cwd")?.unwrap_or("").into(),
        moment,
        tool: optional(payload, "tool_name")?.unwrap_or("").into(),
        ..Event::default()
    };
    fill(payload, &mut event)?;
    Ok(event)
}

/// What the moment adds.
fn fill(payload: &Map<String, Value>, event: &mut Event) -> Result<(), BadEvent> {
    match event.moment {
        Moment::BeforeTool | Moment::PermissionRequest => {
            let tool = required(payload, "tool_name")?;
            event.actions = vec![action(tool, arguments(payload, "tool_input")?)?];
        }
        Moment::AfterTool => after(payload, event)?,
        Moment::Prompt => {
            event.actions = vec![Action::Prompt { text: required(payload, "prompt")?.into() }];
        }
        Moment::SessionStart | Moment::SessionEnd | Moment::Stop | Moment::Subagent | Moment::Other => {}
    }
    Ok(())
}

fn arguments<'a>(payload: &'a Map<String, Value>, field: &str) -> Result<&'a Map<String, Value>, BadEvent> {
    match payload.get(field) {
        Some(Value::Object(arguments)) => Ok(arguments),
        Some(_) => Err(BadEvent::of(field, "is not an object")),
        None => Err(BadEvent::of(field, "is missing")),
    }
}

fn after(payload: &Map<String, Value>, event: &mut Event) -> Result<(), BadEvent> {
    if let Some(Value::Array(calls)) = payload.get("tool_calls") {
        for call in calls.iter().filter_map(Value::as_object) {
            event.actions.push(action(required(call, "tool_name")?, arguments(call, "tool_input")?)?);
        }
        return Ok(());
    }
    event.actions = vec![action(required(payload, "tool_name")?, arguments(payload, "tool_input")?)?];
    let error = optional(payload, "error")?;
    let output = match (error, payload.get("tool_response")) {
        (Some(error), _) => error.to_owned(),
        (None, Some(Value::String(text))) => text.clone(),
        (None, Some(response)) => response.to_string(),
        (None, None) => String::new(),
    };
    event.outcome = Some(Outcome { output, exit_code: None, failed: error.is_some() });
    Ok(())
}

/// The call in words that belong to no agent.
pub(crate) fn action(tool: &str, input: &Map<String, Value>) -> Result<Action, BadEvent> {
    let text = |field: &str| required(input, field).map_err(|problem| inside(&problem)).map(str::to_owned);
    let or_empty =
        |field: &str| optional(input, field).map_err(|problem| inside(&problem)).map(|t| t.unwrap_or("").to_owned());
    Ok(match tool {
        "Bash" | "Monitor" => Action::Shell { command: text("command")?, language: Language::Shell },
        "PowerShell" => Action::Shell { command: text("command")?, language: Language::PowerShell },
        "Read" => Action::Read { path: AgentPath::new(text("file_path")?) },
        "Write" => Action::Write { path: AgentPath::new(text("file_path")?), content: text("content")? },
        "Edit" => Action::Edit { path: AgentPath::new(text("file_path")?), content: text("new_string")? },
        "MultiEdit" => Action::Edit { path: AgentPath::new(text("file_path")?), content: edits(input) },
        "NotebookEdit" => {
            Action::Edit { path: AgentPath::new(text("notebook_path")?), content: or_empty("new_source")? }
        }
        "Glob" | "Grep" => Action::Search { path: AgentPath::new(or_empty("path")?) },
        "WebFetch" => Action::Fetch { url: text("url")? },
        "Agent" | "Task" => Action::SpawnAgent { prompt: or_empty("prompt")? },
        "Skill" => Action::Skill { name: or_empty("skill")? },
        _ => match tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
            Some((server, tool)) => Action::McpCall {
                server: server.into(),
                tool: tool.into(),
                arguments: Value::Object(input.clone()).to_string(),
            },
            None => Action::Other { arguments: Value::Object(input.clone()).to_string() },
        },
    })
}

fn inside(problem: &BadEvent) -> BadEvent {
    BadEvent::of(&format!("tool_input.{}", problem.field), problem.problem.clone())
}

fn edits(input: &Map<String, Value>) -> String {
    let Some(Value::Array(edits)) = input.get("edits") else { return String::new() };
    edits.iter().filter_map(|edit| edit.get("new_string")?.as_str()).collect::<Vec<_>>().join("\n")
}

/// Native JSON on standard output; for a refusal also the reason on standard error and exit status 2, so that it holds
/// even where a client honours only one of them.
fn write(event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    let Delivery::Say { decision, reason } = delivery;
    match (event.moment, decision) {
        (moment, Decision::Deny) => refuse(moment, reason),
        (Moment::BeforeTool, Decision::Ask) => before_tool("ask", reason, 0),
        (Moment::BeforeTool, Decision::Pass) if !reason.is_empty() => print(&json!({
            "systemMessage": reason,
            "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": reason},
        })),
        (_, Decision::Ask | Decision::Pass) => Reply::default(),
    }
}

fn before_tool(decision: &str, reason: &str, code: u8) -> Reply {
    let output = json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        },
    });
    let stderr = if code == 2 { format!("{reason}\n") } else { String::new() };
    Reply { stderr, code, ..print(&output) }
}

fn print(output: &Value) -> Reply {
    Reply { stdout: format!("{output}\n"), ..Reply::default() }
}

fn refuse(moment: Moment, reason: &str) -> Reply {
    match moment {
        Moment::BeforeTool => before_tool("deny", reason, 2),
        Moment::PermissionRequest => print(&json!({
            "hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": {"behavior": "deny", "message": reason},
            },
        })),
        Moment::Prompt => print(&json!({"decision": "block", "reason": reason})),
        Moment::AfterTool
        | Moment::SessionStart
        | Moment::SessionEnd
        | Moment::Stop
        | Moment::Subagent
        | Moment::Other => Reply::default(),
    }
}
