//! Codex CLI: its start, the calls of its model, and its cases under Reflex.
//!
//! Trust in hooks is never bypassed: the hook runs only if `reflex init` made the client trust it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use reflex_mock::Call;
use serde_json::json;

use super::cases::{
    Case, Deaf, Switched, allow_all, ask_headless, asks_elsewhere, contains, deaf, ensure, holds, hung,
    kept_and_undone, killed, late_approval, live, missing_binary, other_calls_run, page_with_orders, quiet, refused,
    restores_lost_file, state, supervised, supervised_with_hooks, switched_off_by_project,
};
use super::client::Client;
use super::judge;
use super::npm::Package;
use super::sandbox::{Failure, Mode, Sandbox, read, write};
use super::variants;

pub(super) const CLIENT: Client = Client {
    name: "codex",
    package: Package {
        name: "@openai/codex",
        version: "0.169.0",
        platform: "@openai/codex",
        executable: "vendor/{triple}/bin/codex",
    },
    start,
    settings,
    cases: &[
        Case { name: "denied", play: denied },
        Case { name: "normal", play: normal },
        Case { name: "ask-headless", play: |sandbox| ask_headless(sandbox, shell("git reset --hard"), &UNASKED) },
        Case { name: "supervised", play: |sandbox| supervised(sandbox, shell) },
        Case { name: "supervised-with-hooks", play: |sandbox| supervised_with_hooks(sandbox, shell) },
        Case { name: "watched", play: |sandbox| restores_lost_file(sandbox, shell) },
        Case { name: "ask-elsewhere", play: |sandbox| asks_elsewhere(sandbox, || shell("git reset --hard")) },
        Case { name: "late-yes", play: |sandbox| late_approval(sandbox, shell) },
        Case { name: "mode", play: |sandbox| allow_all(sandbox, shell) },
        Case { name: "auto-pilot", play: |sandbox| judge::auto_pilot(sandbox, shell) },
        Case { name: "undo", play: |sandbox| kept_and_undone(sandbox, shell, true) },
        Case { name: "missing-binary", play: |sandbox| missing_binary(sandbox, calls(sandbox), "reflex failed (127)") },
        Case { name: "killed", play: |sandbox| killed(sandbox, shell("touch ran.txt")) },
        Case { name: "hung", play: |sandbox| hung(sandbox, shell("touch ran.txt")) },
        Case { name: "deaf", play: |sandbox| deaf(sandbox, shell("touch ran.txt"), Deaf::Runs) },
        Case { name: "modify", play: modify },
        Case { name: "after-tool", play: |sandbox| page_with_orders(sandbox, shell("cat page.txt")) },
        Case {
            name: "project-switch",
            play: |sandbox| switched_off_by_project(sandbox, SWITCH, shell("rm -rf ~/photos"), Switched::InVain),
        },
        Case { name: "settings", play: |sandbox| variants::settings(sandbox, || shell("touch ran.txt")) },
        Case { name: "uninstall", play: uninstall },
        Case { name: "live", play: live },
    ],
};

fn settings(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".codex").join("hooks.json")
}

fn start(sandbox: &Sandbox, client: &mut Command, mode: &Mode, model: &str) {
    let workspace = sandbox.workspace();
    client.args(["exec", "--json", "-C"]).arg(&workspace);
    match mode {
        Mode::Default => client.args(["--sandbox", "read-only"]),
        Mode::BypassPermissions => client.arg("--dangerously-bypass-approvals-and-sandbox"),
    };
    // The client offers its patch tool to a model of this name.
    let mut settings = vec![
        r#"model="gpt-5.5""#.to_owned(),
        r#"model_provider="mock""#.to_owned(),
        "check_for_update_on_startup=false".to_owned(),
        "analytics.enabled=false".to_owned(),
        r#"model_providers.mock.name="mock""#.to_owned(),
        format!(r#"model_providers.mock.base_url="{model}/v1""#),
        r#"model_providers.mock.env_key="MOCK_KEY""#.to_owned(),
        r#"model_providers.mock.wire_api="responses""#.to_owned(),
        "model_providers.mock.request_max_retries=0".to_owned(),
        "model_providers.mock.stream_max_retries=0".to_owned(),
    ];
    let [server, argument] = sandbox.server();
    settings.push(format!("mcp_servers.echo.command={}", json!(server)));
    settings.push(format!("mcp_servers.echo.args=[{}]", json!(argument)));
    for setting in settings {
        client.arg("-c").arg(setting);
    }
    client.arg(sandbox.prompt()).env("MOCK_KEY", "none");
}

fn shell(command: &str) -> Call {
    Call::function("exec_command", json!({"cmd": command}))
}

fn patch(body: &str) -> Call {
    Call::custom("apply_patch", format!("*** Begin Patch\n{body}*** End Patch\n"))
}

fn shout(text: &str, path: &std::path::Path) -> Call {
    Call::of_server("mcp__echo", "shout", json!({"text": text, "path": path}))
}

fn denied(sandbox: &Sandbox) -> Result<(), Failure> {
    let marker = sandbox.home().join("photos/marker.txt");
    write(&marker, "still here\n")?;
    sandbox.wire()?;
    let trusted = read(&settings(sandbox))?;
    let secret = state(sandbox);
    let removed: String = trusted.lines().map(|line| format!("-{line}\n")).collect();
    let calls = vec![
        shell("rm -rf ~/photos"),
        patch(&format!("*** Update File: ../home/.codex/hooks.json\n@@\n{removed}+{{}}\n*** Delete File: notes.txt\n")),
        shout("hey", &secret),
        shell("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: ../home/.codex/hooks.json\n*** End Patch\nEOF\n"),
    ];
    let transcript = sandbox.converse(&Mode::BypassPermissions, calls)?;
    ensure(marker.exists(), "the marker in the home folder was deleted")?;
    refused(transcript.answer(0)?, &["Blocked:", "blocked by PreToolUse hook"])?;
    holds(sandbox, "notes.txt", "first line\n")?;
    ensure(read(&settings(sandbox))? == trusted, "the patch changed the hooks")?;
    refused(transcript.answer(1)?, &["hooks.json", "reflex approve "])?;
    ensure(!secret.exists(), "the MCP call ran")?;
    refused(transcript.answer(2)?, &["Blocked:"])?;
    refused(transcript.answer(3)?, &["hooks.json", "reflex approve "])
}

/// This client cannot prompt: an ask becomes a refusal that explains how a person approves the call.
const UNASKED: [&str; 4] = ["Needs approval:", "notes.txt", "This agent cannot ask here", "reflex approve "];

/// A project's file that would turn hooks off.
const SWITCH: (&str, &str) = (".codex/config.toml", "[features]\nhooks = false\n");

/// Calls that create three files.
fn calls(sandbox: &Sandbox) -> Vec<Call> {
    let shouted = sandbox.workspace().join("shouted.txt");
    vec![shell("touch ran.txt"), patch("*** Add File: made.txt\n+made\n"), shout("hey", &shouted)]
}

fn normal(sandbox: &Sandbox) -> Result<(), Failure> {
    sandbox.wire()?;
    let shouted = sandbox.workspace().join("shouted.txt");
    let calls = vec![
        shell("echo hello > made.txt && git status --short"),
        patch("*** Add File: src/patched.txt\n+patched\n*** Update File: notes.txt\n@@\n-first line\n+second line\n"),
        shout("hey", &shouted),
    ];
    let transcript = sandbox.converse(&Mode::BypassPermissions, calls)?;
    holds(sandbox, "made.txt", "hello\n")?;
    holds(sandbox, "src/patched.txt", "patched\n")?;
    holds(sandbox, "notes.txt", "second line\n")?;
    holds(sandbox, "shouted.txt", "HEY")?;
    contains(transcript.answer(0)?, "?? made.txt")?;
    quiet(&transcript)
}

fn modify(sandbox: &Sandbox) -> Result<(), Failure> {
    let transcript = other_calls_run(sandbox, vec![shell("touch original.txt")])?;
    ensure(
        transcript.contains("changed before it ran"),
        "the model did not receive the notice that the call was changed",
    )?;
    // The `allow` next to rewritten arguments does not lift the restrictions of the client's sandbox.
    let changed = sandbox.workspace().join("changed.txt");
    std::fs::remove_file(&changed).context("cannot remove the changed file")?;
    sandbox.converse(&Mode::Default, vec![shell("touch original.txt")])?;
    ensure(!changed.exists(), "the changed call wrote in a sandbox that is read-only")
}

const ODD_SETTINGS: &str = "{\"hooks\" :{ \"SessionStart\":[ {\"hooks\":[{\"type\":\"command\",\"command\":\"echo fired >> \\\"$HOME/foreign.log\\\"\"}]}]\n\t } ,\n \"description\": \"caf\\u00e9\"}\n\n";

fn uninstall(sandbox: &Sandbox) -> Result<(), Failure> {
    let (hooks, config) = (settings(sandbox), sandbox.home().join(".codex/config.toml"));
    write(&hooks, ODD_SETTINGS)?;
    write(&config, "# mine\nhide_agent_reasoning   = true # so\n")?;
    sandbox.wire()?;
    ensure(read(&hooks)?.contains("reflex"), "init wrote no hook")?;
    ensure(read(&config)?.contains("trusted_hash"), "init brought no trust")?;
    let transcript = sandbox.converse(&Mode::BypassPermissions, vec![shell("rm -rf ~")])?;
    refused(transcript.answer(0)?, &["Blocked:"])?;
    sandbox.unwire()?;
    ensure(read(&hooks)? == ODD_SETTINGS, "uninstall did not restore hooks.json byte for byte")?;
    ensure(
        read(&config)? == "# mine\nhide_agent_reasoning   = true # so\n",
        "uninstall did not restore config.toml byte for byte",
    )?;
    sandbox.converse(&Mode::BypassPermissions, vec![shell("echo hello > made.txt")])?;
    holds(sandbox, "made.txt", "hello\n")
}
