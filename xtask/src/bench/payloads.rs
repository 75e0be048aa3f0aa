//! The measured calls: common requests of a coding agent, and one that must be denied.

use std::path::Path;

use serde_json::{Value, json};

/// The correct answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No output.
    Allow,
    /// A denial.
    Deny,
}

/// A measured call.
pub(crate) struct Call {
    /// Name in the report.
    pub(crate) name: &'static str,
    /// Description for the report.
    pub(crate) about: &'static str,
    /// The correct answer.
    pub(crate) kind: Kind,
    tool: fn(&Path) -> (&'static str, Value),
}

/// The measured calls, in the order of the report.
pub(crate) const CALLS: [Call; 5] = [
    Call { name: "allow-simple", about: "`git status`", kind: Kind::Allow, tool: simple },
    Call { name: "allow-pipeline", about: "300 bytes of `cd`, pipes and `&&`", kind: Kind::Allow, tool: pipeline },
    Call { name: "allow-edit", about: "an edit that adds 4 KB to a source file", kind: Kind::Allow, tool: edit },
    Call { name: "allow-rm-build", about: "`rm -rf` of two build folders; git is asked", kind: Kind::Allow, tool: rm },
    Call { name: "deny-home", about: "`rm -rf ~`", kind: Kind::Deny, tool: home },
];

/// The command of `allow-pipeline`.
pub(crate) const PIPELINE: &str = "cd src/part-03 && grep -rn --include='*.rs' -E \"fn (read|write)_[a-z]+\" . \
    | sed -e 's/:.*//' | sort | uniq -c | sort -rn | head -20 && \
    cargo test --quiet --package app -- --skip slow 2>&1 | tail -n 40 && \
    git diff --stat HEAD -- src tests 2>/dev/null | tail -n 5; echo \"exit status: $?\"";

impl Call {
    /// The payload that Claude Code sends before a tool runs.
    pub(crate) fn payload(&self, repo: &Path) -> String {
        let (tool, input) = (self.tool)(repo);
        payload(tool, &input, repo)
    }
}

/// The payload of a shell command.
pub(crate) fn shell(command: &str, repo: &Path) -> String {
    let (tool, input) = bash(command);
    payload(tool, &input, repo)
}

/// Session id of every payload.
pub(super) const SESSION: &str = "5f0c1a52-8f0e-4d0e-9f43-0c8a3f6f2d11";

fn payload(tool: &str, input: &Value, repo: &Path) -> String {
    payload_in(tool, input, repo, SESSION)
}

/// The payload of a call in the given session.
pub(super) fn payload_in(tool: &str, input: &Value, repo: &Path, session: &str) -> String {
    json!({
        "session_id": session,
        "transcript_path": "/home/user/.claude/projects/app/5f0c1a52-8f0e-4d0e-9f43-0c8a3f6f2d11.jsonl",
        "cwd": repo,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": input,
        "tool_use_id": "toolu_01A09q90qw90lq917835lq9",
    })
    .to_string()
}

fn bash(command: &str) -> (&'static str, Value) {
    ("Bash", json!({"command": command, "description": "Run it", "timeout": 120_000}))
}

fn simple(_repo: &Path) -> (&'static str, Value) {
    bash("git status")
}

fn pipeline(_repo: &Path) -> (&'static str, Value) {
    bash(PIPELINE)
}

fn rm(_repo: &Path) -> (&'static str, Value) {
    bash("rm -rf node_modules dist")
}

fn home(_repo: &Path) -> (&'static str, Value) {
    bash("rm -rf ~")
}

fn edit(repo: &Path) -> (&'static str, Value) {
    let added =
        "/// Adds what is left to the sum.\nfn add(left: u64, sum: u64) -> u64 {\n    left + sum\n}\n\n".repeat(45);
    let input = json!({
        "file_path": repo.join("src/part-03/file-07.rs"),
        "old_string": "fn main() {}\n",
        "new_string": added,
        "replace_all": false,
    });
    ("Edit", input)
}
