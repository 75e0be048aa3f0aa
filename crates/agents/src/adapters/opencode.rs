//! OpenCode: the plugin that `init` writes, and the protocol between the plugin and the binary. Observed with client
//! version 1.18.33.
//!
//! The client runs no commands before its tools but loads plugins. The guard's plugin passes every call to the binary
//! and throws an error if the binary refuses or does not answer.

use crate::form::answers;
use crate::form::folder::in_folder_of;
use crate::form::hook_form::HookProtocol;
use crate::json::BadEvent;
use crate::model::abilities::{HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use crate::model::surface::{Extent, Limit, Surface};
use crate::settings::files::{CommandFiles, Judged, Settings, SettingsFile};
use crate::settings::plugin::{install, remove};
use crate::tools;
use crate::tools::Tool;
use reflex_engine::shell::Language;
use reflex_engine::{Action, Decision, Event, Moment, Verdict};
use serde_json::{Value, json};

/// The OpenCode adapter.
pub const AGENT: Agent = Agent {
    name: "opencode",
    aliases: &["opencode-cli", "open-code"],
    title: "OpenCode",
    project_variable: None,
    is_caller,
    runs_hooks_of: &[],
    read,
    moment: |word| FORM.known(word).unwrap_or(Moment::BeforeTool),
    says: &CAPABILITIES,
    write,
    refuse,
    settings: Some(&Settings {
        files: &[FILE],
        project: &[FILE.in_project(".opencode", "plugins/reflex.js")],
        project_needs: "restart OpenCode",
        managed: None,
        folders: &[".config/opencode", ".local/share/opencode"],
        programs: &["opencode"],
        fails_closed_since: None,
        gives_time: true,
        blocks_missing_since: None,
        plugin: None,
        afterwards: "restart OpenCode; with `--pure` or `OPENCODE_PURE=1` it loads no plugin, so Reflex checks no call",
        switches: &[],
        folder_trust: None,
        trust: None,
        command_files: Some(&CommandFiles {
            project: &[".opencode/command", ".opencode/commands"],
            user: &[".config/opencode/command", ".config/opencode/commands"],
            judged: Judged::Never,
        }),
    }),
    limits: &LIMITS,
};

/// The user's plugin.
const FILE: SettingsFile = SettingsFile {
    variable: Some("XDG_CONFIG_HOME"),
    folder: ".config",
    name: "opencode/plugins/reflex.js",
    by_agent: false,
    install,
    remove,
};

/// The answers that the plugin can enforce, by event.
const CAPABILITIES: [Line; 4] = [
    // A plugin cannot ask. Text without a decision is appended to the tool's output.
    Line::new(
        Moment::BeforeTool,
        HookCapabilities { rewrite: true, ..HookCapabilities::DENY_ADVISE },
        "cases deny, exit2, after-ctx, modify with 1.18.33",
    ),
    Line::new(Moment::AfterTool, HookCapabilities::ADVISE, "case after-ctx with 1.18.33"),
    Line::new(Moment::SessionStart, HookCapabilities::ADVISE, "case session-context with 1.18.33"),
    Line::new(Moment::Stop, HookCapabilities::NONE, "no reply is possible"),
];

const LIMITS: [Limit; 5] = [
    Limit {
        extent: Extent::Beyond,
        what: "shell lines (`` !`…` ``) in command files run without a tool call when a person uses the command",
        instead: "Reflex judges them when the file is written, at the start of a session and in `reflex doctor`, and names those it would stop",
    },
    Limit {
        extent: Extent::IfSwitched,
        what: "everything, with `--pure` or `OPENCODE_PURE=1`: no plugin is loaded",
        instead: "deny rules under `permission` in opencode.json",
    },
    Limit {
        extent: Extent::IfSwitched,
        what: "everything, when the plugin's file is damaged: the client continues without it and prints no warning",
        instead: "`reflex doctor`; `reflex init` rewrites it",
    },
    Limit {
        extent: Extent::IfSwitched,
        what: "OpenCode 2 loads no plugin of this kind",
        instead: "stay with 1.x until its plugins are supported",
    },
    Limit {
        extent: Extent::Some(&[Surface::Shell, Surface::Edit, Surface::Mcp]),
        what: "what another plugin changes in a call after ours has seen it",
        instead: "install few plugins, and review them",
    },
];

/// The plugin's event names.
pub const EVENTS: [(&str, Moment); 4] = [
    ("session.start", Moment::SessionStart),
    ("tool.execute.before", Moment::BeforeTool),
    ("tool.execute.after", Moment::AfterTool),
    ("chat.message", Moment::Prompt),
];

const FORM: HookProtocol = HookProtocol {
    client: "opencode",
    event: "event",
    session: "session_id",
    tool: "tool",
    input: "args",
    output: "output",
    role: "role",
    subagent: "subagent",
    call: "call_id",
    events: &EVENTS,
    actions,
};

const PATH: tools::Field = &["filePath", "path"];

/// The client's tools.
const TOOLS: [(&str, Tool); 12] = [
    ("bash", Tool::Shell { command: &["command"], language: Language::Shell }),
    ("shell", Tool::Shell { command: &["command"], language: Language::Shell }),
    ("write", Tool::Write { path: PATH, content: &["content"] }),
    ("edit", Tool::Edit { path: PATH, content: &["newString"] }),
    ("multiedit", Tool::Edit { path: PATH, content: &["newString"] }),
    ("read", Tool::Read { path: PATH }),
    ("list", Tool::Search { path: &["path"] }),
    ("glob", Tool::Search { path: &["path"] }),
    ("grep", Tool::Search { path: &["path"] }),
    ("webfetch", Tool::Fetch { url: &["url"] }),
    ("task", Tool::Spawn { prompt: &["prompt"] }),
    ("skill", Tool::Skill { name: &["name"] }),
];

/// Tools without effect outside the session. The list keeps names with an underscore from being parsed as tools of an
/// MCP server.
const INTERNAL: [&str; 8] =
    ["invalid", "todowrite", "todoread", "question", "websearch", "codesearch", "lsp", "plan_exit"];

/// Returns whether the payload is from the guard's plugin, the only sender of these values.
fn is_caller(payload: &Payload<'_>) -> bool {
    let is = |key: &str, wanted: &str| payload.fields.get(key).and_then(Value::as_str) == Some(wanted);
    is("agent", FORM.client) && EVENTS.iter().any(|(word, _)| is(FORM.event, word))
}

fn read(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    let mut event = FORM.read(payload)?;
    in_folder_of(payload, &["workdir"], "", &mut event);
    Ok(event)
}

fn actions(_event: &Event, tool: &str, input: &Value) -> Result<Vec<Action>, BadEvent> {
    let Value::Object(input) = input else { return Err(BadEvent::new("args", "is not an object")) };
    if matches!(tool, "apply_patch" | "patch") {
        let text = ["patchText", "patch", "input"].iter().find_map(|key| input.get(*key)?.as_str());
        return tools::patched(text.ok_or_else(|| BadEvent::new("args.patchText", "is missing"))?);
    }
    let of_server = || {
        let (server, name) = tool.split_once('_').filter(|_| !INTERNAL.contains(&tool))?;
        Some(tools::mcp(server, name, input))
    };
    Ok(tools::known(&TOOLS, tool, input)?.unwrap_or_else(|| vec![of_server().unwrap_or_else(|| tools::other(input))]))
}

fn write(event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    if let Delivery::Replace { arguments, reason } = delivery {
        return answers::print(&json!({"args": arguments, "context": reason}));
    }
    let (decision, reason) = delivery.reply();
    match (event.moment, decision) {
        (moment, Decision::Deny) => refuse(&event.word, moment, reason),
        (Moment::BeforeTool | Moment::AfterTool | Moment::SessionStart, Decision::Pass) if !reason.is_empty() => {
            answers::print(&json!({"context": reason}))
        }
        // A question was already turned into a refusal.
        (_, Decision::Ask | Decision::Pass) => Reply::default(),
    }
}

fn refuse(_word: &str, moment: Moment, reason: &str) -> Reply {
    match moment {
        Moment::BeforeTool => answers::refused_with(&json!({"decision": "deny", "reason": reason}), reason),
        Moment::AfterTool
        | Moment::PermissionRequest
        | Moment::Prompt
        | Moment::SessionStart
        | Moment::SessionEnd
        | Moment::Stop
        | Moment::Subagent
        | Moment::SettingsChange
        | Moment::Other => Reply::default(),
    }
}
