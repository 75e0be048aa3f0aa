//! Claude Code: its hook payloads and answers, as the client 2.1.329 was seen to send and honour them.

use crate::json::{BadEvent, optional, required};
use crate::settings::{HookFile, Settings, SettingsFile};
use crate::tools::{self, Tool, arguments};
use crate::{Abilities, Agent, Ask, Delivery, Limit, Line, Payload, Reply};
use reflex_engine::shell::Language;
use reflex_engine::{Action, Decision, Event, Moment, Outcome, Verdict};
use serde_json::{Map, Value, json};

/// The adapter.
pub const AGENT: Agent = Agent {
    name: "claude",
    aliases: &["claude-code"],
    title: "Claude Code",
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    is_caller: |payload| payload.has("hook_event_name"),
    runs_hooks_of: &[],
    read,
    moment,
    says: &SAYS,
    write,
    refuse,
    settings: Some(&Settings {
        files: &[SettingsFile {
            variable: Some("CLAUDE_CONFIG_DIR"),
            folder: ".claude",
            name: "settings.json",
            install: |text, binary| SETTINGS.install(text, binary),
            remove: |text| SETTINGS.remove(text),
        }],
        folders: &[".claude"],
        programs: &["claude"],
        afterwards: "",
    }),
    limits: &LIMITS,
};

/// What the client lets a hook say.
const SAYS: [Line; 7] = [
    Line {
        before: "2.1.9",
        ..Line::of(
            Moment::BeforeTool,
            Abilities { advise: false, ..Abilities::DENY_ASK_ADVISE },
            "case pre-context with 2.1.329; the changelog has it since 2.1.9",
        )
    },
    Line::of(
        Moment::BeforeTool,
        Abilities::DENY_ASK_ADVISE,
        "cases pre-deny-json, pre-ask-default, pre-context with 2.1.329",
    ),
    // A person is being asked already.
    Line::of(
        Moment::PermissionRequest,
        Abilities { ask: Ask::Native, ..Abilities::DENY },
        "case permreq-deny with 2.1.329",
    ),
    Line::of(Moment::Prompt, Abilities::DENY_ADVISE, "cases prompt-block-json, prompt-context with 2.1.329"),
    Line::of(Moment::AfterTool, Abilities::ADVISE, "case post-context with 2.1.329"),
    Line::of(Moment::SessionStart, Abilities::ADVISE, "case session-context with 2.1.329"),
    Line::of(Moment::Stop, Abilities::NONE, "nothing is said here"),
];

const LIMITS: [Limit; 3] = [
    Limit {
        what: "`--bare`, `--safe-mode` and `--setting-sources project` skip a user's hooks without a word",
        instead: "put the same entry into the managed settings",
    },
    Limit {
        what: "files mentioned with `@` in a prompt are read without a tool call",
        instead: "deny rules of the client",
    },
    Limit { what: "what a tool does after it has started", instead: "the client's sandbox" },
];

/// Seconds that the client waits for the hook: a person may have to answer in that time.
const TIMEOUT: u32 = 300;

/// The client's `settings.json`.
pub(crate) const SETTINGS: HookFile = HookFile {
    events: &["PreToolUse"],
    handler: |binary, event| {
        json!({
            "type": "command", "command": binary, "args": ["hook", "--agent", "claude", "--event", event],
            "timeout": TIMEOUT, "onFailure": "block",
        })
    },
    grouped: true,
    beside: &[],
    comments: true,
    own: false,
};

/// Its tools, those of older clients included.
const TOOLS: [(&str, Tool); 17] = [
    ("Bash", Tool::Shell { command: &["command"], language: Language::Shell }),
    ("Monitor", Tool::Shell { command: &["command"], language: Language::Shell }),
    ("PowerShell", Tool::Shell { command: &["command"], language: Language::PowerShell }),
    ("Read", Tool::Read { path: &["file_path"] }),
    ("Write", Tool::Write { path: &["file_path"], content: &["content"] }),
    ("Edit", Tool::Edit { path: &["file_path"], content: &["new_string"] }),
    ("MultiEdit", Tool::Edit { path: &["file_path"], content: &["new_string"] }),
    ("NotebookEdit", Tool::Edit { path: &["notebook_path"], content: &["new_source"] }),
    ("NotebookRead", Tool::Read { path: &["notebook_path"] }),
    ("LS", Tool::Search { path: &["path"] }),
    ("Glob", Tool::Search { path: &["path"] }),
    ("Grep", Tool::Search { path: &["path"] }),
    ("WebFetch", Tool::Fetch { url: &["url"] }),
    ("Agent", Tool::Spawn { prompt: &["prompt"] }),
    ("Task", Tool::Spawn { prompt: &["prompt"] }),
    ("Skill", Tool::Skill { name: &["skill"] }),
    ("SlashCommand", Tool::Skill { name: &["command"] }),
];

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

fn read(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    let Payload { fields, told, .. } = *payload;
    let named = optional(fields, "hook_event_name")?.or(told);
    let named = named.ok_or_else(|| BadEvent::of("hook_event_name", "is missing"))?;
    let has_call = payload.has("tool_name") || payload.has("tool_input");
    let known = known_moment(named).or_else(|| told.and_then(known_moment));
    let moment = known.unwrap_or(if has_call { Moment::BeforeTool } else { Moment::Other });
    let event = event(fields, moment).map_err(|problem| BadEvent { moment: Some(moment), ..problem })?;
    Ok(Event { word: named.into(), version: version(payload), ..event })
}

/// `AI_AGENT=claude-code_2-1-329_harness`, as the client sets it for what it starts.
fn version(payload: &Payload<'_>) -> Option<String> {
    let agent = (payload.variable)("AI_AGENT")?;
    let version = agent.strip_prefix("claude-code_")?.split('_').next()?;
    Some(version.replace('-', "."))
}

fn event(payload: &Map<String, Value>, moment: Moment) -> Result<Event, BadEvent> {
    let mut event = Event {
        session: optional(payload, "session_id")?.unwrap_or("").into(),
        client: AGENT.name.into(),
        role: optional(payload, "agent_type")?.map(str::to_owned),
        subagent: optional(payload, "agent_id")?.map(str::to_owned),
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
    let known = tools::known(&TOOLS, tool, input)?.and_then(|actions| actions.into_iter().next());
    Ok(known.or_else(|| tools::mcp_named(tool, input)).unwrap_or_else(|| tools::other(input)))
}

/// Native JSON on standard output; for a refusal also the reason on standard error and exit status 2, so that it holds
/// even where a client honours only one of them.
fn write(event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    let Delivery::Say { decision, reason } = delivery;
    match (event.moment, decision) {
        (moment, Decision::Deny) => refuse(&event.word, moment, reason),
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

fn refuse(_word: &str, moment: Moment, reason: &str) -> Reply {
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
