//! Copilot CLI: hook payloads and answers, as observed with client version 1.0.102.
//!
//! The client has two dialects, chosen by the case of the event name: `preToolUse` has its own keys and a flat answer,
//! `PreToolUse` resembles Claude Code's. The client also runs the hooks of a project's `.claude/settings.json`, in the
//! second dialect.

use crate::form::answers;
use crate::form::hook_form::HookProtocol;
use crate::json::{BadEvent, object, optional};
use crate::model::abilities::{Ask, HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use crate::model::surface::{Extent, Limit};
use crate::settings::files::{Managed, Settings, SettingsFile, Switch};
use crate::settings::hook_file::{HookFile, alone};
use crate::settings::json_text::flag;
use crate::tools;
use crate::tools::Tool;
use reflex_engine::shell::Language;
use reflex_engine::{Action, Decision, Event, Moment, Verdict};
use serde_json::{Value, json};

/// The Copilot CLI adapter.
pub const AGENT: Agent = Agent {
    name: "copilot",
    aliases: &["copilot-cli", "github-copilot"],
    title: "Copilot CLI",
    project_variable: Some("COPILOT_PROJECT_DIR"),
    is_caller,
    runs_hooks_of: &["claude"],
    read,
    moment: |word| CAMEL.known(word).or_else(|| PASCAL.known(word)).unwrap_or(Moment::BeforeTool),
    says: &CAPABILITIES,
    write,
    refuse,
    settings: Some(&Settings {
        files: &[FILE],
        project: &[FILE.in_project(".github", "hooks/reflex.json")],
        project_needs: "Copilot CLI runs a project's hooks only in a folder that it trusts, and with `-p` only if GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS is `true`; otherwise it skips them without a warning. The user's hooks run everywhere",
        managed: Some(&Managed {
            file: "/etc/github-copilot/policy.d/reflex.json",
            on_macos: "",
            text: |command| alone(&SETTINGS, "", command),
            note: "it runs in folders that are not trusted too, and `disableAllHooks` does not reach it",
            shuts_out: |_| false,
        }),
        folders: &[".copilot"],
        programs: &["copilot"],
        fails_closed_since: None,
        gives_time: true,
        blocks_missing_since: Some("1.0.57"),
        plugin: None,
        afterwards: "running sessions may not have the hook: restart them",
        switches: &[
            Switch {
                file: "hooks/reflex.json",
                in_project: &[],
                is_off: |text| flag(text, "disableAllHooks"),
                name: "\"disableAllHooks\": true",
                key: "disableAllHooks",
            },
            // Honored in a folder that the client trusts. The same key in the user's `settings.json` does not disable
            // hooks.
            Switch {
                file: "",
                in_project: &[
                    ".claude/settings.json",
                    ".claude/settings.local.json",
                    ".github/copilot/settings.json",
                    ".github/copilot/settings.local.json",
                ],
                is_off: |text| flag(text, "disableAllHooks"),
                name: "\"disableAllHooks\": true",
                key: "disableAllHooks",
            },
        ],
        folder_trust: None,
        trust: None,
        command_files: None,
    }),
    limits: &LIMITS,
};

/// The user's hook file.
const FILE: SettingsFile = SettingsFile {
    variable: Some("COPILOT_HOME"),
    folder: ".copilot",
    name: "hooks/reflex.json",
    by_agent: false,
    install: |text, command| SETTINGS.install(text, command),
    remove: |text| SETTINGS.remove(text),
};

/// The answers that the client honors, by event.
const CAPABILITIES: [Line; 8] = [
    Line {
        words: &["preMcpToolCall"],
        ..Line::new(Moment::BeforeTool, HookCapabilities::NONE, "no answer was seen; preToolUse judges the same call")
    },
    Line {
        before: "1.0.24",
        ..Line::new(
            Moment::BeforeTool,
            HookCapabilities { ask: Ask::Never, ..HookCapabilities::DENY_ADVISE },
            "not seen with a version so old; the strictest is said",
        )
    },
    Line::new(
        Moment::BeforeTool,
        HookCapabilities { rewrite: true, ..HookCapabilities::DENY_ASK_ADVISE },
        "cases deny-json-plus-exit2, pre-ask, pre-context, create-deny, mcp-deny, pascal-deny, pascal-ask, pre-modify-nodecision, pascal-modify with 1.0.102",
    ),
    Line::new(
        Moment::PermissionRequest,
        // The client is already asking a person.
        HookCapabilities { ask: Ask::Native, ..HookCapabilities::DENY },
        "case permreq-deny with 1.0.102",
    ),
    Line::new(Moment::Prompt, HookCapabilities::DENY_ADVISE, "cases prompt-block, prompt-context with 1.0.102"),
    Line::new(Moment::AfterTool, HookCapabilities::ADVISE, "case post-context with 1.0.102"),
    Line::new(Moment::SessionStart, HookCapabilities::ADVISE, "case session-context with 1.0.102"),
    Line::new(Moment::Stop, HookCapabilities::DENY, "case stop-block with 1.0.102"),
];

const LIMITS: [Limit; 2] = [
    Limit {
        extent: Extent::Beyond,
        what: "a hook that takes longer than its timeout lets the call run",
        instead: "Reflex gives up after two seconds of work, or eight by the clock, and refuses",
    },
    Limit {
        extent: Extent::Beyond,
        what: "hooks of a project in a folder that is not trusted, and of every project with `-p`",
        instead: "`reflex init` writes the user's hooks, which run everywhere",
    },
];

/// Hook timeout in seconds, long enough for a person to answer a prompt.
const TIMEOUT: u32 = 300;

/// The guard's own file among the user's hooks. The client itself refuses the call if the binary is missing or fails.
pub(crate) const SETTINGS: HookFile = HookFile {
    events: &["preToolUse", "postToolUse", "postToolUseFailure", "agentStop"],
    later: &[],
    handler: |command, event| {
        json!({
            "type": "command", "exec": command.binary, "args": command.arguments("copilot", event),
            "timeoutSec": TIMEOUT,
        })
    },
    grouped: false,
    beside: &[("version", 1)],
    comments: false,
    is_dedicated: true,
};

/// The event names of the client's own dialect.
pub const EVENTS: [(&str, Moment); 14] = [
    ("preToolUse", Moment::BeforeTool),
    ("preMcpToolCall", Moment::BeforeTool),
    ("postToolUse", Moment::AfterTool),
    ("postToolUseFailure", Moment::AfterTool),
    ("permissionRequest", Moment::PermissionRequest),
    ("userPromptSubmitted", Moment::Prompt),
    ("sessionStart", Moment::SessionStart),
    ("sessionEnd", Moment::SessionEnd),
    ("agentStop", Moment::Stop),
    ("subagentStart", Moment::Subagent),
    ("subagentStop", Moment::Subagent),
    ("preCompact", Moment::Other),
    ("notification", Moment::Other),
    ("errorOccurred", Moment::Other),
];

/// The event names of the dialect that resembles Claude Code's.
pub const PASCAL_EVENTS: [(&str, Moment); 13] = [
    ("PreToolUse", Moment::BeforeTool),
    ("PostToolUse", Moment::AfterTool),
    ("PostToolUseFailure", Moment::AfterTool),
    ("PermissionRequest", Moment::PermissionRequest),
    ("UserPromptSubmit", Moment::Prompt),
    ("SessionStart", Moment::SessionStart),
    ("SessionEnd", Moment::SessionEnd),
    ("Stop", Moment::Stop),
    ("SubagentStart", Moment::Subagent),
    ("SubagentStop", Moment::Subagent),
    ("PreCompact", Moment::Other),
    ("Notification", Moment::Other),
    ("ErrorOccurred", Moment::Other),
];

const CAMEL: HookProtocol = HookProtocol {
    client: "copilot",
    event: "hookName",
    session: "sessionId",
    tool: "toolName",
    input: "toolArgs",
    output: "toolResult",
    role: "agentType",
    subagent: "agentId",
    call: "toolCallId",
    events: &EVENTS,
    actions,
};

const PASCAL: HookProtocol =
    HookProtocol { output: "tool_result", call: "toolCallId", ..HookProtocol::new("copilot", &PASCAL_EVENTS, actions) };

/// A permission request has its own keys in both dialects.
const REQUEST: HookProtocol = HookProtocol { input: "toolInput", ..CAMEL };

/// A call to an MCP server, before it is sent.
const MCP: HookProtocol = HookProtocol {
    input: "arguments",
    actions: |_, _, input| Ok(vec![Action::Other { arguments: input.to_string() }]),
    ..CAMEL
};

const PATH: tools::Field = &["path", "file_path", "filePath"];

/// The client's tools, by their names in both dialects.
const TOOLS: [(&str, Tool); 22] = [
    ("bash", Tool::Shell { command: &["command"], language: Language::Shell }),
    ("Bash", Tool::Shell { command: &["command"], language: Language::Shell }),
    ("powershell", Tool::Shell { command: &["command"], language: Language::PowerShell }),
    ("PowerShell", Tool::Shell { command: &["command"], language: Language::PowerShell }),
    ("write_bash", Tool::Input { text: &["input"] }),
    ("write_powershell", Tool::Input { text: &["input"] }),
    ("view", Tool::Read { path: PATH }),
    ("Read", Tool::Read { path: PATH }),
    ("create", Tool::Write { path: PATH, content: &["file_text", "content"] }),
    ("Write", Tool::Write { path: PATH, content: &["file_text", "content"] }),
    // A permission request shows the change as a diff.
    ("edit", Tool::Edit { path: PATH, content: &["new_str", "new_string", "diff"] }),
    ("Edit", Tool::Edit { path: PATH, content: &["new_str", "new_string", "diff"] }),
    ("grep", Tool::Search { path: &["path"] }),
    ("rg", Tool::Search { path: &["path"] }),
    ("Grep", Tool::Search { path: &["path"] }),
    ("glob", Tool::Search { path: &["path"] }),
    ("Glob", Tool::Search { path: &["path"] }),
    ("web_fetch", Tool::Fetch { url: &["url"] }),
    ("WebFetch", Tool::Fetch { url: &["url"] }),
    ("task", Tool::Spawn { prompt: &["prompt"] }),
    ("Task", Tool::Spawn { prompt: &["prompt"] }),
    ("skill", Tool::Skill { name: &["skill", "name"] }),
];

/// Returns whether the payload is from Copilot CLI. Its own dialect has a key that no other agent sends. The other
/// dialect has a timestamp, which Claude Code does not send, and the transcript path only when the agent stops, whereas
/// Gemini CLI always sends it.
fn is_caller(payload: &Payload<'_>) -> bool {
    let is = |key: &str| payload.has(key);
    let word = payload.fields.get(PASCAL.event).and_then(Value::as_str).unwrap_or("");
    let stops = matches!(word, "Stop" | "SubagentStop" | "SubagentStart" | "PreCompact");
    let pascal = PASCAL.known(word).is_some() && is("session_id") && (stops || !is("transcript_path"));
    // Before a tool, a payload in the client's own dialect describes a call; a payload without one is another client's.
    let before = payload.event_name.and_then(|event_name| CAMEL.known(event_name).or_else(|| PASCAL.known(event_name)));
    let describes_call =
        is(CAMEL.event) || !event_name_from(payload).is_empty() || !before.is_some_and(Moment::is_before_execution);
    is("timestamp") && ((is("sessionId") && describes_call) || pascal)
}

fn read(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    let version = (payload.variable)("COPILOT_CLI_BINARY_VERSION");
    if payload.has(PASCAL.event) && !payload.has(CAMEL.session) {
        let event = PASCAL.read(payload)?;
        return Ok(Event { version, call: moment_of(payload), ..event });
    }
    // Notifications carry the event name of the other dialect; only permission requests carry their own. The dialect of
    // the payload determines that of the answer, regardless of the command line.
    let event_name = payload.event_name.filter(|word| !is_pascal(word));
    let word = optional(payload.fields, CAMEL.event)?.or(event_name).unwrap_or_else(|| event_name_from(payload));
    // A payload without any known key may be a call.
    let named_moment =
        payload.event_name.and_then(|event_name| CAMEL.known(event_name).or_else(|| PASCAL.known(event_name)));
    if word.is_empty() && named_moment.is_none_or(Moment::is_before_execution) {
        return Err(BadEvent { moment: named_moment, ..BadEvent::new(CAMEL.event, "is missing") });
    }
    let moment = CAMEL.known(word).unwrap_or(if payload.has(CAMEL.tool) { Moment::BeforeTool } else { Moment::Other });
    let form = if moment == Moment::PermissionRequest {
        &REQUEST
    } else if payload.has("serverName") {
        &MCP
    } else {
        &CAMEL
    };
    let event = form.event(payload.fields, word, moment);
    let mut event = event.map_err(|problem| BadEvent { moment: Some(moment), ..problem })?;
    if let (Some(server), [Action::Other { arguments }]) =
        (optional(payload.fields, "serverName")?, event.actions.as_slice())
    {
        let (server, tool, arguments) = (server.into(), event.tool.clone(), arguments.clone());
        event.actions = vec![Action::McpCall { server, tool, arguments }];
    }
    Ok(Event { version, call: moment_of(payload), ..event })
}

/// Returns an identifier of the call, which shows whether two hooks were run for the same call. The client sends no
/// call id but gives all hooks of a call the same timestamp. One dialect writes it as milliseconds, the other as a
/// date; within a minute both have the same trailing digits.
fn moment_of(payload: &Payload<'_>) -> String {
    const MINUTE: u64 = 60_000;
    match payload.fields.get("timestamp") {
        Some(Value::Number(time)) => time.as_u64().map(|time| format!("{:05}", time % MINUTE)).unwrap_or_default(),
        Some(Value::String(date)) => {
            let seconds = date.trim_end_matches('Z').rsplit(':').next().unwrap_or("");
            seconds.replace('.', "")
        }
        _ => String::new(),
    }
}

/// Infers the event name from the payload's keys if neither the payload nor the command line has one.
fn event_name_from(payload: &Payload<'_>) -> &'static str {
    let shapes = [
        ("permissionSuggestions", "permissionRequest"),
        ("serverName", "preMcpToolCall"),
        ("toolResult", "postToolUse"),
        ("toolName", "preToolUse"),
        ("prompt", "userPromptSubmitted"),
        ("initialPrompt", "sessionStart"),
        ("stopReason", "agentStop"),
    ];
    let shape = shapes.iter().find(|(key, _)| payload.has(key));
    match shape {
        Some((_, "preToolUse")) if payload.has("error") => "postToolUseFailure",
        Some((_, word)) => word,
        None => "",
    }
}

/// Parses the arguments: an object, an object encoded as a string, or the raw text of a patch.
fn actions(_event: &Event, tool: &str, input: &Value) -> Result<Vec<Action>, BadEvent> {
    if let Some(text) = input.as_str().filter(|text| tool == "apply_patch" && !text.trim_start().starts_with('{')) {
        return tools::patched(text);
    }
    let written = input.as_str().and_then(|text| object(text.as_bytes()).ok());
    let input =
        input.as_object().or(written.as_ref()).ok_or_else(|| BadEvent::new("tool_input", "is not an object"))?;
    if tool == "apply_patch" {
        let text = ["input", "patch", "command"].iter().find_map(|key| input.get(*key)?.as_str());
        return tools::patched(text.ok_or_else(|| BadEvent::new("tool_input", "has no patch"))?);
    }
    let of_server = || {
        // A server's name may contain a dash; a tool's name rarely does.
        let (server, name) = tool.split_once('/').or_else(|| tool.rsplit_once('-'))?;
        Some(tools::mcp(server, name, input))
    };
    let unknown = || vec![of_server().or_else(|| tools::mcp_named(tool, input)).unwrap_or_else(|| tools::other(input))];
    Ok(tools::known(&TOOLS, tool, input)?.unwrap_or_else(unknown))
}

fn write(event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    if let Delivery::Replace { arguments, reason } = delivery {
        return answers::print(&replaced(&event.word, arguments, reason));
    }
    let (decision, reason) = delivery.reply();
    match (event.moment, decision) {
        (Moment::Stop, Decision::Deny) => answers::kept_at_work(reason),
        (moment, Decision::Deny) => refuse(&event.word, moment, reason),
        (Moment::BeforeTool, Decision::Ask) => answers::print(&decided(&event.word, "ask", reason)),
        (_, Decision::Pass) if !reason.is_empty() && AGENT.abilities(event).advise => advised(event, reason),
        (_, Decision::Ask | Decision::Pass) => Reply::default(),
    }
}

fn is_pascal(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_uppercase())
}

fn decided(word: &str, decision: &str, reason: &str) -> Value {
    if is_pascal(word) {
        answers::decided(decision, reason)
    } else {
        json!({"permissionDecision": decision, "permissionDecisionReason": reason})
    }
}

fn replaced(word: &str, arguments: &Value, reason: &str) -> Value {
    if is_pascal(word) {
        answers::replaced(arguments, reason)
    } else {
        json!({"modifiedArgs": arguments, "additionalContext": reason})
    }
}

fn advised(event: &Event, reason: &str) -> Reply {
    if is_pascal(&event.word) {
        answers::advised(event, reason)
    } else {
        answers::print(&json!({"additionalContext": reason}))
    }
}

fn refuse(word: &str, moment: Moment, reason: &str) -> Reply {
    match moment {
        // With exit status 2 this dialect refuses too, but drops the reason. If the answer cannot be written, the
        // status is 2.
        Moment::BeforeTool if is_pascal(word) => answers::print(&decided(word, "deny", reason)),
        Moment::BeforeTool => answers::refused_with(&decided(word, "deny", reason), reason),
        // Flat in both dialects.
        Moment::PermissionRequest => answers::print(&json!({"behavior": "deny", "message": reason})),
        Moment::Prompt => answers::print(&json!({"decision": "block", "reason": reason})),
        Moment::AfterTool
        | Moment::SessionStart
        | Moment::SessionEnd
        | Moment::Stop
        | Moment::Subagent
        | Moment::SettingsChange
        | Moment::Other => Reply::default(),
    }
}
