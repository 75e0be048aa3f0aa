//! Claude Code: its start, and the calls of its model.

use std::path::{Path, PathBuf};
use std::process::Command;

use reflex_mock::Call;
use serde_json::json;

use super::cases::CLAUDE;
use super::client::Client;
use super::npm::Package;
use super::sandbox::{Mode, Sandbox};

pub(super) const CLIENT: Client = Client {
    name: "claude",
    package: Package {
        name: "@anthropic-ai/claude-code",
        version: "2.1.332",
        platform: "@anthropic-ai/claude-code",
        executable: "claude",
    },
    start,
    settings,
    cases: CLAUDE,
};

fn settings(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".claude").join("settings.json")
}

fn start(sandbox: &Sandbox, client: &mut Command, mode: &Mode, model: &str) {
    let mode = match mode {
        Mode::Default => "default",
        Mode::BypassPermissions => "bypassPermissions",
    };
    client.args(["-p", &sandbox.prompt(), "--output-format", "json", "--permission-mode", mode]);
    let [server, argument] = sandbox.server();
    let servers = json!({"mcpServers": {"echo": {"command": server, "args": [argument]}}});
    client.arg("--mcp-config").arg(servers.to_string());
    client.env("ANTHROPIC_BASE_URL", model).env("ANTHROPIC_API_KEY", "none");
    client.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    client.env("DISABLE_AUTOUPDATER", "1").env("DISABLE_TELEMETRY", "1");
    // The client refuses to bypass permissions as root unless this is set.
    client.env("IS_SANDBOX", "1");
}

/// A call of a shell command.
pub(super) fn bash(command: &str) -> Call {
    Call::function("Bash", json!({"command": command, "description": "One step of the task"}))
}

/// A call that writes a file with this content.
pub(super) fn write(path: &Path, content: &str) -> Call {
    Call::function("Write", json!({"file_path": path, "content": content}))
}

/// A call that reads a file.
pub(super) fn read(path: &Path) -> Call {
    Call::function("Read", json!({"file_path": path}))
}

/// A call of the MCP server.
pub(super) fn shout(text: &str, path: &Path) -> Call {
    Call::function("mcp__echo__shout", json!({"text": text, "path": path}))
}
