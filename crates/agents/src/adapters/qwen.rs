//! Qwen Code: hook payloads and answers, as observed with client version 0.24.4. It has Claude Code's event names and
//! Gemini CLI's tool names.

use crate::form::answers;
use crate::form::folder::{in_folder_of, language};
use crate::form::hook_form::HookProtocol;
use crate::form::outcome::end_of;
use crate::json::BadEvent;
use crate::model::abilities::{Ask, HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use crate::model::surface::{Extent, Limit, Surface};
use crate::settings::files::{CommandFiles, Judged, Managed, Settings, SettingsFile, Switch};
use crate::settings::hook_file::{HookFile, alone};
use crate::settings::json_text::value;
use crate::tools;
use crate::tools::Tool;
use reflex_engine::{Action, Decision, Event, Moment, Verdict};
use serde_json::{Value, json};

/// The Qwen Code adapter.
pub const AGENT: Agent = Agent {
    name: "qwen",
    aliases: &["qwen-code"],
    title: "Qwen Code",
    project_variable: Some(PROJECT),
    is_caller,
    runs_hooks_of: &[],
    read,
    moment: |word| FORM.known(word).unwrap_or(Moment::BeforeTool),
    says: &CAPABILITIES,
    write,
    refuse,
    settings: Some(&Settings {
        files: &[FILE],
        project: &[FILE.in_project(".qwen", "settings.json")],
        project_needs: "",
        managed: Some(&Managed {
            file: "/etc/qwen-code/settings.json",
            on_macos: "",
            text: |command| alone(&SETTINGS, "{\n  \"disableAllHooks\": false\n}\n", command),
            note: "its `disableAllHooks: false` wins over a project's `true`; the path is built into the client",
            shuts_out: |_| false,
        }),
        folders: &[".qwen"],
        programs: &["qwen"],
        fails_closed_since: None,
        gives_time: true,
        blocks_missing_since: None,
        plugin: None,
        afterwards: "running sessions do not have the hook",
        switches: &[Switch {
            file: "settings.json",
            in_project: &[".qwen/settings.json"],
            is_off,
            name: "\"disableAllHooks\": true",
            key: "disableAllHooks",
        }],
        folder_trust: None,
        trust: None,
        command_files: Some(&CommandFiles {
            project: &[".qwen/commands"],
            user: &[".qwen/commands"],
            judged: Judged::Never,
        }),
    }),
    limits: &LIMITS,
};

const PROJECT: &str = "QWEN_PROJECT_DIR";

/// The user's settings file.
const FILE: SettingsFile = SettingsFile {
    variable: None,
    folder: ".qwen",
    name: "settings.json",
    by_agent: false,
    install: |text, command| SETTINGS.install(text, command),
    remove: |text| SETTINGS.remove(text),
};

/// The answers that the client honors, by event.
const CAPABILITIES: [Line; 4] = [
    // Text without a decision reaches the person and not the model, contrary to the documentation.
    Line::new(
        Moment::BeforeTool,
        HookCapabilities { ask: Ask::Native, ..HookCapabilities::DENY },
        "cases deny, exit2, ask, warn with 0.24.4",
    ),
    Line::new(Moment::AfterTool, HookCapabilities::ADVISE, "case post-context with 0.24.4"),
    Line::new(Moment::SessionStart, HookCapabilities::ADVISE, "case session-context with 0.24.4"),
    Line::new(
        Moment::Stop,
        HookCapabilities::DENY_ADVISE,
        "document QwenLM/qwen-code docs/users/features/hooks.md: at `Stop` a `block` says why the work goes on; `systemMessage` by its document",
    ),
];

const LIMITS: [Limit; 5] = [
    Limit {
        extent: Extent::Beyond,
        what: "shell lines (`!{…}`) in command files run without a tool call when a person uses the command",
        instead: "Reflex judges them when the file is written, at the start of a session and in `reflex doctor`, and names those it would stop",
    },
    Limit {
        extent: Extent::IfSwitched,
        what: "everything, in a project with `disableAllHooks` in its `.qwen/settings.json`: a cloned repository can contain it, which also disables the user's hooks",
        instead: "`reflex doctor` in the project names it; the settings that `reflex emit --scope managed` prints still apply",
    },
    Limit {
        extent: Extent::All(&[Surface::Subagent]),
        what: "whether the calls of its subagents reach a hook: none was recorded",
        instead: "`reflex status` once a subagent has worked: it prints PROVEN if one arrived",
    },
    Limit {
        extent: Extent::Beyond,
        what: "a hook that takes longer than its timeout lets the call run",
        instead: "Reflex gives up after two seconds of work, or eight by the clock, and refuses",
    },
    Limit {
        extent: Extent::IfSwitched,
        what: "everything, with `disableAllHooks` in a settings file",
        instead: "`reflex doctor`; the settings files are among those that an agent may not change",
    },
];

/// Returns whether the settings disable hooks. The client takes any non-empty string for `true`.
fn is_off(text: &str) -> Option<bool> {
    match value(text)?.get("disableAllHooks")? {
        Value::Bool(off) => Some(*off),
        Value::String(word) => Some(!word.is_empty()),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Hook timeout in seconds, long enough for a person to answer a prompt.
const TIMEOUT: u32 = 300;

/// The client's `settings.json`.
pub(crate) const SETTINGS: HookFile = HookFile {
    events: &["PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionStart"],
    later: &[],
    handler: |command, event| {
        // A hook after a tool has nothing to refuse, and at the end only a verdict, not a failed hook, keeps the agent
        // at work.
        let command = match event {
            "PreToolUse" => command.guarded_line("qwen", event),
            _ => command.line("qwen", event),
        };
        json!({"name": "reflex", "type": "command", "command": command, "timeout": TIMEOUT})
    },
    grouped: true,
    beside: &[],
    comments: true,
    is_dedicated: false,
};

/// The client's event names.
pub const EVENTS: [(&str, Moment); 13] = [
    ("PreToolUse", Moment::BeforeTool),
    ("PostToolUse", Moment::AfterTool),
    ("PostToolUseFailure", Moment::AfterTool),
    ("PermissionRequest", Moment::PermissionRequest),
    ("PermissionDenied", Moment::Other),
    ("UserPromptSubmit", Moment::Prompt),
    ("SessionStart", Moment::SessionStart),
    ("SessionEnd", Moment::SessionEnd),
    ("Stop", Moment::Stop),
    ("SubagentStart", Moment::Subagent),
    ("SubagentStop", Moment::Subagent),
    ("PreCompact", Moment::Other),
    ("Notification", Moment::Other),
];

const FORM: HookProtocol = HookProtocol::new("qwen", &EVENTS, actions);

const PATH: tools::Field = &["file_path", "absolute_path", "path"];

/// The client's tools. Shell commands are parsed separately.
const TOOLS: [(&str, Tool); 12] = [
    ("write_file", Tool::Write { path: PATH, content: &["content"] }),
    ("edit", Tool::Edit { path: PATH, content: &["new_string"] }),
    ("replace", Tool::Edit { path: PATH, content: &["new_string"] }),
    ("notebook_edit", Tool::Edit { path: &["notebook_path"], content: &["new_source"] }),
    ("read_file", Tool::Read { path: PATH }),
    ("read_many_files", Tool::Read { path: &["paths", "include"] }),
    ("list_directory", Tool::Search { path: &["path"] }),
    ("glob", Tool::Search { path: &["path"] }),
    ("grep_search", Tool::Search { path: &["path"] }),
    ("web_fetch", Tool::Fetch { url: &["url"] }),
    ("agent", Tool::Spawn { prompt: &["prompt"] }),
    ("skill", Tool::Skill { name: &["skill"] }),
];

/// Returns whether the payload is from Qwen Code: it has a timestamp, which Claude Code does not send, and a permission
/// mode, which Gemini CLI does not send.
fn is_caller(payload: &Payload<'_>) -> bool {
    ["hook_event_name", "timestamp", "permission_mode", "transcript_path"].iter().all(|key| payload.has(key))
}

fn read(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    let mut event = FORM.read(payload)?;
    in_folder_of(payload, &["directory"], PROJECT, &mut event);
    end_of(payload, &mut event);
    Ok(event)
}

fn actions(event: &Event, tool: &str, input: &Value) -> Result<Vec<Action>, BadEvent> {
    let Value::Object(input) = input else { return Err(BadEvent::new("tool_input", "is not an object")) };
    match tool {
        "run_shell_command" => {
            let shell = [(tool, Tool::Shell { command: &["command"], language: language(event) })];
            Ok(tools::known(&shell, tool, input)?.unwrap_or_default())
        }
        // Calls a tool that was found by search.
        "tool_call" => match (input.get("name").and_then(Value::as_str), input.get("arguments")) {
            (Some(inner), Some(arguments)) if inner != tool => actions(event, inner, arguments),
            _ => Ok(vec![tools::other(input)]),
        },
        _ => {
            let known = tools::known(&TOOLS, tool, input)?;
            let unknown = || vec![tools::mcp_named(tool, input).unwrap_or_else(|| tools::other(input))];
            Ok(known.unwrap_or_else(unknown))
        }
    }
}

fn write(event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    let (decision, reason) = delivery.reply();
    match (event.moment, decision) {
        (Moment::Stop, Decision::Deny) => answers::kept_at_work(reason),
        (moment, Decision::Deny) => refuse(&event.word, moment, reason),
        (Moment::BeforeTool, Decision::Ask) => answers::print(&answers::decided("ask", reason)),
        // For the person: the client does not pass text without a decision to the model.
        (Moment::BeforeTool | Moment::Stop, Decision::Pass) if !reason.is_empty() => answers::noted(reason),
        (Moment::AfterTool | Moment::SessionStart, Decision::Pass) if !reason.is_empty() => {
            answers::advised(event, reason)
        }
        (_, Decision::Ask | Decision::Pass) => Reply::default(),
    }
}

/// Returns a refusal. The client was observed to honor one only before a tool.
fn refuse(word: &str, moment: Moment, reason: &str) -> Reply {
    match moment {
        Moment::BeforeTool => answers::refuse(word, moment, reason),
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
