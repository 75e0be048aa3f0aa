//! Gemini CLI: its start, the calls of its model, and its cases under Reflex.
//!
//! Folder trust stays enabled: the workspace is trusted as a person would do it, and the hook runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use reflex_mock::Call;
use serde_json::json;

use super::cases::{
    Case, Deaf, Switched, all_denied, allow_all, asks_elsewhere, changed, comes_back, contains, deaf, holds, hung,
    kept_and_undone, killed, late_approval, live, managed_holds, missing_binary, page_with_orders, quiet, state,
    supervised, supervised_with_hooks, switched_off_by_project,
};
use super::client::Client;
use super::command_files;
use super::judge;
use super::npm::Package;
use super::sandbox::{Failure, Mode, Sandbox, write};
use super::variants;

pub(super) const CLIENT: Client = Client {
    name: "gemini",
    package: Package { name: "@google/gemini-cli", version: "0.61.0", platform: "", executable: "bundle/gemini.js" },
    start,
    settings,
    cases: &[
        Case { name: "denied", play: denied },
        Case { name: "normal", play: normal },
        Case { name: "modify", play: |sandbox| changed(sandbox, shell, create, "modified by a hook") },
        Case {
            name: "command-file",
            play: |sandbox| {
                command_files::unseen(
                    sandbox,
                    ".gemini/commands/deploy.toml",
                    "prompt = \"State: !{LINE}\"\n",
                    shell("echo hello"),
                )
            },
        },
        Case { name: "after-tool", play: |sandbox| page_with_orders(sandbox, shell("cat page.txt")) },
        Case { name: "supervised", play: |sandbox| supervised(sandbox, shell) },
        Case { name: "supervised-with-hooks", play: |sandbox| supervised_with_hooks(sandbox, shell) },
        Case { name: "ask-elsewhere", play: |sandbox| asks_elsewhere(sandbox, || shell("git reset --hard")) },
        Case { name: "late-yes", play: |sandbox| late_approval(sandbox, shell) },
        Case { name: "mode", play: |sandbox| allow_all(sandbox, shell) },
        Case { name: "auto-pilot", play: |sandbox| judge::auto_pilot(sandbox, shell) },
        Case { name: "undo", play: |sandbox| kept_and_undone(sandbox, shell, false) },
        Case { name: "missing-binary", play: |sandbox| missing_binary(sandbox, calls(sandbox), "reflex failed (127)") },
        Case { name: "killed", play: |sandbox| killed(sandbox, shell("touch ran.txt")) },
        Case { name: "hung", play: |sandbox| hung(sandbox, shell("touch ran.txt")) },
        Case { name: "deaf", play: |sandbox| deaf(sandbox, shell("touch ran.txt"), Deaf::Runs) },
        Case {
            name: "project-switch",
            play: |sandbox| switched_off_by_project(sandbox, SWITCH, shell("rm -rf ~/photos"), Switched::Off),
        },
        Case { name: "managed", play: |sandbox| managed_holds(sandbox, SWITCH, shell) },
        Case { name: "settings", play: |sandbox| variants::settings(sandbox, || shell("touch ran.txt")) },
        Case { name: "uninstall", play: |sandbox| comes_back(sandbox, ODD_SETTINGS, shell) },
        Case { name: "live", play: live_where_trusted },
    ],
};

fn settings(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".gemini/settings.json")
}

fn start(sandbox: &Sandbox, client: &mut Command, mode: &Mode, model: &str) {
    let [server, argument] = sandbox.server();
    let of_system = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "mcpServers": {"echo": {"command": server, "args": [argument]}},
    });
    let system = sandbox.folder().join("gemini.json");
    // If this write fails, the client never queries the model, which fails the case.
    let _ = write(&system, &sandbox.with_managed(of_system).to_string()).and_then(|()| trust(sandbox));
    client.args(["-m", "gemini-2.5-flash", "-p", &sandbox.prompt()]);
    match mode {
        Mode::Default => {}
        Mode::BypassPermissions => {
            client.arg("--approval-mode=yolo");
        }
    }
    client.env("GEMINI_API_KEY", "none").env("GOOGLE_GEMINI_BASE_URL", model);
    client.env("GEMINI_CLI_SYSTEM_SETTINGS_PATH", system);
}

/// Trusts the workspace, as a person does at the first start in a folder.
fn trust(sandbox: &Sandbox) -> Result<()> {
    let trust = json!({sandbox.workspace().to_string_lossy(): "TRUST_FOLDER"});
    write(&sandbox.home().join(".gemini/trustedFolders.json"), &trust.to_string())
}

fn live_where_trusted(sandbox: &Sandbox) -> Result<(), Failure> {
    trust(sandbox)?;
    live(sandbox)
}

fn shell(command: &str) -> Call {
    Call::function("run_shell_command", json!({"command": command, "description": "One step of the task"}))
}

fn create(path: &Path, content: &str) -> Call {
    Call::function("write_file", json!({"file_path": path, "content": content}))
}

fn shout(text: &str, path: &Path) -> Call {
    Call::function("mcp_echo_shout", json!({"text": text, "path": path}))
}

fn denied(sandbox: &Sandbox) -> Result<(), Failure> {
    let switch = Path::new(SWITCH.0);
    let calls = vec![
        shell("rm -rf ~/photos"),
        create(switch, "{}\n"),
        shout("hey", &state(sandbox)),
        shell("git reset --hard"),
    ];
    // A prompt without a terminal would hang this client: an ask becomes a refusal that explains how a person approves
    // the call.
    let words: [&[&str]; 4] = [
        &["Tool execution blocked:", "Blocked:"],
        &["settings.json", "reflex approve "],
        &["Blocked:"],
        &["Needs approval:", "notes.txt", "This agent cannot ask here", "reflex approve "],
    ];
    all_denied(sandbox, &sandbox.workspace().join(switch), calls, &words)
}

/// Calls that create three files.
fn calls(sandbox: &Sandbox) -> Vec<Call> {
    let (made, shouted) = (PathBuf::from("made.txt"), sandbox.workspace().join("shouted.txt"));
    vec![shell("touch ran.txt"), create(&made, "made\n"), shout("hey", &shouted)]
}

fn normal(sandbox: &Sandbox) -> Result<(), Failure> {
    sandbox.wire()?;
    let shouted = sandbox.workspace().join("shouted.txt");
    let calls = vec![
        shell("echo hello > made.txt && git status --short"),
        create(Path::new("made by tool.txt"), "made\n"),
        Call::function(
            "replace",
            json!({"file_path": "notes.txt", "instruction": "new words", "old_string": "first", "new_string": "second"}),
        ),
        shout("hey", &shouted),
    ];
    let transcript = sandbox.converse(&Mode::BypassPermissions, calls)?;
    holds(sandbox, "made.txt", "hello\n")?;
    holds(sandbox, "made by tool.txt", "made\n")?;
    holds(sandbox, "notes.txt", "second line\n")?;
    holds(sandbox, "shouted.txt", "HEY")?;
    contains(transcript.answer(0)?, "?? made.txt")?;
    quiet(&transcript)
}

/// A project's file that turns hooks off.
const SWITCH: (&str, &str) = (".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}\n");

/// Comments, and a hook of another tool.
const ODD_SETTINGS: &str = "{ // mine\n\t\"ui\" : {\"hideTips\":true},\n \"hooks\":{ \"BeforeTool\" : [ {\"matcher\":\"run_shell_command\", \"hooks\":[{\"type\":\"command\",\"command\":\"echo fired >> \\\"$HOME/foreign.log\\\"\"}]}]} /* end */ }\n\n";
