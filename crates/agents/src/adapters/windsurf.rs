//! Windsurf, also named Devin Desktop: the hook payloads and answers of Cascade, from its documentation. Not tested
//! with a real client.
//!
//! The client reads no JSON answer: exit status 2 refuses, with the reason on standard error; any other status lets the
//! call run.

use crate::form::folder::language;
use crate::json::{BadEvent, optional, required};
use crate::model::abilities::{HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use crate::model::surface::{Extent, Limit, Surface};
use crate::settings::files::{Managed, Settings, SettingsFile};
use crate::settings::hook_file::{HookFile, alone};
use crate::tools;
use crate::tools::Tool;
use reflex_engine::{Action, Decision, Event, Moment, Outcome, Verdict};
use serde_json::{Map, Value, json};

/// The Windsurf adapter.
pub const AGENT: Agent = Agent {
    name: "windsurf",
    aliases: &["devin-desktop", "devin", "cascade"],
    title: "Windsurf (Devin Desktop)",
    project_variable: None,
    is_caller: |payload| payload.has("agent_action_name") && payload.has("tool_info"),
    runs_hooks_of: &[],
    read,
    moment: |word| known(word).unwrap_or(Moment::BeforeTool),
    says: &CAPABILITIES,
    write,
    refuse,
    settings: Some(&Settings {
        files: &[FILE],
        project: &[FILE.in_project(".devin", "hooks.json"), FILE.in_project(".windsurf", "hooks.json")],
        project_needs: "Windsurf runs no hook in Restricted Mode. It reads `.windsurf/hooks.json` only if `.devin/hooks.json` does not exist. Versions before the rename read only `.windsurf/hooks.json`: move the file there",
        managed: Some(&Managed {
            file: "/etc/windsurf/hooks.json",
            on_macos: "/Library/Application Support/Windsurf/hooks.json",
            text: |command| alone(&SETTINGS, "", command),
            note: "from the documents; on macOS it is also looked for below `Devin`",
            shuts_out: |_| false,
        }),
        folders: &[".codeium/windsurf"],
        programs: &["windsurf", "devin-desktop"],
        fails_closed_since: None,
        gives_time: false,
        blocks_missing_since: None,
        plugin: None,
        afterwards: "restart Windsurf",
        switches: &[],
        folder_trust: None,
        trust: None,
        command_files: None,
    }),
    limits: &LIMITS,
};

/// The user's hook file.
const FILE: SettingsFile = SettingsFile {
    variable: None,
    folder: ".codeium/windsurf",
    name: "hooks.json",
    by_agent: false,
    install: |text, command| SETTINGS.install(text, command),
    remove: |text| SETTINGS.remove(text),
};

/// The answers that the client honors according to its documentation, by event. Standard output is shown to the person
/// and not to the model.
const CAPABILITIES: [Line; 3] = [
    Line::new(
        Moment::BeforeTool,
        HookCapabilities::DENY,
        "document docs.devin.ai/desktop/cascade/hooks: your script can block the action by exiting with exit code 2",
    ),
    Line::new(
        Moment::Prompt,
        HookCapabilities::DENY,
        "document docs.devin.ai/desktop/cascade/hooks: your script can block the action by exiting with exit code 2",
    ),
    Line::new(Moment::Stop, HookCapabilities::NONE, "no reply is possible"),
];

const LIMITS: [Limit; 4] = [
    Limit {
        extent: Extent::All(&[Surface::Headless]),
        what: "not tested with a real client: these statements about Windsurf come from its documentation",
        instead: "`reflex verify`, and a refused command in Cascade",
    },
    Limit {
        extent: Extent::Some(&[Surface::Shell]),
        what: "a hook that does not answer; how long the client waits is not documented, and then the call runs",
        instead: "Reflex gives up after two seconds of work, or eight by the clock, and refuses",
    },
    Limit {
        extent: Extent::IfSwitched,
        what: "everything, in Restricted Mode: no hook is loaded",
        instead: "trust the workspace",
    },
    Limit {
        extent: Extent::All(&[Surface::Web, Surface::Subagent]),
        what: "web searches, and the agents of Devin that read `.devin/hooks.v1.json`",
        instead: "nothing yet",
    },
];

/// The client's `hooks.json`. It has no timeout and no option to fail closed, so the command line itself refuses.
pub(crate) const SETTINGS: HookFile = HookFile {
    events: &[
        "pre_run_command",
        "pre_write_code",
        "pre_read_code",
        "pre_mcp_tool_use",
        "post_run_command",
        "post_mcp_tool_use",
    ],
    later: &[],
    handler: |command, event| {
        if known(event) == Some(Moment::AfterTool) {
            // The outcome of a call is recorded; the client reads no answer.
            return json!({"command": command.line("windsurf", event), "show_output": false});
        }
        json!({"command": command.guarded_line("windsurf", event), "show_output": true})
    },
    grouped: false,
    beside: &[],
    comments: false,
    is_dedicated: false,
};

/// The client's event names.
pub const EVENTS: [(&str, Moment); 12] = [
    ("pre_run_command", Moment::BeforeTool),
    ("pre_write_code", Moment::BeforeTool),
    ("pre_read_code", Moment::BeforeTool),
    ("pre_mcp_tool_use", Moment::BeforeTool),
    ("post_run_command", Moment::AfterTool),
    ("post_write_code", Moment::AfterTool),
    ("post_read_code", Moment::AfterTool),
    ("post_mcp_tool_use", Moment::AfterTool),
    ("pre_user_prompt", Moment::Prompt),
    ("post_cascade_response", Moment::Stop),
    ("post_cascade_response_with_transcript", Moment::Stop),
    ("post_setup_worktree", Moment::Other),
];

fn known(word: &str) -> Option<Moment> {
    EVENTS.iter().find(|(name, _)| *name == word).map(|(_, moment)| *moment)
}

/// Actions by event name without the prefix `pre_` or `post_`. Commands and MCP calls are parsed separately.
const TOOLS: [(&str, Tool); 2] = [
    ("write_code", Tool::Edit { path: &["file_path"], content: &["new_string"] }),
    ("read_code", Tool::Read { path: &["file_path"] }),
];

fn read(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    let Payload { fields, event_name, .. } = *payload;
    let word = optional(fields, "agent_action_name")?.or(event_name);
    let word = word.ok_or_else(|| BadEvent::new("agent_action_name", "is missing"))?;
    let moment = known(word).or_else(|| event_name.and_then(known));
    // An unknown event without the prefix `post_` may precede a tool.
    let moment = moment.unwrap_or(if word.starts_with("post_") { Moment::Other } else { Moment::BeforeTool });
    event(fields, word, moment).map_err(|problem| BadEvent { moment: Some(moment), ..problem })
}

fn event(fields: &Map<String, Value>, word: &str, moment: Moment) -> Result<Event, BadEvent> {
    let none = Map::new();
    let info = match fields.get("tool_info") {
        Some(Value::Object(info)) => info,
        None | Some(Value::Null) if !moment.is_before_execution() => &none,
        None | Some(_) => return Err(BadEvent::new("tool_info", "is not an object")),
    };
    let mut event = Event {
        session: optional(fields, "trajectory_id")?.unwrap_or("").into(),
        client: AGENT.name.into(),
        word: word.into(),
        cwd: optional(info, "cwd")?.unwrap_or("").into(),
        // `cwd` is the model's choice for the command; the client runs the hook in the project.
        workspace: ".".into(),
        moment,
        ..Event::default()
    };
    match moment {
        Moment::BeforeTool | Moment::AfterTool | Moment::PermissionRequest => {
            let kind = word.strip_prefix("pre_").or_else(|| word.strip_prefix("post_")).unwrap_or(word);
            (event.tool, event.actions) = call(&event, kind, info)?;
        }
        Moment::Prompt => event.actions = vec![Action::Prompt { text: required(info, "user_prompt")?.into() }],
        Moment::SessionStart
        | Moment::SessionEnd
        | Moment::Stop
        | Moment::Subagent
        | Moment::SettingsChange
        | Moment::Other => {}
    }
    if moment == Moment::AfterTool {
        let output = optional(info, "mcp_result")?.unwrap_or("").to_owned();
        event.outcome = Some(Outcome { output, ..Outcome::default() });
    }
    Ok(event)
}

fn call(event: &Event, kind: &str, info: &Map<String, Value>) -> Result<(String, Vec<Action>), BadEvent> {
    match kind {
        "run_command" => {
            let command = required(info, "command_line")?.to_owned();
            Ok((kind.into(), vec![Action::Shell { command, language: language(event) }]))
        }
        "mcp_tool_use" => {
            let (server, tool) = (required(info, "mcp_server_name")?, required(info, "mcp_tool_name")?);
            let none = Map::new();
            let arguments = info.get("mcp_tool_arguments").and_then(Value::as_object).unwrap_or(&none);
            Ok((tool.into(), vec![tools::mcp(server, tool, arguments)]))
        }
        _ => Ok((kind.into(), tools::known(&TOOLS, kind, info)?.unwrap_or_else(|| vec![tools::other(info)]))),
    }
}

fn write(event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    let (decision, reason) = delivery.reply();
    match (event.moment, decision) {
        (moment, Decision::Deny) => refuse(&event.word, moment, reason),
        // For the person; the model does not read it.
        (Moment::BeforeTool, Decision::Pass) if !reason.is_empty() => {
            Reply { stdout: format!("{reason}\n"), ..Reply::default() }
        }
        // A question was already turned into a refusal.
        (_, Decision::Ask | Decision::Pass) => Reply::default(),
    }
}

fn refuse(_word: &str, moment: Moment, reason: &str) -> Reply {
    match moment {
        Moment::BeforeTool | Moment::PermissionRequest | Moment::Prompt => {
            Reply { stderr: format!("{reason}\n"), code: 2, ..Reply::default() }
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
