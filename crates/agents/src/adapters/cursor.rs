//! Cursor (editor and CLI): hook payloads and answers, from its documentation and the hook runtime of its SDK 1.0.32.
//! Not tested with a real client.
//!
//! The client also runs the hooks of Claude Code's settings, with its own payloads: the caller is recognized by the
//! payload, and the answer is in this dialect.

use crate::form::answers;
use crate::form::folder::{in_folder_of, language};
use crate::form::hook_form::HookProtocol;
use crate::json::{BadEvent, object, optional, required};
use crate::model::abilities::{Ask, HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use crate::model::surface::{Extent, Limit, Surface};
use crate::settings::files::{Managed, Settings, SettingsFile};
use crate::settings::hook_file::{HookFile, alone};
use crate::tools;
use crate::tools::Tool;
use reflex_engine::{Action, AgentPath, Decision, Event, Moment, Outcome, Verdict};
use serde_json::{Map, Value, json};

/// The Cursor adapter.
pub const AGENT: Agent = Agent {
    name: "cursor",
    aliases: &["cursor-agent", "cursor-cli"],
    title: "Cursor",
    project_variable: Some("CURSOR_PROJECT_DIR"),
    is_caller: |payload| {
        payload.has("cursor_version") || (payload.has("conversation_id") && payload.has("generation_id"))
    },
    runs_hooks_of: &["claude"],
    read,
    moment: known_moment,
    says: &CAPABILITIES,
    write,
    refuse,
    settings: Some(&Settings {
        files: &[FILE],
        project: &[FILE.in_project(".cursor", "hooks.json")],
        project_needs: "Cursor runs a project's hooks only in a workspace that it trusts; restart it",
        managed: Some(&Managed {
            file: "/etc/cursor/hooks.json",
            on_macos: "/Library/Application Support/Cursor/hooks.json",
            text: |command| alone(&SETTINGS, "", command),
            note: "from the documentation",
            shuts_out: |_| false,
        }),
        folders: &[".cursor"],
        programs: &["cursor", "cursor-agent"],
        fails_closed_since: None,
        gives_time: true,
        blocks_missing_since: None,
        plugin: None,
        afterwards: "restart Cursor; Settings, Hooks shows whether it has read the file",
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
    folder: ".cursor",
    name: "hooks.json",
    by_agent: false,
    install: |text, command| SETTINGS.install(text, command),
    remove: |text| SETTINGS.remove(text),
};

/// Returns the moment of an event name. An unknown event may precede a tool call, so it is treated as one.
fn known_moment(word: &str) -> Moment {
    FORM.known(word).unwrap_or(Moment::BeforeTool)
}

/// The answers that the client honors according to its documentation, by event.
const CAPABILITIES: [Line; 6] = [
    Line {
        words: &["beforeShellExecution"],
        ..Line::new(
            Moment::BeforeTool,
            HookCapabilities { ask: Ask::Native, ..HookCapabilities::DENY },
            "document cursor.com/docs/hooks: `permission` is allow, deny or ask here",
        )
    },
    // At these events `ask` is either accepted and ignored, or makes the answer invalid.
    Line {
        words: &["beforeMCPExecution", "beforeReadFile", "beforeTabFileRead"],
        ..Line::new(
            Moment::BeforeTool,
            HookCapabilities::DENY,
            "document cursor.com/docs/hooks: `permission` is allow or deny here",
        )
    },
    Line::new(
        Moment::BeforeTool,
        HookCapabilities::DENY_ADVISE,
        "document cursor.com/docs/hooks: `ask` is accepted and not enforced, `additional_context` is read",
    ),
    Line::new(
        Moment::Prompt,
        HookCapabilities::DENY,
        "document cursor.com/docs/hooks: `continue` false keeps the prompt back",
    ),
    Line {
        words: &["postToolUse"],
        ..Line::new(
            Moment::AfterTool,
            HookCapabilities::ADVISE,
            "document cursor.com/docs/hooks: `additional_context` is read",
        )
    },
    Line::new(
        Moment::Stop,
        HookCapabilities::DENY,
        "document cursor.com/docs/hooks: `followup_message` is the next message, at most `loop_limit` times",
    ),
];

const LIMITS: [Limit; 5] = [
    Limit {
        extent: Extent::All(&[Surface::Subagent]),
        what: "whether the calls of its subagents reach a hook: none was recorded",
        instead: "`reflex status` once a subagent has worked: it prints PROVEN if one arrived",
    },
    Limit {
        extent: Extent::All(&[Surface::Headless]),
        what: "not tested with a real client: these statements about Cursor come from its documentation",
        instead: "`reflex verify`, and a look at Settings, Hooks",
    },
    Limit {
        extent: Extent::Some(&[Surface::Read]),
        what: "a file is read before `beforeReadFile` is asked; a refusal only keeps it from the model",
        instead: "no step is needed: a read changes no file",
    },
    Limit {
        extent: Extent::Beyond,
        what: "hooks of a project in a workspace that is not trusted",
        instead: "`reflex init` writes the user's hooks, which run everywhere",
    },
    Limit {
        extent: Extent::Beyond,
        what: "`failClosed` is known since 2.x; an older Cursor lets a call run when a hook takes too long",
        instead: "update; Reflex gives up after two seconds of work, or eight by the clock, and refuses",
    },
];

/// Hook timeout in seconds, long enough for a person to answer a prompt.
const TIMEOUT: u32 = 300;

/// Matcher of `preToolUse`. Shell commands, MCP calls and reads have their own events, which allow more answers; they
/// are excluded here, as the guard would count a call twice if it were run at both events.
const OTHER_TOOLS: &str = "^(?!(Shell|Read)$|MCP:)";

/// The client's `hooks.json`.
pub(crate) const SETTINGS: HookFile = HookFile {
    events: &[
        "preToolUse",
        "beforeShellExecution",
        "beforeMCPExecution",
        "beforeReadFile",
        "beforeTabFileRead",
        "postToolUse",
        "postToolUseFailure",
        "stop",
    ],
    later: &[],
    handler: |command, event| {
        if matches!(known_moment(event), Moment::AfterTool | Moment::Stop) {
            // A hook after a tool has nothing to refuse, and at the end only a verdict, not a failed hook, keeps the
            // agent at work.
            return json!({"command": command.line("cursor", event), "timeout": TIMEOUT});
        }
        let command = command.guarded_line("cursor", event);
        let mut handler = json!({"command": command, "timeout": TIMEOUT, "failClosed": true});
        if let (Some(handler), "preToolUse") = (handler.as_object_mut(), event) {
            handler.insert("matcher".into(), OTHER_TOOLS.into());
        }
        handler
    },
    grouped: false,
    beside: &[("version", 1)],
    comments: false,
    is_dedicated: false,
};

/// The client's event names.
pub const EVENTS: [(&str, Moment); 21] = [
    ("preToolUse", Moment::BeforeTool),
    ("beforeShellExecution", Moment::BeforeTool),
    ("beforeMCPExecution", Moment::BeforeTool),
    ("beforeReadFile", Moment::BeforeTool),
    ("beforeTabFileRead", Moment::BeforeTool),
    ("postToolUse", Moment::AfterTool),
    ("postToolUseFailure", Moment::AfterTool),
    ("afterShellExecution", Moment::AfterTool),
    ("afterMCPExecution", Moment::AfterTool),
    ("afterFileEdit", Moment::AfterTool),
    ("afterTabFileEdit", Moment::AfterTool),
    ("beforeSubmitPrompt", Moment::Prompt),
    ("sessionStart", Moment::SessionStart),
    ("sessionEnd", Moment::SessionEnd),
    ("stop", Moment::Stop),
    ("subagentStart", Moment::Subagent),
    ("subagentStop", Moment::Subagent),
    ("afterAgentResponse", Moment::Other),
    ("afterAgentThought", Moment::Other),
    ("preCompact", Moment::Other),
    ("workspaceOpen", Moment::Other),
];

const FORM: HookProtocol = HookProtocol {
    client: "cursor",
    event: "hook_event_name",
    session: "conversation_id",
    tool: "tool_name",
    input: "tool_input",
    output: "tool_output",
    role: "subagent_type",
    subagent: "subagent_id",
    call: "tool_use_id",
    events: &EVENTS,
    actions,
};

const PATH: tools::Field = &["file_path", "path", "target_file"];

/// The client's tools. Shell commands are parsed separately.
const TOOLS: [(&str, Tool); 12] = [
    ("Read", Tool::Read { path: PATH }),
    ("ReadLints", Tool::Read { path: PATH }),
    ("Write", Tool::Write { path: PATH, content: &["content"] }),
    ("Edit", Tool::Edit { path: PATH, content: &["new_string"] }),
    ("afterFileEdit", Tool::Edit { path: PATH, content: &["new_string"] }),
    ("Delete", Tool::Delete { path: PATH }),
    ("Grep", Tool::Search { path: &["file_path", "path"] }),
    ("Glob", Tool::Search { path: &["file_path", "path"] }),
    ("List", Tool::Search { path: &["file_path", "path"] }),
    ("Fetch", Tool::Fetch { url: &["url"] }),
    ("WebFetch", Tool::Fetch { url: &["url"] }),
    ("Task", Tool::Spawn { prompt: &["prompt", "task", "description"] }),
];

fn read(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    let word = optional(payload.fields, FORM.event)?.or(payload.event_name).unwrap_or("");
    let mut event = match word {
        "beforeShellExecution"
        | "afterShellExecution"
        | "beforeMCPExecution"
        | "afterMCPExecution"
        | "beforeReadFile"
        | "beforeTabFileRead"
        | "afterFileEdit"
        | "afterTabFileEdit" => {
            let moment = FORM.known(word).unwrap_or_default();
            specific_event(payload.fields, word, moment)
                .map_err(|problem| BadEvent { moment: Some(moment), ..problem })?
        }
        _ => FORM.read(payload)?,
    };
    event.version = optional(payload.fields, "cursor_version")?.map(str::to_owned);
    ended(payload.fields, &mut event);
    placed(payload, &mut event);
    in_folder_of(payload, &["cwd", "working_directory"], "CURSOR_PROJECT_DIR", &mut event);
    Ok(event)
}

/// Reads how the turn ended. An aborted turn is not continued, and a continued one reports its number of loops.
fn ended(fields: &Map<String, Value>, event: &mut Event) {
    if event.moment != Moment::Stop {
        return;
    }
    event.goes_on |= fields.get("loop_count").and_then(Value::as_u64).is_some_and(|count| count > 0);
    if fields.get("status").and_then(Value::as_str).is_some_and(|status| status != "completed") {
        event.moment = Moment::Other;
    }
}

/// Sets the workspace from the payload's list of project folders: the one that contains the working directory, else the
/// first.
fn placed(payload: &Payload<'_>, event: &mut Event) {
    let roots = payload.fields.get("workspace_roots").and_then(Value::as_array);
    let roots: Vec<&str> = roots.into_iter().flatten().filter_map(Value::as_str).collect();
    let holds = |root: &&&str| reflex_engine::is_within(&event.cwd, root);
    let Some(root) = roots.iter().find(holds).or(roots.first()) else { return };
    event.workspace = (*root).to_owned();
    // The user's hooks run in the client's own folder, so an empty working directory must not default to the process's.
    if event.cwd.is_empty() {
        event.cwd = (*root).to_owned();
    }
}

/// Reads an event whose fields are not those of a tool call.
fn specific_event(fields: &Map<String, Value>, word: &str, moment: Moment) -> Result<Event, BadEvent> {
    let bare = Map::new();
    let mut event = Event { moment, ..FORM.event(&bare, word, Moment::Other)? };
    event.session = optional(fields, FORM.session)?.unwrap_or("").into();
    event.cwd = optional(fields, "cwd")?.unwrap_or("").into();
    (event.tool, event.actions) = call(&event, fields, word)?;
    if moment == Moment::AfterTool {
        let output = optional(fields, "output")?.or(optional(fields, "result_json")?).unwrap_or("").to_owned();
        event.outcome = Some(Outcome { output, ..Outcome::default() });
    }
    Ok(event)
}

fn call(event: &Event, fields: &Map<String, Value>, word: &str) -> Result<(String, Vec<Action>), BadEvent> {
    match word {
        "beforeShellExecution" | "afterShellExecution" => {
            let command = required(fields, "command")?.to_owned();
            Ok(("Shell".into(), vec![Action::Shell { command, language: language(event) }]))
        }
        "beforeMCPExecution" | "afterMCPExecution" => {
            let name = required(fields, "tool_name")?;
            let tool = name.strip_prefix("MCP:").unwrap_or(name);
            let server = optional(fields, "mcp_server_name")?.unwrap_or("");
            Ok((name.into(), vec![tools::mcp(server, tool, &written(fields, "tool_input")?)]))
        }
        "beforeReadFile" | "beforeTabFileRead" => {
            let attached = fields.get("attachments").and_then(Value::as_array).into_iter().flatten();
            let attached =
                attached.filter_map(|file| ["file_path", "filePath"].iter().find_map(|key| file.get(key)?.as_str()));
            let files = [required(fields, "file_path")?].into_iter().chain(attached);
            let actions = files.map(|file| Action::Read { path: AgentPath::new(file) }).collect();
            Ok(("Read".into(), actions))
        }
        _ => Ok(("Write".into(), tools::known(&TOOLS, "afterFileEdit", fields)?.unwrap_or_default())),
    }
}

/// Parses arguments that are an object or an object encoded as a string. Any other string is kept as is.
fn written(fields: &Map<String, Value>, key: &str) -> Result<Map<String, Value>, BadEvent> {
    match fields.get(key) {
        Some(Value::Object(input)) => Ok(input.clone()),
        Some(Value::String(text)) => Ok(object(text.as_bytes())
            .unwrap_or_else(|_| [("arguments".to_owned(), Value::String(text.clone()))].into_iter().collect())),
        None | Some(Value::Null) => Ok(Map::new()),
        Some(_) => Err(BadEvent::new(key, "is neither an object nor a text")),
    }
}

fn actions(event: &Event, tool: &str, input: &Value) -> Result<Vec<Action>, BadEvent> {
    let Value::Object(input) = input else { return Err(BadEvent::new("tool_input", "is not an object")) };
    if tool == "Shell" {
        let shell = [(tool, Tool::Shell { command: &["command"], language: language(event) })];
        return Ok(tools::known(&shell, tool, input)?.unwrap_or_default());
    }
    if let Some(name) = tool.strip_prefix("MCP:") {
        return Ok(vec![tools::mcp("", name, input)]);
    }
    let known = tools::known(&TOOLS, tool, input)?;
    Ok(known.unwrap_or_else(|| vec![tools::mcp_named(tool, input).unwrap_or_else(|| tools::other(input))]))
}

fn write(event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    let (decision, reason) = delivery.reply();
    match (event.moment, decision) {
        (Moment::Stop, Decision::Deny) => answers::print(&json!({"followup_message": reason})),
        (moment, Decision::Deny) => refuse(&event.word, moment, reason),
        (Moment::BeforeTool, Decision::Ask) => decided("ask", reason),
        (Moment::BeforeTool | Moment::AfterTool, Decision::Pass)
            if !reason.is_empty() && matches!(event.word.as_str(), "preToolUse" | "postToolUse") =>
        {
            answers::print(&json!({"additional_context": reason}))
        }
        (_, Decision::Ask | Decision::Pass) => silence(),
    }
}

/// Returns an empty object. No output at all is a refusal where the hook fails closed, and `allow` would be a decision.
fn silence() -> Reply {
    answers::print(&json!({}))
}

/// Returns a decision with its reason. The runtime determines which of the two messages the model reads. The exit
/// status is 0, as with 2 the raw JSON would be shown to the person; an unreadable answer is also a refusal.
fn decided(permission: &str, reason: &str) -> Reply {
    answers::print(&json!({"permission": permission, "user_message": reason, "agent_message": reason}))
}

fn refuse(_word: &str, moment: Moment, reason: &str) -> Reply {
    match moment {
        Moment::BeforeTool | Moment::PermissionRequest => decided("deny", reason),
        Moment::Prompt => answers::print(&json!({"continue": false, "user_message": reason})),
        Moment::AfterTool
        | Moment::SessionStart
        | Moment::SessionEnd
        | Moment::Stop
        | Moment::Subagent
        | Moment::SettingsChange
        | Moment::Other => silence(),
    }
}
