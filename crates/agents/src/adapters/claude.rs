//! Claude Code: hook payloads and answers, as observed with client version 2.1.329.

use crate::form::answers;
use crate::form::hook_form::HookProtocol;
use crate::json::BadEvent;
use crate::model::abilities::{Ask, HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use crate::model::surface::{Extent, Limit, Surface};
use crate::settings::files::{CommandFiles, Judged, Managed, PluginFiles, Settings, SettingsFile, Switch};
use crate::settings::hook_file::{HookFile, alone};
use crate::settings::json_text::{flag, is_true, value};
use crate::tools;
use crate::tools::Tool;
use reflex_engine::shell::Language;
use reflex_engine::{Action, Decision, Event, Moment, Verdict};
use serde_json::{Map, Value, json};

/// The Claude Code adapter.
pub const AGENT: Agent = Agent {
    name: "claude",
    aliases: &["claude-code"],
    title: "Claude Code",
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    is_caller: |payload| payload.has("hook_event_name"),
    runs_hooks_of: &[],
    read,
    moment,
    says: &CAPABILITIES,
    write,
    refuse: answers::refuse,
    settings: Some(&Settings {
        files: &[FILE],
        project: &[SettingsFile {
            install: |text, command| IN_PROJECT.install(text, command),
            remove: |text| IN_PROJECT.remove(text),
            ..FILE.in_project(".claude", "settings.json")
        }],
        project_needs: "",
        managed: Some(&Managed {
            file: "/etc/claude-code/managed-settings.json",
            on_macos: "/Library/Application Support/ClaudeCode/managed-settings.json",
            text: |command| alone(&SETTINGS, "", command),
            note: "a user's `disableAllHooks` does not reach it; with `\"allowManagedHooksOnly\": true` beside it no other hook runs",
            shuts_out: |text| is_true(text, "allowManagedHooksOnly"),
        }),
        folders: &[".claude"],
        programs: &["claude"],
        fails_closed_since: Some("2.1.295"),
        gives_time: true,
        blocks_missing_since: Some("2.1.295"),
        plugin: Some(&PLUGIN),
        afterwards: "running sessions may not have the hook: restart them",
        switches: &[
            Switch {
                file: "settings.json",
                in_project: &PROJECT_FILES,
                is_off: |text| flag(text, "disableAllHooks"),
                name: "\"disableAllHooks\": true",
                key: "disableAllHooks",
            },
            // A user may have a wrapper that passes its argument on; a repository has no reason for one.
            Switch { file: "", in_project: &PROJECT_FILES, is_off: is_wrapped, name: SHELL_PREFIX, key: SHELL_PREFIX },
        ],
        folder_trust: None,
        trust: None,
        command_files: Some(&CommandFiles {
            project: &[".claude/commands", ".claude/skills"],
            user: &[".claude/commands", ".claude/skills"],
            judged: Judged::Since(SHELL_LINES_SINCE),
        }),
    }),
    limits: &LIMITS,
};

/// Settings of a project, the stronger file last.
const PROJECT_FILES: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];

/// Variable with a program that the client starts in place of every shell command and every hook, with the command line
/// as its argument. `env` of a project's settings sets it for the client as well (played with 2.1.332).
const SHELL_PREFIX: &str = "CLAUDE_CODE_SHELL_PREFIX";

/// Returns whether the text sets a program in place of the hooks; `None` if it does not name the variable.
fn is_wrapped(text: &str) -> Option<bool> {
    let program = value(text)?.pointer("/env/CLAUDE_CODE_SHELL_PREFIX")?.clone();
    Some(program.as_str() != Some(""))
}

/// The user's settings file.
const FILE: SettingsFile = SettingsFile {
    variable: Some("CLAUDE_CONFIG_DIR"),
    folder: ".claude",
    name: "settings.json",
    by_agent: false,
    install: |text, command| SETTINGS.install(text, command),
    remove: |text| SETTINGS.remove(text),
};

/// The answers that the client honors, by event.
const CAPABILITIES: [Line; 11] = [
    Line {
        words: &["PreSkillShellCommand", EXPANSION],
        ..Line::new(Moment::BeforeTool, HookCapabilities::DENY, "cases skill-shell-exit2, expansion-exit2 with 2.1.332")
    },
    Line::new(Moment::SettingsChange, HookCapabilities::DENY, "case config-change-exit2 with 2.1.332"),
    Line {
        before: "2.0.10",
        ..Line::new(
            Moment::BeforeTool,
            HookCapabilities { advise: false, ..HookCapabilities::DENY_ASK_ADVISE },
            "the changelog has `updatedInput` since 2.0.10",
        )
    },
    Line {
        before: "2.1.9",
        ..Line::new(
            Moment::BeforeTool,
            HookCapabilities { advise: false, rewrite: true, ..HookCapabilities::DENY_ASK_ADVISE },
            "case pre-context with 2.1.329; the changelog has it since 2.1.9",
        )
    },
    Line::new(
        Moment::BeforeTool,
        HookCapabilities { rewrite: true, ..HookCapabilities::DENY_ASK_ADVISE },
        "cases pre-deny-json, pre-ask-default, pre-context, pre-modify-nodecision with 2.1.329",
    ),
    // The client is already asking a person.
    Line::new(
        Moment::PermissionRequest,
        HookCapabilities { ask: Ask::Native, ..HookCapabilities::DENY },
        "case permreq-deny with 2.1.329",
    ),
    Line::new(Moment::Prompt, HookCapabilities::DENY_ADVISE, "cases prompt-block-json, prompt-context with 2.1.329"),
    Line {
        words: &["PostToolBatch"],
        ..Line::new(
            Moment::AfterTool,
            HookCapabilities::NONE,
            "no answer was observed; each of its calls has a separate event",
        )
    },
    Line::new(Moment::AfterTool, HookCapabilities::ADVISE, "cases post-context, fail-cmd-context with 2.1.329"),
    Line::new(Moment::SessionStart, HookCapabilities::ADVISE, "case session-context with 2.1.329"),
    Line::new(
        Moment::Stop,
        HookCapabilities::DENY_ADVISE,
        "case stop-block with 2.1.329; `systemMessage` by its document",
    ),
];

const LIMITS: [Limit; 5] = [
    Limit {
        extent: Extent::IfSwitched,
        what: "everything, in a project whose settings set `CLAUDE_CODE_SHELL_PREFIX` in `env`: that program runs in place of every shell line, those of hooks and MCP servers among them; entries of `init` start without a shell",
        instead: "`reflex status` in the project says OFF with file and line; managed settings do not help",
    },
    Limit {
        extent: Extent::IfSwitched,
        what: "everything, in a project with `disableAllHooks` in its `.claude/settings.json` or `settings.local.json`: a cloned repository can contain it, which also disables the user's hooks",
        instead: "`reflex doctor` in the project names it; the settings that `reflex emit --scope managed` prints still apply",
    },
    Limit {
        extent: Extent::IfSwitched,
        what: "`--bare`, `--safe-mode` and `--setting-sources project` skip a user's hooks without a warning",
        instead: "put the same entry into the managed settings",
    },
    Limit {
        extent: Extent::Some(&[Surface::Read]),
        what: "files mentioned with `@` in a prompt are read without a tool call",
        instead: "deny rules of the client",
    },
    Limit { extent: Extent::Beyond, what: "what a tool does after it has started", instead: "the client's sandbox" },
];

/// Plugin settings of the client. `enabledPlugins` maps a plugin and its marketplace to a flag
/// (code.claude.com/docs/en/settings). The list of installed plugins has the format that 2.1.329 writes.
const PLUGIN: PluginFiles = PluginFiles {
    is_enabled: |text| {
        let settings: Value = serde_json::from_str(text).ok()?;
        guard_plugin(settings.get("enabledPlugins")?)?.as_bool()
    },
    installed: "plugins/installed_plugins.json",
    folder: |text| {
        let list: Value = serde_json::from_str(text).ok()?;
        let installed = guard_plugin(list.get("plugins")?)?.as_array()?.last()?;
        Some(installed.get("installPath")?.as_str()?.to_owned())
    },
    hooks: "hooks/hooks.json",
};

fn guard_plugin(plugins: &Value) -> Option<&Value> {
    plugins.as_object()?.iter().find(|(name, _)| name.starts_with("reflex-guard@")).map(|(_, value)| value)
}

/// First version with an event for each shell line of a command or skill. Older ones warn about its name in the settings.
const SHELL_LINES_SINCE: &str = "2.1.332";

/// Hook timeout in seconds, long enough for a person to answer a prompt. Longer if the policy lets a hook wait longer.
const TIMEOUT: u32 = 300;

/// Seconds between the end of a hook's wait and its timeout.
const MARGIN: u32 = 10;

/// The client's `settings.json`.
pub(crate) const SETTINGS: HookFile = HookFile {
    events: &["PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", EXPANSION, "ConfigChange"],
    later: &[("PreSkillShellCommand", SHELL_LINES_SINCE)],
    handler: |command, event| {
        let mut handler = json!({
            "type": "command", "command": command.binary, "args": command.arguments("claude", event),
            "timeout": TIMEOUT.max(command.wait.saturating_add(MARGIN)),
        });
        // After a tool has run, a failed hook has nothing to block.
        let blocks = matches!(event, "PreToolUse" | "PreSkillShellCommand");
        if let Some(handler) = handler.as_object_mut().filter(|_| blocks) {
            handler.insert("onFailure".into(), "block".into());
        }
        handler
    },
    grouped: true,
    beside: &[],
    comments: false,
    is_dedicated: false,
};

/// The hook file of a project. Other agents also run the hooks of that file but do not read `args`, so the command is
/// one line.
const IN_PROJECT: HookFile = HookFile {
    handler: |command, event| {
        let mut handler = (SETTINGS.handler)(command, event);
        if let Some(handler) = handler.as_object_mut() {
            handler.remove("args");
            handler.insert("command".into(), command.line("claude", event).into());
        }
        handler
    },
    ..SETTINGS
};

/// The client's tools, including those of older versions.
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

/// The event before the text of a typed command is expanded.
const EXPANSION: &str = "UserPromptExpansion";

/// The client's event names.
pub const EVENTS: [(&str, Moment); 34] = [
    ("PreToolUse", Moment::BeforeTool),
    ("PreSkillShellCommand", Moment::BeforeTool),
    ("PostToolUse", Moment::AfterTool),
    ("PostToolUseFailure", Moment::AfterTool),
    ("PostToolBatch", Moment::AfterTool),
    ("PermissionRequest", Moment::PermissionRequest),
    ("PermissionDenied", Moment::Other),
    ("UserPromptSubmit", Moment::Prompt),
    // A typed command: read as a call of the skill.
    (EXPANSION, Moment::BeforeTool),
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
    ("ConfigChange", Moment::SettingsChange),
    ("InstructionsLoaded", Moment::Other),
    ("WorktreeCreate", Moment::Other),
    ("WorktreeRemove", Moment::Other),
    ("CwdChanged", Moment::Other),
    ("FileChanged", Moment::Other),
    ("DirectoryAdded", Moment::Other),
    ("MessageDisplay", Moment::Other),
];

/// Returns the moment of an event name. An unknown event may precede a tool call, so it is treated as one.
fn moment(word: &str) -> Moment {
    FORM.known(word).unwrap_or(Moment::BeforeTool)
}

pub(crate) const FORM: HookProtocol = HookProtocol::new("claude", &EVENTS, |_, tool, input| {
    let input = input.as_object().ok_or_else(|| BadEvent::new("tool_input", "is not an object"))?;
    Ok(vec![action(tool, input)?])
});

fn read(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    let expanded = expanded(payload.fields);
    let payload = &Payload { fields: expanded.as_ref().unwrap_or(payload.fields), ..*payload };
    Ok(Event { version: version(payload), ..FORM.read(payload)? })
}

/// Returns the fields of a command that a person typed, with those of a call of the skill of this name.
fn expanded(fields: &Map<String, Value>) -> Option<Map<String, Value>> {
    if fields.get(FORM.event).and_then(Value::as_str) != Some(EXPANSION) {
        return None;
    }
    let skill = json!({"skill": fields.get("command_name")?, "args": fields.get("command_args")});
    let mut fields = fields.clone();
    fields.insert(FORM.tool.into(), "Skill".into());
    fields.insert(FORM.input.into(), skill);
    Some(fields)
}

/// Parses the client's version from `AI_AGENT=claude-code_2-1-329_harness`, which the client sets for its child
/// processes.
fn version(payload: &Payload<'_>) -> Option<String> {
    let agent = (payload.variable)("AI_AGENT")?;
    let version = agent.strip_prefix("claude-code_")?.split('_').next()?;
    Some(version.replace('-', "."))
}

/// Translates a tool call into an agent-independent action.
pub(crate) fn action(tool: &str, input: &Map<String, Value>) -> Result<Action, BadEvent> {
    // It may also watch a socket, which `ws` describes.
    if tool == "Monitor" && !input.contains_key("command") {
        return Ok(tools::other(input));
    }
    let known = tools::known(&TOOLS, tool, input)?.and_then(|actions| actions.into_iter().next());
    Ok(known.or_else(|| tools::mcp_named(tool, input)).unwrap_or_else(|| tools::other(input)))
}

fn write(event: &Event, verdict: &Verdict, delivery: &Delivery) -> Reply {
    if let Delivery::Replace { arguments, reason } = delivery {
        return answers::print(&answers::replaced(arguments, reason));
    }
    let (decision, reason) = delivery.reply();
    match (event.moment, decision) {
        (Moment::Stop, Decision::Deny) => answers::kept_at_work(reason),
        // With exit status 2 the client would read only the reason and ignore `continue`.
        (Moment::BeforeTool, Decision::Deny) if verdict.ends_turn => answers::print(&answers::ended(reason)),
        (moment, Decision::Deny) => answers::refuse(&event.word, moment, reason),
        (Moment::BeforeTool, Decision::Ask) => answers::print(&answers::decided("ask", reason)),
        (Moment::Stop, Decision::Pass) if !reason.is_empty() => answers::noted(reason),
        (_, Decision::Pass) if !reason.is_empty() && AGENT.abilities(event).advise => answers::advised(event, reason),
        (_, Decision::Ask | Decision::Pass) => Reply::default(),
    }
}
