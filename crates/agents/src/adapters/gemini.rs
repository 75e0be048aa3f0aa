//! Gemini CLI: hook payloads and answers, as observed with client version 0.61.0.

use crate::form::answers;
use crate::form::folder::{in_folder_of, language};
use crate::form::hook_form::HookProtocol;
use crate::form::outcome::end_of;
use crate::json::BadEvent;
use crate::model::abilities::{HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use crate::model::surface::{Extent, Limit};
use crate::settings::files::{CommandFiles, FolderTrust, Judged, Managed, Settings, SettingsFile, Switch};
use crate::settings::guard_line::runs_guard;
use crate::settings::hook_file::{HookFile, alone};
use crate::settings::json_text::value;
use crate::tools;
use crate::tools::Tool;
use reflex_engine::{Action, Decision, Event, Moment, Verdict};
use serde_json::{Map, Value, json};

/// The Gemini CLI adapter.
pub const AGENT: Agent = Agent {
    name: "gemini",
    aliases: &["gemini-cli"],
    title: "Gemini CLI",
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
        project: &[FILE.in_project(".gemini", "settings.json")],
        project_needs: "Gemini CLI runs hooks only in folders that it trusts: start it there once and accept",
        managed: Some(&Managed {
            file: "/etc/gemini-cli/settings.json",
            on_macos: "/Library/Application Support/GeminiCli/settings.json",
            text: |command| alone(&SETTINGS, "{\n  \"hooksConfig\": {\n    \"enabled\": true\n  }\n}\n", command),
            note: "its `enabled: true` wins over a project's `false`; in an untrusted folder the client skips these hooks too",
            shuts_out: |_| false,
        }),
        folders: &[".gemini"],
        programs: &["gemini"],
        fails_closed_since: None,
        gives_time: true,
        blocks_missing_since: None,
        plugin: None,
        afterwards: "hooks run only in folders that Gemini CLI trusts: start it there once and accept; in any other folder it runs none, without a warning; running sessions do not have the hook",
        switches: &[
            Switch {
                file: "settings.json",
                in_project: &[".gemini/settings.json"],
                is_off: hooks_are_off,
                name: "\"hooksConfig\" with \"enabled\": false, or with reflex among \"disabled\"",
                key: "hooksConfig",
            },
            // The client starts hooks by way of `bash`, which runs this file first: `exit 0` there lets every call run.
            Switch {
                file: "",
                in_project: &[".env", ".gemini/.env"],
                is_off: |text| Some(text.lines().any(|line| line.trim_start().starts_with("BASH_ENV="))),
                name: "BASH_ENV",
                key: "BASH_ENV",
            },
        ],
        folder_trust: Some(&FolderTrust { files: ["settings.json", "trustedFolders.json"], is_trusted }),
        trust: None,
        command_files: Some(&CommandFiles {
            project: &[".gemini/commands"],
            user: &[".gemini/commands"],
            judged: Judged::Never,
        }),
    }),
    limits: &LIMITS,
};

const PROJECT: &str = "GEMINI_PROJECT_DIR";

/// The user's settings file.
const FILE: SettingsFile = SettingsFile {
    variable: None,
    folder: ".gemini",
    name: "settings.json",
    by_agent: false,
    install: |text, command| SETTINGS.install(text, command),
    remove: |text| SETTINGS.remove(text),
};

/// The answers that the client honors, by event.
const CAPABILITIES: [Line; 5] = [
    // The client shows `ask` only on a terminal; without one it waits forever, and a hook cannot tell which applies.
    // Text next to a decision reaches the person, not the model.
    Line::new(
        Moment::BeforeTool,
        HookCapabilities { rewrite: true, ..HookCapabilities::DENY },
        "cases deny-json, exit2-stderr, ask, allow-warn, modify-full with 0.61.0",
    ),
    Line::new(Moment::Prompt, HookCapabilities::DENY_ADVISE, "cases beforeagent-deny, beforeagent-ctx with 0.61.0"),
    Line::new(Moment::AfterTool, HookCapabilities::ADVISE, "case aftertool-ctx with 0.61.0"),
    Line::new(Moment::SessionStart, HookCapabilities::ADVISE, "case session-context with 0.61.0"),
    Line::new(
        Moment::Stop,
        HookCapabilities::DENY_ADVISE,
        "document geminicli.com/docs/hooks/reference: at `AfterAgent` the reason of a `deny` is the next prompt; `systemMessage` by its document",
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
        what: "everything, in a trusted project with `hooksConfig.enabled: false` in its `.gemini/settings.json`: a cloned repository can contain it, which also disables the user's hooks",
        instead: "`reflex doctor` in the project names it; the settings that `reflex emit --scope managed` prints still apply",
    },
    Limit {
        extent: Extent::IfSwitched,
        what: "everything, in a folder that is not trusted: the client skips the user's and the system's hooks there too",
        instead: "trust the folder; without a terminal the client exits there before any call",
    },
    Limit {
        extent: Extent::IfSwitched,
        what: "everything, with `hooksConfig.enabled: false`, or with the hook's name among `hooksConfig.disabled`",
        instead: "write both into the settings of the system",
    },
    Limit {
        extent: Extent::Beyond,
        what: "a hook that takes longer than its timeout lets the call run",
        instead: "Reflex gives up after two seconds of work, or eight by the clock, and refuses",
    },
];

/// Hook timeout in milliseconds, long enough for a person to answer a prompt.
const TIMEOUT: u32 = 300_000;

/// The client's `settings.json`.
pub(crate) const SETTINGS: HookFile = HookFile {
    events: &["BeforeTool", "AfterTool", "AfterAgent", "SessionStart"],
    later: &[],
    handler: |command, event| {
        let command = match event {
            "BeforeTool" => command.guarded_line("gemini", event),
            // Gemini resumes the agent if this hook fails, so a guard that always fails would loop forever.
            "AfterAgent" | "SessionStart" => command.lenient_line("gemini", event),
            // After a tool has run, a failed hook would replace the tool's output.
            _ => command.line("gemini", event),
        };
        json!({"name": "reflex", "type": "command", "command": command, "timeout": TIMEOUT})
    },
    grouped: true,
    beside: &[],
    comments: true,
    is_dedicated: false,
};

/// Returns whether the text has `"hooksConfig": {"enabled": false}` or lists the guard's hook in `disabled`.
fn hooks_are_off(text: &str) -> Option<bool> {
    let settings = value(text)?;
    // With hooks of another type the client runs none of any file (played with 0.61.0).
    if settings.get("hooks").is_some_and(|hooks| !hooks.is_object()) {
        return Some(true);
    }
    let config = settings.get("hooksConfig")?;
    let is_named = |name: &Value| name.as_str().is_some_and(|name| name == "reflex" || runs_guard(name));
    if config.get("disabled").and_then(Value::as_array).is_some_and(|names| names.iter().any(is_named)) {
        return Some(true);
    }
    // The client accepts some strings and numbers as booleans, but not all.
    match config.get("enabled")? {
        Value::Bool(on) => Some(!on),
        Value::String(word) => Some(word == "false"),
        Value::Number(number) => Some(number.as_f64() == Some(0.0)),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns whether the client's own lists trust the folder. Folder trust is enabled by default.
fn is_trusted([settings, folders]: [&str; 2], folder: &str) -> bool {
    let enabled = value(settings).and_then(|settings| settings.pointer("/security/folderTrust/enabled")?.as_bool());
    let listed = value(folders).unwrap_or_default();
    let covers = |(place, word): (&String, &Value)| {
        let place = place.trim_end_matches('/');
        let around = place.rsplit_once('/').map_or("", |(around, _)| around);
        match word.as_str() {
            Some("TRUST_FOLDER") => reflex_engine::is_within(folder, place),
            Some("TRUST_PARENT") => reflex_engine::is_within(folder, around),
            _ => false,
        }
    };
    enabled == Some(false) || listed.as_object().is_some_and(|folders| folders.iter().any(covers))
}

/// The client's event names.
pub const EVENTS: [(&str, Moment); 11] = [
    ("BeforeTool", Moment::BeforeTool),
    ("AfterTool", Moment::AfterTool),
    ("BeforeAgent", Moment::Prompt),
    ("AfterAgent", Moment::Stop),
    ("SessionStart", Moment::SessionStart),
    ("SessionEnd", Moment::SessionEnd),
    ("BeforeModel", Moment::Other),
    ("AfterModel", Moment::Other),
    ("BeforeToolSelection", Moment::Other),
    ("PreCompress", Moment::Other),
    ("Notification", Moment::Other),
];

const FORM: HookProtocol = HookProtocol::new("gemini", &EVENTS, actions);

const PATH: tools::Field = &["file_path", "path", "absolute_path"];
const FOLDER: tools::Field = &["dir_path", "path"];

/// The client's tools, including those of older versions. Shell commands and fetches are parsed separately.
const TOOLS: [(&str, Tool); 12] = [
    ("write_file", Tool::Write { path: PATH, content: &["content"] }),
    ("replace", Tool::Edit { path: PATH, content: &["new_string"] }),
    ("read_file", Tool::Read { path: PATH }),
    ("read_many_files", Tool::Read { path: &["include", "paths"] }),
    ("list_directory", Tool::Search { path: FOLDER }),
    ("glob", Tool::Search { path: FOLDER }),
    ("grep_search", Tool::Search { path: FOLDER }),
    ("search_file_content", Tool::Search { path: FOLDER }),
    ("grep_search_ripgrep", Tool::Search { path: FOLDER }),
    ("invoke_agent", Tool::Spawn { prompt: &["prompt"] }),
    ("delegate_to_agent", Tool::Spawn { prompt: &["prompt", "objective"] }),
    ("activate_skill", Tool::Skill { name: &["name"] }),
];

/// Returns whether the payload is from Gemini CLI: either the event name is its own, or the payload has a timestamp but
/// not the permission mode that its fork sends.
fn is_caller(payload: &Payload<'_>) -> bool {
    let word = payload.fields.get(FORM.event).and_then(Value::as_str).unwrap_or("");
    let specific =
        matches!(FORM.known(word), Some(Moment::BeforeTool | Moment::AfterTool | Moment::Prompt | Moment::Stop));
    let shared = FORM.known(word).is_some() && payload.has("transcript_path") && !payload.has("permission_mode");
    payload.has("timestamp") && (specific || shared)
}

fn read(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    let mut event = FORM.read(payload)?;
    in_folder_of(payload, &["dir_path"], PROJECT, &mut event);
    if let Some(context) = payload.fields.get("mcp_context").and_then(Value::as_object) {
        let text = |key: &str| context.get(key).and_then(Value::as_str).unwrap_or("");
        let input = payload.fields.get(FORM.input).and_then(Value::as_object);
        if let (Some(input), false) = (input, event.actions.is_empty()) {
            event.actions = vec![tools::mcp(text("server_name"), text("tool_name"), input)];
        }
    }
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
        "web_fetch" => Ok(fetched(input)),
        _ => {
            let known = tools::known(&TOOLS, tool, input)?;
            Ok(known.unwrap_or_else(|| vec![mcp_named(tool, input).unwrap_or_else(|| tools::other(input))]))
        }
    }
}

/// Extracts the URLs from the text of a prompt, or from `url`, which its fork uses.
fn fetched(input: &Map<String, Value>) -> Vec<Action> {
    let texts = ["prompt", "url"].iter().filter_map(|key| input.get(*key)?.as_str());
    let urls = texts.flat_map(|text| text.split(|ch: char| ch.is_whitespace() || "<>\"'`()".contains(ch)));
    let urls = urls.filter(|word| word.contains("://")).map(|url| Action::Fetch { url: url.to_owned() });
    let actions: Vec<Action> = urls.collect();
    if actions.is_empty() { vec![tools::other(input)] } else { actions }
}

/// Parses `mcp_SERVER_TOOL`, for payloads that do not name the two separately.
fn mcp_named(name: &str, input: &Map<String, Value>) -> Option<Action> {
    let rest = name.strip_prefix("mcp_")?.trim_start_matches('_');
    let (server, tool) = rest.split_once("__").or_else(|| rest.split_once('_'))?;
    Some(tools::mcp(server, tool, input))
}

fn write(event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    if let Delivery::Replace { arguments, reason } = delivery {
        // `tool_input` replaces all arguments; a partial object would drop the others.
        let output = json!({"hookEventName": "BeforeTool", "tool_input": arguments});
        return answers::print(&json!({"systemMessage": reason, "hookSpecificOutput": output}));
    }
    let (decision, reason) = delivery.reply();
    match (event.moment, decision) {
        // Only a verdict keeps an agent at work; a failed hook does not.
        (Moment::Stop, Decision::Deny) => answers::print(&json!({"decision": "deny", "reason": reason})),
        (moment, Decision::Deny) => refuse(&event.word, moment, reason),
        // For the person: the client drops text for the model here.
        (Moment::BeforeTool | Moment::Stop, Decision::Pass) if !reason.is_empty() => answers::noted(reason),
        (Moment::AfterTool | Moment::Prompt | Moment::SessionStart, Decision::Pass) if !reason.is_empty() => {
            answers::advised(event, reason)
        }
        // A question was already turned into a refusal.
        (_, Decision::Ask | Decision::Pass) => Reply::default(),
    }
}

/// Returns a refusal, with the same keys at both moments that honor one. The keys are Gemini CLI's own: it does not
/// read Claude Code's and would run the call.
fn refuse(_word: &str, moment: Moment, reason: &str) -> Reply {
    match moment {
        Moment::BeforeTool => answers::refused_with(&json!({"decision": "deny", "reason": reason}), reason),
        Moment::Prompt => answers::print(&json!({"decision": "deny", "reason": reason})),
        Moment::AfterTool
        | Moment::PermissionRequest
        | Moment::SessionStart
        | Moment::SessionEnd
        | Moment::Stop
        | Moment::Subagent
        | Moment::SettingsChange
        | Moment::Other => Reply::default(),
    }
}
