//! The hostile home: state of every kind, and settings that break any program that reads them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Files that `reflex` may keep in its state folder; the test `house` compares the list with the code.
const STATE: &str = include_str!("state.txt");

/// Blocks every call, together with `RULE`.
const POLICY: &str = "preset: read-only\nbudgets: {calls: 1, minutes: 1, agents: 1, depth: 1}\n";
const RULE: &str = "\
name: nothing-passes
events: [any]
conditions: [{not: {field: event, op: equals, pattern: none}}]
action: block
severity: critical
message: This is the home of whoever runs the tests.
";

const GIT: &str = "\
[user]\n\tname = hostile\n\temail = hostile@example.invalid\n[commit]\n\tgpgSign = true\n\
[core]\n\thooksPath = /nonexistent\n\tattributesFile = /nonexistent\n\tfileMode = false\n\
[init]\n\tdefaultBranch = hostile\n[safe]\n\tdirectory = /nonexistent\n";

/// Settings of agents and tools that tests must not read.
const SETTINGS: [(&str, &str); 10] = [
    (".gitconfig", GIT),
    (".config/git/config", GIT),
    ("xdg/git/config", GIT),
    (".claude/settings.json", "{\"disableAllHooks\": true}\n"),
    (".codex/config.toml", "approval_policy = \"never\"\n"),
    (".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}\n"),
    (".qwen/settings.json", "{\"disableAllHooks\": true}\n"),
    (".bash_profile", "exit 1\n"),
    (".zshenv", "exit 1\n"),
    (".npmrc", "ignore-scripts=true\nregistry=http://127.0.0.1:9/\n"),
];

const PASSPHRASE: &str = "hostile passphrase";

/// Fills the home with every kind of file that `reflex` keeps, most of them written by `reflex` itself.
///
/// # Errors
/// A file cannot be written, or the home does not change the verdict, so it would prove nothing.
pub(super) fn fill(home: &Path, reflex: &Path) -> Result<()> {
    for (name, text) in SETTINGS {
        write(&home.join(name), text)?;
    }
    let project = home.join("project");
    write(&project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    let guard = Guard { reflex, project: &project };
    guard.run("init --yes --agent claude", "");
    guard.run("pin", &format!("{PASSPHRASE}\n{PASSPHRASE}\ny\n"));
    guard.hook("git push --force origin main");
    guard.run(&format!("approve {} --for 1h --reason tests", guard.pending()), &format!("{PASSPHRASE}\n"));
    guard.run("mode strict --for 24h", &format!("{PASSPHRASE}\n"));
    guard.run("off --for 8h --reason tests", &format!("{PASSPHRASE}\n"));
    guard.hook("git push --force origin topic");
    write(&home.join(".config/reflex/policy.yaml"), POLICY)?;
    write(&home.join(".config/reflex/rules/nothing-passes.yaml"), RULE)?;
    let state = home.join(".local/state/reflex");
    append(&state.join("audit/current.jsonl"), "{\"seq\": 999999, \"forged\": true}\n")?;
    guard.hook("ls");
    for name in STATE.lines() {
        let path = state.join(name);
        if path.is_dir() {
            write(&path.join("hostile.json"), "not what is expected here")?;
        } else if !path.exists() {
            let is_file = name.contains('.') || ["host", "key", "notified", "answering"].contains(&name);
            write(&if is_file { path } else { path.join("hostile.json") }, "not what is expected here")?;
        }
    }
    if guard.passes("ls") {
        bail!("`ls` passes in the hostile home: it would hide a test that is not hermetic");
    }
    Ok(())
}

/// `reflex` run by the user of the hostile home, which it finds without options.
struct Guard<'g> {
    reflex: &'g Path,
    project: &'g Path,
}

impl Guard<'_> {
    /// Runs a command at a terminal with typed input. Failures are ignored; `passes` checks the outcome.
    fn run(&self, words: &str, typed: &str) {
        let line = format!("'{}' {words}", self.reflex.display());
        let mut terminal = Command::new("script");
        let started = terminal.args(["-qec", &line, "/dev/null"]).current_dir(self.project).stdin(Stdio::piped());
        let Ok(mut child) = started.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else { return };
        // A program that has exited reads no input.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(typed.as_bytes()));
        let _ = child.wait();
    }

    fn hook(&self, command: &str) {
        let payload = serde_json::json!({
            "session_id": "hostile", "transcript_path": "/t", "cwd": self.project, "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command},
        });
        let mut hook = Command::new(self.reflex);
        hook.args(["hook", "--agent", "claude", "--event", "PreToolUse"]).current_dir(self.project);
        let started = hook.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let Ok(mut child) = started else { return };
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(payload.to_string().as_bytes()));
        let _ = child.wait();
    }

    /// The id of a call that waits for a person.
    fn pending(&self) -> String {
        let output = Command::new(self.reflex).args(["pending", "--json"]).current_dir(self.project).output();
        let list: Value =
            serde_json::from_slice(&output.map(|output| output.stdout).unwrap_or_default()).unwrap_or_default();
        list.pointer("/pending/0/id").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn passes(&self, command: &str) -> bool {
        let mut check = Command::new(self.reflex);
        check.args(["check", command]).current_dir(self.project).stdout(Stdio::null()).stderr(Stdio::null());
        check.status().is_ok_and(|status| status.success())
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

fn append(path: &Path, text: &str) -> Result<()> {
    let before = fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    write(path, &(before + text))
}

/// Times of files in nanoseconds since 1970. Listing a folder changes its access time.
type Times = BTreeMap<PathBuf, [(i64, i64); 3]>;

/// All files below the home with their times. Excludes the folders, because listing them reads them.
pub(super) fn files(home: &Path) -> Result<Times> {
    let mut found = Times::new();
    let mut folders = vec![home.to_owned()];
    while let Some(folder) = folders.pop() {
        let unread = || format!("cannot read `{}`", folder.display());
        for entry in fs::read_dir(&folder).with_context(unread)? {
            let path = entry.with_context(unread)?.path();
            let data = path.symlink_metadata().with_context(unread)?;
            if data.is_dir() {
                folders.push(path);
                continue;
            }
            let [atime, mtime] = [(data.atime(), data.atime_nsec()), (data.mtime(), data.mtime_nsec())];
            found.insert(path, [atime, mtime, (data.ctime(), data.ctime_nsec())]);
        }
    }
    Ok(found)
}

/// Files that were created, deleted, read or written between two snapshots.
pub(super) fn touched(before: &Times, after: &Times) -> Vec<PathBuf> {
    let changed = after.iter().filter(|(path, times)| before.get(*path) != Some(times)).map(|(path, _)| path);
    let removed = before.keys().filter(|path| !after.contains_key(*path));
    changed.chain(removed).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_read_written_new_or_gone_are_touched() {
        let times = |number: i64| [(number, 0), (1, 0), (1, 0)];
        let files = |list: &[(&str, i64)]| -> Times {
            list.iter().map(|(name, time)| (PathBuf::from(name), times(*time))).collect()
        };
        let before = files(&[("same", 1), ("read", 1), ("gone", 1)]);
        let after = files(&[("same", 1), ("read", 2), ("new", 1)]);
        let touched: Vec<_> = touched(&before, &after).into_iter().map(|path| path.display().to_string()).collect();
        assert_eq!(touched, ["new", "read", "gone"]);
    }
}
