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
    /// Maximum of instructions, in thousands.
    pub(crate) goal: u32,
    /// Reason for a missed goal, shown below the table.
    pub(crate) why: &'static str,
    tool: fn(&Path) -> (&'static str, Value),
}

/// The measured calls, in the order of the report.
pub(crate) const CALLS: [Call; 9] = [
    Call { name: "allow-simple", about: "`git status`", kind: Kind::Allow, goal: 1000, why: LOGGED, tool: simple },
    Call {
        name: "allow-pipeline",
        about: "300 bytes of `cd`, pipes and `&&`",
        kind: Kind::Allow,
        goal: 1000,
        why: "each of its eleven commands is parsed and judged, and `cargo test` reads the project",
        tool: pipeline,
    },
    Call {
        name: "allow-edit",
        about: "an edit that adds 4 KB to a source file",
        kind: Kind::Allow,
        goal: 1400,
        why: "the added text is searched for secrets and for orders to a model",
        tool: edit,
    },
    Call {
        name: "allow-rm-build",
        about: "`rm -rf` of two build folders; git is asked",
        kind: Kind::Allow,
        goal: 1000,
        why: "git's index and ignore rules are read, to find what would be lost",
        tool: rm,
    },
    Call {
        name: "allow-npm-test",
        about: "`npm test`",
        kind: Kind::Allow,
        goal: 1000,
        why: "`package.json` is read, and the script in it is judged",
        tool: npm_test,
    },
    Call { name: "allow-pytest", about: "`pytest`", kind: Kind::Allow, goal: 1000, why: LOGGED, tool: pytest },
    Call {
        name: "allow-make",
        about: "`make`",
        kind: Kind::Allow,
        goal: 1000,
        why: "the makefile is read, and the recipe of its target is judged",
        tool: make,
    },
    Call {
        name: "allow-cargo-test",
        about: "`cargo test`",
        kind: Kind::Allow,
        goal: 1000,
        why: "the project's files that direct cargo are read",
        tool: cargo_test,
    },
    Call {
        name: "deny-home",
        about: "`rm -rf ~`",
        kind: Kind::Deny,
        goal: 2500,
        why: "the refusal and the call that waits for a person are synced to the disk before the answer, see below",
        tool: home,
    },
];

/// Reason that holds for every call.
const LOGGED: &str = "the hook reads the payload, its settings and the session, and writes a record to the audit log";

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

fn npm_test(_repo: &Path) -> (&'static str, Value) {
    bash("npm test")
}

fn pytest(_repo: &Path) -> (&'static str, Value) {
    bash("pytest")
}

fn make(_repo: &Path) -> (&'static str, Value) {
    bash("make")
}

fn cargo_test(_repo: &Path) -> (&'static str, Value) {
    bash("cargo test")
}

fn home(_repo: &Path) -> (&'static str, Value) {
    bash("rm -rf ~")
}

fn edit(repo: &Path) -> (&'static str, Value) {
    edit_of(&repo.join("src/part-03/file-07.rs"))
}

/// An edit that adds 4 KB to this file.
pub(super) fn edit_of(file: &Path) -> (&'static str, Value) {
    let added =
        "/// Adds what is left to the sum.\nfn add(left: u64, sum: u64) -> u64 {\n    left + sum\n}\n\n".repeat(45);
    let input = json!({
        "file_path": file,
        "old_string": "fn main() {}\n",
        "new_string": added,
        "replace_all": false,
    });
    ("Edit", input)
}
