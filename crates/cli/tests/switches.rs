//! Only changes count, not files: agents' hooks must stay on, other settings are free, existing settings are not
//! reported.

use crate::support::Machine;
use serde_json::{Value, json};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

const OFF: &str = "guard/hooks-off";
const ASKS: &str = "guard/agent-settings";

/// A machine with these files, relative to the home.
fn with(files: &[(&str, &str)]) -> Machine {
    let machine = Machine::new();
    for (name, text) in files {
        let path = if name.starts_with("project/") {
            machine.project().join(name.strip_prefix("project/").unwrap())
        } else {
            machine.home().join(name)
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    machine
}

/// Returns the findings about a call of Claude Code, or of Codex for a patch.
fn found(machine: &Machine, tool: &str, input: &Value) -> Vec<String> {
    let agent = if tool == "apply_patch" { "codex" } else { "claude" };
    // Repeated identical calls in one session would cause a loop warning.
    static SESSION: AtomicUsize = AtomicUsize::new(0);
    let session = SESSION.fetch_add(1, Ordering::Relaxed).to_string();
    let payload = json!({"session_id": session, "cwd": machine.project(), "hook_event_name": "PreToolUse",
        "tool_name": tool, "tool_input": input, "turn_id": "t"});
    machine.reflex(["hook", "--agent", agent, "--event", "PreToolUse"]).input(payload.to_string()).run();
    let output = machine.reflex(["audit", "search", "kind=call", "-n", "1", "--json"]).run();
    let record: Value = serde_json::from_str(output.stdout.lines().last().unwrap()).unwrap();
    let listed = record["findings"].as_array().into_iter().flatten();
    let ids = listed.map(|finding| finding["id"].as_str().unwrap().to_owned());
    ids.collect()
}

#[track_caller]
fn check(machine: &Machine, tool: &str, input: &Value, expected: &[&str]) {
    assert_eq!(found(machine, tool, input), expected, "{tool} {input}");
}

const CLAUDE: &str = r#"{
  "model": "a",
  "hooks": {
    "PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "/usr/bin/reflex", "args": ["hook"]}]}],
    "Stop": [{"hooks": [{"type": "command", "command": "notify-send done"}]}]
  }
}
"#;
const CODEX: &str = "model = \"a\"\n\n[features]\nhooks = true\nweb = true\n\n[mcp_servers.x]\nenabled = true\n";

#[test]
fn what_is_written_of_settings_is_compared_with_what_stands_there() {
    let machine = with(&[(".claude/settings.json", CLAUDE)]);
    let file = machine.home().join(".claude/settings.json");
    let write = |text: &str, expected: &[&str]| {
        check(&machine, "Write", &json!({"file_path": file, "content": text}), expected);
    };
    write(&CLAUDE.replace("\"a\"", "\"b\""), &[]);
    write(&CLAUDE.replace("\"model\"", "\"effortLevel\": \"high\", \"model\""), &[]);
    // The client ignores the entire file for any of these, including the hook.
    for harmless in
        ["// how much it thinks\n", "/* mine */", "\"env\": \"x\",", "\"verbose\": 1,", "\"statusLine\": {},"]
    {
        write(&CLAUDE.replace("\"model\"", &format!("{harmless}\"model\"")), &[OFF, ASKS]);
    }
    write(&CLAUDE.replace("\"a\"", "5"), &[OFF, ASKS]);
    write(&CLAUDE.trim_end().replace("\n}", ", \"hooks\": {}}"), &[OFF, ASKS]);
    write(&CLAUDE.replace("\"model\"", "\"\\u0064isableAllHooks\": true, \"model\""), &[OFF, ASKS]);
    write(&CLAUDE.replace("notify-send", "notify-send -u low"), &[ASKS]);
    write(&CLAUDE.replace("\"model\"", "\"permissions\": {\"allow\": [\"Bash\"]}, \"model\""), &[ASKS]);
    for part in ["/usr/bin/reflex", "PreToolUse", "\"*\"", "[\"hook\"]", "command\", \"command"] {
        write(
            &CLAUDE.replace(part, "\"other\"".trim_matches(if part.starts_with('"') { ' ' } else { '"' })),
            &[OFF, ASKS],
        );
    }
    write("{}", &[OFF, ASKS]);
    write(&CLAUDE.replace("\"model\"", "\"disableAllHooks\": true, \"model\""), &[OFF, ASKS]);
    write(&CLAUDE.replace("\"model\"", "\"env\": {\"CLAUDE_CODE_SIMPLE\": \"1\"}, \"model\""), &[OFF, ASKS]);
    write(CLAUDE.trim_end().trim_end_matches('}'), &[OFF, ASKS]);
}

#[test]
fn edits_are_applied_to_what_stands_there() {
    let machine =
        with(&[(".claude/settings.json", CLAUDE), (".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": true}}")]);
    let edit = |name: &str, old: &str, new: &str, expected: &[&str]| {
        let file = machine.home().join(name);
        check(&machine, "Edit", &json!({"file_path": file, "old_string": old, "new_string": new}), expected);
    };
    edit(".claude/settings.json", "\"a\"", "\"b\"", &[]);
    edit(".claude/settings.json", "\"*\"", "\"Nothing\"", &[OFF, ASKS]);
    edit(".gemini/settings.json", "true", "false", &[OFF, ASKS]);
    // A text that is not in the file cannot be judged.
    edit(".gemini/settings.json", "nowhere", "x", &[ASKS]);
    let file = machine.home().join(".claude/settings.json");
    let edits = json!([{"old_string": "\"a\"", "new_string": "\"b\""}, {"old_string": "reflex", "new_string": "true"}]);
    check(&machine, "MultiEdit", &json!({"file_path": file, "edits": edits}), &[OFF, ASKS]);
}

#[test]
fn a_patch_is_read_with_the_lines_around_it() {
    let machine = with(&[(".codex/config.toml", CODEX)]);
    let file = machine.home().join(".codex/config.toml");
    let patch = |body: &str, expected: &[&str]| {
        let text = format!("*** Begin Patch\n*** Update File: {}\n@@\n{body}*** End Patch\n", file.display());
        check(&machine, "apply_patch", &json!({"command": text}), expected);
    };
    patch(" [features]\n-hooks = true\n+hooks = false\n web = true\n", &[OFF, ASKS]);
    patch("-model = \"a\"\n+model = \"b\"\n", &[]);
    patch(" [features]\n hooks = true\n+colour = true\n web = true\n", &[ASKS]);
    patch(" [mcp_servers.x]\n-enabled = true\n+enabled = false\n", &[ASKS]);
}

#[test]
fn commands_are_followed_as_far_as_their_text_is_known() {
    let machine = with(&[
        (".claude/settings.json", CLAUDE),
        (".codex/config.toml", CODEX),
        ("new.json", "{\"disableAllHooks\": true}"),
        ("same.json", &CLAUDE.replace("\"a\"", "\"b\"")),
    ]);
    let run = |command: &str, expected: &[&str]| {
        let ids = found(&machine, "Bash", &json!({"command": command}));
        for id in [OFF, ASKS] {
            assert_eq!(ids.iter().any(|found| found == id), expected.contains(&id), "{command}: {ids:?}");
        }
    };
    run("cat > ~/.claude/settings.json <<'E'\n{\"disableAllHooks\": true}\nE", &[OFF, ASKS]);
    run("printf '\\n[features]\\nhooks = false\\n' >> ~/.codex/config.toml", &[OFF, ASKS]);
    run("cp ~/new.json ~/.claude/settings.json", &[OFF, ASKS]);
    run("cp ~/same.json ~/.claude/settings.json", &[]);
    for empty in ["cp /dev/null", "install -m 644 /dev/null", "truncate -s 0", ": >", "cat /dev/null >"] {
        run(&format!("{empty} ~/.claude/settings.json"), &[OFF, ASKS]);
    }
    run("git checkout topic -- ~/.claude/settings.json", &[ASKS]);
    run("git restore --source=topic ~/.claude/settings.json", &[ASKS]);
    run("patch ~/.claude/settings.json x.diff", &[ASKS]);
    run("ln -s ~/.claude/settings.json l && echo '{\"disableAllHooks\":true}' > l", &[OFF, ASKS]);
    run("jq 'del(.hooks)' ~/.claude/settings.json > t && mv t ~/.claude/settings.json", &[OFF, ASKS]);
    run("sed -i 's/hooks = true/hooks = x/' ~/.codex/config.toml", &[ASKS]);
    run("sed -i /reflex/d ~/.claude/settings.json", &[OFF, ASKS]);
    // Invalid TOML keeps the client from starting.
    run("echo 'colour = ' >> ~/.codex/config.toml", &[ASKS]);
    run("ed -s ~/.claude/settings.json <<< x", &[ASKS]);
    run("iconv -t utf-16 ~/same.json -o ~/.claude/settings.json", &[OFF, ASKS]);
    run("claude -p x --settings ~/new.json", &[OFF]);
    run("claude -p x --settings ~/same.json", &[]);
    run("grep disableAllHooks ~/.claude/settings.json", &[]);
}

#[test]
fn git_takes_no_guard_out_of_settings_that_are_in_no_commit() {
    let machine = with(&[("project/.claude/settings.json", "{\"model\": \"a\"}"), ("project/a", "x")]);
    let project = machine.project();
    let git = |words: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b"];
        assert_eq!(machine.program("git", [&who, words].concat()).folder(&project).run().code, 0, "{words:?}");
    };
    for words in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-qm", "x"]] {
        git(words);
    }
    let check = |commands: &[&str], expected: bool| {
        for command in commands {
            let ids = found(&machine, "Bash", &json!({"command": command}));
            assert_eq!(ids.iter().any(|id| id == "guard/put-away"), expected, "{command}: {ids:?}");
        }
    };
    let loses = ["git stash", "git stash push -m x", "git checkout -- .", "git restore .", "git reset --hard"];
    check(&loses, false);
    fs::write(project.join(".claude/settings.json"), CLAUDE).unwrap();
    check(&loses, true);
    check(&["git stash push -- a", "git checkout -- a", "git stash list", "git stash pop", "git diff"], false);
    // An untracked file is removed with the untracked files.
    git(&["checkout", "-q", "--", "."]);
    fs::create_dir(project.join(".cursor")).unwrap();
    fs::write(project.join(".cursor/hooks.json"), CLAUDE).unwrap();
    check(&["git stash -u", "git clean -fd"], true);
    check(&["git stash", "git clean -n"], false);
}

#[test]
fn a_tool_of_a_server_switches_no_hooks_off_either() {
    let machine = with(&[(".claude/settings.json", CLAUDE)]);
    let file = machine.home().join(".claude/settings.json");
    let input = json!({"path": file, "content": "{\"disableAllHooks\": true}"});
    assert!(found(&machine, "mcp__files__write_file", &input).contains(&OFF.to_owned()));
}

#[test]
fn what_stood_in_the_file_before_is_no_news() {
    let key = format!("key = \"ghp_{}\"\n", "k3J8mQz92vTx7Lp4Wn6Rb1Yc5Hd0Gf8Sa2Ue");
    let machine = with(&[("project/a.py", &key), ("project/run.sh", "rm -rf ~\n")]);
    assert_eq!(machine.program("git", ["init", "-q"]).folder(&machine.project()).run().code, 0);
    let write = |name: &str, text: &str| {
        found(&machine, "Write", &json!({"file_path": machine.project().join(name), "content": text}))
    };
    assert_eq!(write("a.py", &format!("{key}x = 1\n")), Vec::<String>::new());
    assert_ne!(write("b.py", &key), Vec::<String>::new());
    assert_eq!(write("run.sh", "rm -rf ~\nls\n"), Vec::<String>::new());
    assert_ne!(write("other.sh", "rm -rf ~\n"), Vec::<String>::new());
    let patch = |line: &str| {
        let text = format!("*** Begin Patch\n*** Update File: a.py\n@@\n {key}{line}*** End Patch\n");
        let mut found = found(&machine, "apply_patch", &json!({"command": text}));
        // The file is in no commit: a backup is made silently.
        found.retain(|id| id != "write/edits-work");
        found
    };
    assert_eq!(patch("+x = 1\n"), Vec::<String>::new());
    assert!(!patch(&format!("+{key}")).is_empty() && patch(&format!("-{key}+{key}")).is_empty());
}

#[test]
fn variables_that_silence_hooks_are_found_in_the_files_that_set_them() {
    let machine = with(&[("project/.env", "OPENCODE_PURE=1\n"), ("project/a", "x")]);
    let write = |name: &str, text: &str, expected: bool| {
        let ids = found(&machine, "Write", &json!({"file_path": machine.project().join(name), "content": text}));
        assert_eq!(ids.contains(&OFF.to_owned()), expected, "{name} {text}: {ids:?}");
    };
    write(".env", "OPENCODE_PURE=1\nA=1\n", false);
    write(".env", "OPENCODE_PURE=1\nCODEX_HOME=/tmp/x\n", true);
    write(".envrc", "export CLAUDE_CODE_SIMPLE=1\n", true);
    write(".envrc", "export EDITOR=vim\n", false);
    write(".devcontainer/devcontainer.json", "{\"containerEnv\": {\"CLAUDE_CONFIG_DIR\": \"/x\"}}", true);
    write("docs/env.md", "CLAUDE_CODE_SIMPLE=1\n", false);
    let edit = json!({"file_path": machine.project().join(".env"), "old_string": "1", "new_string": "1\nCLAUDE_CODE_SIMPLE=1"});
    assert!(found(&machine, "Edit", &edit).contains(&OFF.to_owned()));
}
