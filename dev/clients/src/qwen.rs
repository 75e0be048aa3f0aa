//! Qwen Code: its start, the calls of its model, and its cases under Reflex.

use std::path::{Path, PathBuf};
use std::process::Command;

use reflex_mock::Call;
use serde_json::json;

use super::cases::{
    Case, Deaf, REWRITES, Switched, all_denied, comes_back, deaf, ensure, holds, hung, killed, live, managed_holds,
    missing_binary, page_with_orders, quiet, refused, state, supervised, switched_off_by_project,
};
use super::client::Client;
use super::command_files;
use super::npm::Package;
use super::sandbox::{Failure, Mode, Sandbox, write};
use super::variants;

pub(super) const CLIENT: Client = Client {
    name: "qwen",
    package: Package { name: "@qwen-code/qwen-code", version: "0.24.4", platform: "", executable: "cli.js" },
    start,
    settings,
    cases: &[
        Case { name: "denied", play: denied },
        Case { name: "normal", play: normal },
        Case { name: "modify", play: modify },
        Case {
            name: "command-file",
            play: |sandbox| {
                command_files::unseen(sandbox, ".qwen/commands/deploy.md", "State: !{LINE}\n", shell("echo hello"))
            },
        },
        Case { name: "after-tool", play: |sandbox| page_with_orders(sandbox, shell("cat page.txt")) },
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
        Case { name: "supervised", play: |sandbox| supervised(sandbox, shell) },
        Case { name: "live", play: live },
    ],
};

fn settings(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".qwen/settings.json")
}

fn start(sandbox: &Sandbox, client: &mut Command, mode: &Mode, model: &str) {
    let [server, argument] = sandbox.server();
    let of_system = json!({
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false, "disableAutoUpdate": true},
        "mcpServers": {"echo": {"command": server, "args": [argument]}},
    });
    let system = sandbox.folder().join("qwen.json");
    // If this write fails, the client never queries the model, which fails the case.
    let _ = write(&system, &sandbox.with_managed(of_system).to_string());
    client.args(["-p", &sandbox.prompt()]);
    match mode {
        Mode::Default => {}
        Mode::BypassPermissions => {
            client.arg("--yolo");
        }
    }
    client.env("OPENAI_API_KEY", "none").env("OPENAI_MODEL", "scripted").env("OPENAI_BASE_URL", format!("{model}/v1"));
    client.env("QWEN_CODE_SYSTEM_SETTINGS_PATH", system);
}

fn shell(command: &str) -> Call {
    Call::function(
        "run_shell_command",
        json!({"command": command, "description": "One step of the task", "is_background": false}),
    )
}

fn create(path: &Path, content: &str) -> Call {
    Call::function("write_file", json!({"file_path": path, "content": content}))
}

fn shout(text: &str, path: &Path) -> Call {
    Call::function("mcp__echo__shout", json!({"text": text, "path": path}))
}

fn denied(sandbox: &Sandbox) -> Result<(), Failure> {
    let switch = sandbox.workspace().join(SWITCH.0);
    let calls = vec![
        shell("rm -rf ~/photos"),
        create(&switch, "{}\n"),
        shout("hey", &state(sandbox)),
        shell("git reset --hard"),
    ];
    // The client has its own prompt; without a terminal it has no answer, and the call does not run.
    all_denied(sandbox, &switch, calls, &[&["Blocked:"], &["settings.json"], &["Blocked:"], &["notes.txt"]])
}

/// Calls that create three files.
fn calls(sandbox: &Sandbox) -> Vec<Call> {
    let (made, shouted) = (sandbox.workspace().join("made.txt"), sandbox.workspace().join("shouted.txt"));
    vec![shell("touch ran.txt"), create(&made, "made\n"), shout("hey", &shouted)]
}

fn normal(sandbox: &Sandbox) -> Result<(), Failure> {
    sandbox.wire()?;
    let (made, shouted) = (sandbox.workspace().join("made by tool.txt"), sandbox.workspace().join("shouted.txt"));
    let calls = vec![
        shell("echo hello > made.txt && git status --short > status.txt"),
        create(&made, "made\n"),
        shout("hey", &shouted),
    ];
    let transcript = sandbox.converse(&Mode::BypassPermissions, calls)?;
    holds(sandbox, "made.txt", "hello\n")?;
    holds(sandbox, "made by tool.txt", "made\n")?;
    holds(sandbox, "shouted.txt", "HEY")?;
    // Read from the file, not from the result of the call: under load this client loses a command's output.
    holds(sandbox, "status.txt", "?? made.txt\n?? status.txt\n")?;
    quiet(&transcript)
}

/// This client does not accept rewritten arguments: the call is refused, and the model is given the command to run
/// instead.
fn modify(sandbox: &Sandbox) -> Result<(), Failure> {
    write(&sandbox.home().join(".config/reflex/rules/a.yaml"), REWRITES)?;
    sandbox.wire()?;
    let transcript = sandbox.converse(&Mode::BypassPermissions, vec![shell("touch original.txt")])?;
    ensure(!sandbox.workspace().join("original.txt").exists(), "the original call ran")?;
    refused(transcript.answer(0)?, &["Blocked:", "Run `touch changed.txt` instead."])
}

/// A project's file that turns hooks off.
const SWITCH: (&str, &str) = (".qwen/settings.json", "{\"disableAllHooks\": true}\n");

/// Comments, and a hook of another tool. Without the version the client would rewrite the file.
const ODD_SETTINGS: &str = "{ // mine\n  \"$version\": 4,\n\t\"ui\" : {\"hideTips\":true},\n \"hooks\":{ \"PreToolUse\" : [ {\"matcher\":\"*\", \"hooks\":[{\"type\":\"command\",\"command\":\"echo fired >> \\\"$HOME/foreign.log\\\"\"}]}]} /* end */ }\n\n";
