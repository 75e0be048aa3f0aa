//! Codex CLI: hook payloads and answers, as observed with client version 0.169.0.
//!
//! The client parses answers strictly: an unknown key, a denial without a reason, or exit status 2 with an empty
//! standard error lets the call run.

use super::codex_trust;
use crate::form::answers;
use crate::form::folder::language;
use crate::form::hook_form::HookProtocol;
use crate::json::BadEvent;
use crate::model::abilities::{Ask, HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use crate::model::surface::{Extent, Limit, Surface};
use crate::settings::files::{Managed, Settings, SettingsFile, Switch};
use crate::settings::hook_command::HookCommand;
use crate::settings::hook_file::HookFile;
use crate::tools;
use crate::tools::Tool;
use reflex_engine::{Action, Decision, Event, Moment, Verdict};
use serde_json::{Map, Value, json};

/// The Codex CLI adapter.
pub const AGENT: Agent = Agent {
    name: "codex",
    aliases: &["codex-cli"],
    title: "Codex CLI",
    project_variable: None,
    is_caller,
    runs_hooks_of: &[],
    read: |payload| FORM.read(payload),
    moment: |word| FORM.known(word).unwrap_or(Moment::BeforeTool),
    says: &CAPABILITIES,
    write,
    refuse: answers::refuse,
    settings: Some(&Settings {
        files: &[
            FILE,
            // Holds the trust entries. An entry for a removed hook has no effect.
            SettingsFile {
                variable: Some("CODEX_HOME"),
                folder: ".codex",
                name: "config.toml",
                by_agent: true,
                install: |text, _| Ok(text.to_owned()),
                remove: |text| Ok(Some(text.to_owned())),
            },
        ],
        project: &[FILE.in_project(".codex", "hooks.json")],
        project_needs: "Codex runs a project's hooks only in a project that it trusts, and only once you have trusted them: start `codex` there, then /hooks",
        managed: Some(&Managed {
            file: "/etc/codex/requirements.toml",
            on_macos: "",
            text: requirements,
            note: "it needs no trust, and its `hooks = true` wins over a user's `hooks = false`",
            shuts_out: |_| false,
        }),
        folders: &[".codex"],
        programs: &["codex"],
        fails_closed_since: None,
        gives_time: true,
        blocks_missing_since: None,
        plugin: None,
        afterwards: "running sessions do not have the hook; `/hooks` in Codex shows it",
        switches: &[Switch {
            file: "config.toml",
            in_project: &[".codex/config.toml"],
            is_off: hooks_are_off,
            name: "[features] hooks = false",
            key: "hooks",
        }],
        folder_trust: None,
        trust: Some(&codex_trust::CODEX),
        command_files: None,
    }),
    limits: &LIMITS,
};

/// The user's hook file.
const FILE: SettingsFile = SettingsFile {
    variable: Some("CODEX_HOME"),
    folder: ".codex",
    name: "hooks.json",
    by_agent: false,
    install: |text, command| SETTINGS.install(text, command),
    remove: |text| SETTINGS.remove(text),
};

/// The answers that the client honors, by event.
const CAPABILITIES: [Line; 6] = [
    // The client does not know `ask` here, and an unknown answer lets the call run (case pre-ask).
    Line::new(
        Moment::BeforeTool,
        HookCapabilities { rewrite: true, ..HookCapabilities::DENY_ADVISE },
        "cases pre-deny-json, pre-deny-exit2, pre-context, patch-deny, mcp-deny, pre-modify-allow with 0.169.0",
    ),
    Line::new(
        Moment::PermissionRequest,
        // The client is already asking a person or a reviewer acting for one.
        HookCapabilities { ask: Ask::Native, ..HookCapabilities::DENY },
        "cases permreq-afm-deny, permreq-afm-none with 0.169.0",
    ),
    Line::new(Moment::Prompt, HookCapabilities::DENY_ADVISE, "cases prompt-block-json, prompt-context with 0.169.0"),
    Line::new(Moment::AfterTool, HookCapabilities::ADVISE, "case post-context with 0.169.0"),
    Line::new(Moment::SessionStart, HookCapabilities::ADVISE, "case session-context with 0.169.0"),
    Line::new(
        Moment::Stop,
        HookCapabilities::DENY_ADVISE,
        "case stop-block with 0.169.0; `systemMessage` by its document",
    ),
];

const LIMITS: [Limit; 4] = [
    Limit {
        extent: Extent::Some(&[Surface::Shell]),
        what: "`write_stdin`: what is typed into a program that a call has started",
        instead: "a shell that is started to be typed into is refused; an interpreter such as `python3` is not yet",
    },
    Limit {
        extent: Extent::All(&[Surface::Web]),
        what: "the hosted web search, which runs at the provider",
        instead: "switch it off in config.toml",
    },
    Limit {
        extent: Extent::IfSwitched,
        what: "everything, while the hook is not trusted; `codex exec` prints no warning",
        instead: "`reflex doctor`, or `/hooks` in Codex",
    },
    Limit {
        extent: Extent::IfSwitched,
        what: "everything, with `[features] hooks = false`",
        instead: "pin `hooks = true` in /etc/codex/requirements.toml",
    },
];

/// Hook timeout in seconds.
const TIMEOUT: u32 = 300;

/// The client's `hooks.json`. It accepts only the keys `description` and `hooks`, no comments and no trailing commas.
pub(crate) const SETTINGS: HookFile = HookFile {
    events: &["PreToolUse", "PostToolUse", "Stop"],
    later: &[],
    handler: |command, event| {
        // After a tool has run, a failed hook would replace the tool's output.
        let command = match event {
            "PreToolUse" => command.guarded_line("codex", event),
            _ => command.line("codex", event),
        };
        json!({"type": "command", "command": command, "timeout": TIMEOUT})
    },
    grouped: true,
    beside: &[],
    comments: false,
    is_dedicated: false,
};

/// Renders the hook for the administrator's file, which is TOML. A JSON string is also a valid TOML string.
fn requirements(command: HookCommand<'_>) -> String {
    let folder = command.binary.rsplit_once('/').map_or("/", |(folder, _)| folder);
    let mut text = format!("[features]\nhooks = true\n\n[hooks]\nmanaged_dir = {}\n", json!(folder));
    for event in SETTINGS.events {
        let handler = (SETTINGS.handler)(command, event);
        let command = handler.get("command").map(Value::to_string).unwrap_or_default();
        text.push_str(&format!(
            "\n[[hooks.{event}]]\nmatcher = \"*\"\n[[hooks.{event}.hooks]]\ntype = \"command\"\ncommand = {command}\ntimeout = {TIMEOUT}\n"
        ));
    }
    text
}

/// Returns whether the text sets `hooks = false` in `[features]`, `features.hooks = false`, or the inline table
/// `features = { hooks = false }`. `None` if it sets none of them.
fn hooks_are_off(text: &str) -> Option<bool> {
    let mut table = "";
    let mut flags = text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter_map(|line| {
        if line.starts_with('[') {
            table = line;
            return None;
        }
        let (key, value) = line.split_once('=')?;
        let is_switch = match table {
            "" if key.trim() == "features" => {
                let inner: String = value.chars().filter(|ch| !ch.is_whitespace()).collect();
                return inner.contains("hooks=").then(|| inner.contains("hooks=false"));
            }
            "" => key.trim() == "features.hooks",
            "[features]" => matches!(key.trim(), "hooks" | "codex_hooks"),
            _ => false,
        };
        is_switch.then(|| value.trim() == "false")
    });
    flags.next()
}

/// The client's event names.
pub const EVENTS: [(&str, Moment); 12] = [
    ("PreToolUse", Moment::BeforeTool),
    ("PostToolUse", Moment::AfterTool),
    ("PermissionRequest", Moment::PermissionRequest),
    ("UserPromptSubmit", Moment::Prompt),
    ("SessionStart", Moment::SessionStart),
    ("SessionEnd", Moment::SessionEnd),
    ("Stop", Moment::Stop),
    ("SubagentStart", Moment::Subagent),
    ("SubagentStop", Moment::Subagent),
    ("PreCompact", Moment::Other),
    ("PostCompact", Moment::Other),
    ("Interrupt", Moment::Other),
];

const FORM: HookProtocol = HookProtocol::new("codex", &EVENTS, actions);

/// The client's tools as hooks see them; every shell is named `Bash`.
const TOOLS: [(&str, Tool); 2] =
    [("view_image", Tool::Read { path: &["path"] }), ("spawn_agent", Tool::Spawn { prompt: &["message", "prompt"] })];

/// Returns whether the payload is from Codex CLI, the only client that sends a turn id and a model.
fn is_caller(payload: &Payload<'_>) -> bool {
    let is = |key: &str| payload.has(key);
    is("hook_event_name") && (is("turn_id") || (is("model") && is("permission_mode") && !is("effort")))
}

fn actions(event: &Event, tool: &str, input: &Value) -> Result<Vec<Action>, BadEvent> {
    let Value::Object(input) = input else { return Err(BadEvent::new("tool_input", "is not an object")) };
    match tool {
        "Bash" => {
            let shell = [(tool, Tool::Shell { command: &["command"], language: language(event) })];
            Ok(tools::known(&shell, tool, input)?.unwrap_or_default())
        }
        "apply_patch" => patch(input),
        _ => {
            let known = tools::known(&TOOLS, tool, input)?;
            let unknown = || vec![tools::mcp_named(tool, input).unwrap_or_else(|| tools::other(input))];
            Ok(known.unwrap_or_else(unknown))
        }
    }
}

fn patch(input: &Map<String, Value>) -> Result<Vec<Action>, BadEvent> {
    let text = ["command", "input", "patch"].iter().find_map(|key| input.get(*key)?.as_str());
    tools::patched(text.ok_or_else(|| BadEvent::new("tool_input.command", "is missing"))?)
}

fn write(event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    if let Delivery::Replace { arguments, reason } = delivery {
        return replaced(arguments, reason);
    }
    let (decision, reason) = delivery.reply();
    match (event.moment, decision) {
        (Moment::Stop, Decision::Deny) => answers::kept_at_work(reason),
        (moment, Decision::Deny) => answers::refuse(&event.word, moment, reason),
        (Moment::Stop, Decision::Pass) if !reason.is_empty() => answers::noted(reason),
        (_, Decision::Pass) if !reason.is_empty() && AGENT.abilities(event).advise => answers::advised(event, reason),
        // Before a tool, a question was already turned into a refusal. At a permission request, the client asks a
        // person.
        (_, Decision::Ask | Decision::Pass) => Reply::default(),
    }
}

/// Replaces the arguments. The client accepts new arguments only with an `allow`. That does not bypass its sandbox,
/// which still decides what the call may touch (client case `modify`).
fn replaced(arguments: &Value, reason: &str) -> Reply {
    let mut output = answers::replaced(arguments, reason);
    if let Some(fields) = output.get_mut("hookSpecificOutput").and_then(Value::as_object_mut) {
        fields.insert("permissionDecision".into(), "allow".into());
    }
    answers::print(&output)
}
