//! Copilot CLI: its start, the calls of its model, and its cases under Reflex.

use std::path::{Path, PathBuf};
use std::process::Command;

use reflex_mock::Call;
use serde_json::json;

use super::cases::{
    Case, Deaf, Switched, all_denied, ask_headless, changed, contains, deaf, ensure, goes_away, holds, hung, killed,
    live, missing_binary, page_with_orders, quiet, refused, state, switched_off_by_project,
};
use super::client::Client;
use super::npm::Package;
use super::sandbox::{Failure, Mode, Sandbox, write};
use super::variants;

pub(super) const CLIENT: Client = Client {
    name: "copilot",
    package: Package {
        name: "@github/copilot",
        version: "1.0.102",
        platform: "@github/copilot",
        executable: "copilot",
    },
    start,
    settings,
    cases: &[
        Case { name: "denied", play: denied },
        Case { name: "normal", play: normal },
        Case { name: "ask-headless", play: |sandbox| ask_headless(sandbox, bash("git reset --hard"), &UNASKED) },
        Case {
            name: "missing-binary",
            play: |sandbox| missing_binary(sandbox, calls(sandbox), "Denied by preToolUse hook"),
        },
        Case { name: "killed", play: |sandbox| killed(sandbox, bash("touch ran.txt")) },
        Case { name: "hung", play: |sandbox| hung(sandbox, bash("touch ran.txt")) },
        Case { name: "deaf", play: |sandbox| deaf(sandbox, bash("touch ran.txt"), Deaf::Runs) },
        Case { name: "through-claude-settings", play: through_claude_settings },
        Case { name: "modify", play: |sandbox| changed(sandbox, bash, create, "changed before it ran") },
        Case { name: "after-tool", play: |sandbox| page_with_orders(sandbox, bash("cat page.txt")) },
        Case {
            name: "project-switch",
            play: |sandbox| switched_off_by_project(sandbox, SWITCH, bash("rm -rf ~/photos"), Switched::InVain),
        },
        Case { name: "settings", play: |sandbox| variants::settings(sandbox, || bash("touch ran.txt")) },
        Case { name: "uninstall", play: |sandbox| goes_away(sandbox, bash("echo hello > made.txt")) },
        Case { name: "live", play: live },
    ],
};

fn settings(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".copilot/hooks/reflex.json")
}

fn start(sandbox: &Sandbox, client: &mut Command, mode: &Mode, model: &str) {
    client.args(["-p", &sandbox.prompt()]);
    match mode {
        Mode::Default => {}
        Mode::BypassPermissions => {
            client.arg("--allow-all-tools");
        }
    }
    let [server, argument] = sandbox.server();
    let servers =
        json!({"mcpServers": {"echo": {"type": "local", "command": server, "args": [argument], "tools": ["*"]}}});
    client.arg("--additional-mcp-config").arg(servers.to_string());
    client.env("COPILOT_PROVIDER_BASE_URL", format!("{model}/v1")).env("COPILOT_PROVIDER_TYPE", "openai");
    client.env("COPILOT_PROVIDER_API_KEY", "none").env("COPILOT_MODEL", "mock-model");
    client.env("COPILOT_OFFLINE", "true").env("COPILOT_AUTO_UPDATE", "false");
    // The client unpacks itself; the cache lets it do so once for all cases.
    client.env("COPILOT_CACHE_HOME", sandbox.cache()).env("COPILOT_PKG_CACHE_HOME", sandbox.cache());
}

fn bash(command: &str) -> Call {
    Call::function("bash", json!({"command": command, "description": "One step of the task"}))
}

fn create(path: &Path, content: &str) -> Call {
    Call::function("create", json!({"path": path, "file_text": content}))
}

fn shout(text: &str, path: &Path) -> Call {
    Call::function("echo-shout", json!({"text": text, "path": path}))
}

/// The client has its own prompt; without a terminal it has no answer, and the call does not run.
const UNASKED: [&str; 3] = ["unable to ask user", "Needs approval:", "notes.txt"];

/// A project's file that would turn hooks off.
const SWITCH: (&str, &str) = (".github/hooks/off.json", "{\"version\": 1, \"disableAllHooks\": true, \"hooks\": {}}\n");

fn denied(sandbox: &Sandbox) -> Result<(), Failure> {
    let other = sandbox.home().join(".copilot/hooks/other.json");
    let calls = vec![bash("rm -rf ~/photos"), create(&other, "{}\n"), shout("hey", &state(sandbox))];
    let words: [&[&str]; 3] = [&["Denied by preToolUse hook", "Blocked:"], &["other.json"], &["Blocked:"]];
    all_denied(sandbox, &other, calls, &words)
}

/// Calls that create three files.
fn calls(sandbox: &Sandbox) -> Vec<Call> {
    let (made, shouted) = (sandbox.workspace().join("made.txt"), sandbox.workspace().join("shouted.txt"));
    vec![bash("touch ran.txt"), create(&made, "made\n"), shout("hey", &shouted)]
}

fn normal(sandbox: &Sandbox) -> Result<(), Failure> {
    sandbox.wire()?;
    let (made, shouted) = (sandbox.workspace().join("made by tool.txt"), sandbox.workspace().join("shouted.txt"));
    let calls = vec![
        bash("echo hello > made.txt && git status --short"),
        create(&made, "made\n"),
        shout("hey", &shouted),
        Call::function("view", json!({"path": made})),
    ];
    let transcript = sandbox.converse(&Mode::BypassPermissions, calls)?;
    holds(sandbox, "made.txt", "hello\n")?;
    holds(sandbox, "made by tool.txt", "made\n")?;
    holds(sandbox, "shouted.txt", "HEY")?;
    contains(transcript.answer(0)?, "?? made.txt")?;
    quiet(&transcript)
}

/// A project in which `init` installed Claude Code's hook: this client runs that hook too, in its own dialect, in
/// addition to its own hook.
fn through_claude_settings(sandbox: &Sandbox) -> Result<(), Failure> {
    sandbox.wire_project("claude")?;
    let trusted = json!({"trustedFolders": [sandbox.workspace()]}).to_string();
    write(&sandbox.home().join(".copilot/config.json"), &trusted)?;
    let marker = sandbox.home().join("photos/marker.txt");
    write(&marker, "still here\n")?;
    let transcript =
        sandbox.converse(&Mode::BypassPermissions, vec![bash("rm -rf ~/photos"), bash("echo hello > made.txt")])?;
    ensure(marker.exists(), "the marker in the home folder was deleted")?;
    refused(transcript.answer(0)?, &["Denied by preToolUse hook", "Blocked:"])?;
    holds(sandbox, "made.txt", "hello\n")?;
    // Both hooks see each call, and the repetition must not count as a loop.
    sandbox.wire()?;
    sandbox.record_hook()?;
    let transcript = sandbox.converse(&Mode::BypassPermissions, vec![bash("echo again"), bash("echo again")])?;
    ensure(sandbox.hook_calls()?.len() >= 6, "not both hooks were asked")?;
    quiet(&transcript)
}
