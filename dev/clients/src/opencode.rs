//! OpenCode: its start, the calls of its model, and its cases under Reflex.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use reflex_mock::Call;
use serde_json::json;

use super::cases::{
    Case, Deaf, all_denied, changed, contains, deaf, goes_away, holds, hung, killed, live, missing_binary,
    page_with_orders, quiet, state, supervised,
};
use super::client::Client;
use super::command_files;
use super::npm::Package;
use super::sandbox::{Failure, Mode, Sandbox, write};

pub(super) const CLIENT: Client = Client {
    name: "opencode",
    package: Package { name: "opencode-ai", version: "1.18.33", platform: "opencode", executable: "bin/opencode" },
    start,
    settings,
    cases: &[
        Case { name: "denied", play: denied },
        Case { name: "normal", play: normal },
        Case { name: "modify", play: |sandbox| changed(sandbox, shell, create, "changed before it ran") },
        Case {
            name: "command-file",
            play: |sandbox| {
                command_files::unseen(sandbox, ".opencode/command/deploy.md", "State: !`LINE`\n", shell("echo hello"))
            },
        },
        Case { name: "after-tool", play: |sandbox| page_with_orders(sandbox, shell("cat page.txt")) },
        Case {
            name: "missing-binary",
            play: |sandbox| missing_binary(sandbox, calls(sandbox), "reflex cannot be started"),
        },
        Case { name: "killed", play: |sandbox| killed(sandbox, shell("touch ran.txt")) },
        Case { name: "hung", play: |sandbox| hung(sandbox, shell("touch ran.txt")) },
        Case { name: "deaf", play: |sandbox| deaf(sandbox, shell("touch ran.txt"), Deaf::Refused) },
        Case { name: "uninstall", play: |sandbox| goes_away(sandbox, shell("echo hello > made.txt")) },
        Case { name: "supervised", play: |sandbox| supervised(sandbox, shell) },
        Case { name: "live", play: live },
    ],
};

fn settings(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".config/opencode/plugins/reflex.js")
}

fn start(sandbox: &Sandbox, client: &mut Command, _mode: &Mode, model: &str) {
    let [server, argument] = sandbox.server();
    let config = json!({
        "share": "disabled", "autoupdate": false, "model": "mock/mock", "small_model": "mock/mock",
        "provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "Mock",
            "options": {"baseURL": format!("{model}/v1"), "apiKey": "none"},
            "models": {"mock": {"name": "Mock", "tool_call": true, "limit": {"context": 100_000, "output": 4000}}}}},
        "mcp": {"echo": {"type": "local", "command": [server, argument], "enabled": true}},
    });
    // Otherwise the client would try to download a package for its plugins for more than a minute.
    let _ = write(&sandbox.home().join(".npmrc"), "fetch-retries=0\nfetch-timeout=1000\noffline=true\n");
    client.args(["run", "--format", "json", &sandbox.prompt()]).env("OPENCODE_CONFIG_CONTENT", config.to_string());
    for switch in ["MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD", "SHARE"] {
        client.env(format!("OPENCODE_DISABLE_{switch}"), "1");
    }
}

fn shell(command: &str) -> Call {
    Call::function("bash", json!({"command": command, "description": "One step of the task"}))
}

fn create(path: &Path, content: &str) -> Call {
    Call::function("write", json!({"filePath": path, "content": content}))
}

fn shout(text: &str, path: &Path) -> Call {
    Call::function("echo_shout", json!({"text": text, "path": path}))
}

fn denied(sandbox: &Sandbox) -> Result<(), Failure> {
    let other = sandbox.workspace().join(".opencode/plugin/other.js");
    let calls = vec![
        shell("rm -rf ~/photos"),
        create(&other, "// mine\n"),
        shout("hey", &state(sandbox)),
        shell("git reset --hard"),
    ];
    // A plugin cannot prompt: an ask becomes a refusal that explains how a person approves the call.
    let words: [&[&str]; 4] = [
        &["Blocked:"],
        &["other.js", "reflex approve "],
        &["Blocked:"],
        &["Needs approval:", "notes.txt", "This agent cannot ask here", "reflex approve "],
    ];
    all_denied(sandbox, &other, calls, &words)
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
        shell("echo hello > made.txt && git status --short"),
        create(&made, "made\n"),
        shout("hey", &shouted),
        Call::function("read", json!({"filePath": made})),
        shell("git push --force-with-lease origin topic"),
    ];
    let mut transcript = sandbox.converse(&Mode::BypassPermissions, calls)?;
    holds(sandbox, "made.txt", "hello\n")?;
    holds(sandbox, "made by tool.txt", "made\n")?;
    holds(sandbox, "shouted.txt", "HEY")?;
    contains(transcript.answer(0)?, "?? made.txt")?;
    // The call runs, and the warning is appended to the tool's result.
    contains(&transcript.results.pop().context("the last call was not answered")?, "Warning:")?;
    quiet(&transcript)
}
