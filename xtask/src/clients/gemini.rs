//! Gemini CLI: how it is started, the calls that its model makes, and what must be true under Reflex.
//!
//! Folder trust stays switched on: the workspace is trusted as a person would, and the hook runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::cases::{
    Case, Deaf, Switched, deaf, ensure, holds, hung, killed, other_calls_run, page_with_orders, quiet, refused, says,
    switched_off_by_project,
};
use super::client::{Client, PROMPT};
use super::model::Call;
use super::npm::Package;
use super::sandbox::{Failure, MANAGED, Mode, Sandbox, read, write};

pub(super) const CLIENT: Client = Client {
    name: "gemini",
    package: Package { name: "@google/gemini-cli", version: "0.61.0", platform: "", executable: "bundle/gemini.js" },
    start,
    settings,
    cases: &[
        Case { name: "denied", play: denied },
        Case { name: "normal", play: normal },
        Case { name: "modify", play: modify },
        Case { name: "after-tool", play: |sandbox| page_with_orders(sandbox, shell("cat page.txt")) },
        Case { name: "missing-binary", play: missing_binary },
        Case { name: "killed", play: |sandbox| killed(sandbox, shell("touch ran.txt")) },
        Case { name: "hung", play: |sandbox| hung(sandbox, shell("touch ran.txt")) },
        Case { name: "deaf", play: |sandbox| deaf(sandbox, shell("touch ran.txt"), Deaf::Runs) },
        Case { name: "project-switch", play: project_switch },
        Case { name: "managed", play: managed },
        Case { name: "uninstall", play: uninstall },
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
    let (system, trusted) = (sandbox.folder().join("gemini.json"), sandbox.home().join(".gemini/trustedFolders.json"));
    let trust = json!({sandbox.workspace().to_string_lossy(): "TRUST_FOLDER"});
    // What cannot be written shows as a client that never asks the model.
    let _ =
        write(&system, &sandbox.with_managed(of_system).to_string()).and_then(|()| write(&trusted, &trust.to_string()));
    client.args(["-m", "gemini-2.5-flash", "-p", PROMPT]);
    match mode {
        Mode::Default => {}
        Mode::BypassPermissions => {
            client.arg("--approval-mode=yolo");
        }
    }
    client.env("GEMINI_API_KEY", "none").env("GOOGLE_GEMINI_BASE_URL", model);
    client.env("GEMINI_CLI_SYSTEM_SETTINGS_PATH", system);
}

fn shell(command: &str) -> Call {
    Call::function("run_shell_command", json!({"command": command, "description": "One step of the task"}))
}

fn create(path: &str, content: &str) -> Call {
    Call::function("write_file", json!({"file_path": path, "content": content}))
}

fn shout(text: &str, path: &Path) -> Call {
    Call::function("mcp_echo_shout", json!({"text": text, "path": path}))
}

fn denied(sandbox: &Sandbox) -> Result<(), Failure> {
    let marker = sandbox.home().join("photos/marker.txt");
    write(&marker, "still here\n")?;
    write(&sandbox.workspace().join("notes.txt"), "first line\nunsaved work\n")?;
    sandbox.wire()?;
    let (state, hook) =
        (sandbox.home().join(".local/state/reflex/shouted.txt"), sandbox.workspace().join(".gemini/settings.json"));
    let calls = vec![
        shell("rm -rf ~/photos"),
        create(".gemini/settings.json", "{}\n"),
        shout("hey", &state),
        shell("git reset --hard"),
    ];
    let told = sandbox.converse(&Mode::BypassPermissions, calls)?;
    ensure(marker.exists(), "the marker in the home folder was deleted")?;
    refused(told.answer(0)?, &["Tool execution blocked:", "Blocked:"])?;
    ensure(!hook.exists(), "the write tool wrote settings of the client")?;
    refused(told.answer(1)?, &["settings.json", "reflex approve"])?;
    ensure(!state.exists(), "the MCP call ran")?;
    refused(told.answer(2)?, &["Blocked:"])?;
    // A question without a terminal would hang this client: it is a refusal that says how a person lets it pass.
    holds(sandbox, "notes.txt", "first line\nunsaved work\n")?;
    refused(told.answer(3)?, &["Needs approval:", "notes.txt", "This agent cannot ask here", "reflex approve"])
}

fn normal(sandbox: &Sandbox) -> Result<(), Failure> {
    sandbox.wire()?;
    let shouted = sandbox.workspace().join("shouted.txt");
    let calls = vec![
        shell("echo hello > made.txt && git status --short"),
        create("made by tool.txt", "made\n"),
        Call::function(
            "replace",
            json!({"file_path": "notes.txt", "instruction": "new words", "old_string": "first", "new_string": "second"}),
        ),
        shout("hey", &shouted),
    ];
    let told = sandbox.converse(&Mode::BypassPermissions, calls)?;
    holds(sandbox, "made.txt", "hello\n")?;
    holds(sandbox, "made by tool.txt", "made\n")?;
    holds(sandbox, "notes.txt", "second line\n")?;
    holds(sandbox, "shouted.txt", "HEY")?;
    says(told.answer(0)?, "?? made.txt")?;
    quiet(&told)
}

fn modify(sandbox: &Sandbox) -> Result<(), Failure> {
    let told = other_calls_run(sandbox, vec![shell("touch original.txt"), create("draft.txt", "long\n")])?;
    holds(sandbox, "draft.txt", "short\n")?;
    ensure(told.contains("modified by a hook"), "the model was not told that the call was changed")
}

fn missing_binary(sandbox: &Sandbox) -> Result<(), Failure> {
    sandbox.wire()?;
    sandbox.delete_reflex()?;
    let shouted = sandbox.workspace().join("shouted.txt");
    let calls = vec![shell("touch ran.txt"), create("made.txt", "made\n"), shout("hey", &shouted)];
    let told = sandbox.converse(&Mode::BypassPermissions, calls)?;
    for file in ["ran.txt", "made.txt", "shouted.txt"] {
        ensure(!sandbox.workspace().join(file).exists(), "a call ran without the guard")?;
    }
    (0..3).try_for_each(|step| refused(told.answer(step)?, &["reflex failed (127)"]))
}

/// Comments, and a hook of another tool.
const ODD_SETTINGS: &str = "{ // mine\n\t\"ui\" : {\"hideTips\":true},\n \"hooks\":{ \"BeforeTool\" : [ {\"matcher\":\"run_shell_command\", \"hooks\":[{\"type\":\"command\",\"command\":\"echo fired >> \\\"$HOME/foreign.log\\\"\"}]}]} /* end */ }\n\n";

fn project_switch(sandbox: &Sandbox) -> Result<(), Failure> {
    let file = (".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}\n");
    switched_off_by_project(sandbox, file, shell("rm -rf ~/photos"), Switched::Off)
}

/// The hook of the administrator runs where the user has none.
fn managed(sandbox: &Sandbox) -> Result<(), Failure> {
    write(&sandbox.folder().join(MANAGED), &sandbox.managed()?.to_string())?;
    let marker = sandbox.home().join("photos/marker.txt");
    write(&marker, "still here\n")?;
    let told = sandbox.converse(&Mode::BypassPermissions, vec![shell("rm -rf ~/photos")])?;
    ensure(marker.exists(), "the hook of the administrator did not run")?;
    refused(told.answer(0)?, &["Blocked:"])?;
    let (file, text) = (".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}\n");
    write(&sandbox.workspace().join(file), text)?;
    sandbox.converse(&Mode::BypassPermissions, vec![shell("rm -rf ~/photos")])?;
    ensure(marker.exists(), "a file of the project switched the administrator's hook off")
}

fn uninstall(sandbox: &Sandbox) -> Result<(), Failure> {
    let settings = settings(sandbox);
    write(&settings, ODD_SETTINGS)?;
    sandbox.wire()?;
    ensure(read(&settings)?.contains("--agent gemini"), "init wrote no hook")?;
    let told =
        sandbox.converse(&Mode::BypassPermissions, vec![shell("echo hello > made.txt"), shell("rm -rf ~/photos")])?;
    holds(sandbox, "made.txt", "hello\n")?;
    refused(told.answer(1)?, &["Blocked:"])?;
    ensure(read(&sandbox.home().join("foreign.log"))?.contains("fired"), "the foreign hook no longer fires")?;
    sandbox.unwire()?;
    ensure(read(&settings)? == ODD_SETTINGS, "uninstall did not restore settings.json byte for byte")
}
