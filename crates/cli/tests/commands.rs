//! Commands for people and scripts: output, JSON, exit statuses.

use crate::support::{Machine, Ran, files};
use serde_json::{Value, json};

const COMMANDS: [&str; 9] = ["hook", "check", "explain", "eval", "demo", "init", "uninstall", "completions", "help"];

/// One command for each decision, with the decision's name and the exit status.
const DECISIONS: [(&str, &str, i32); 4] = [
    ("ls", "allow", 0),
    ("git push --force-with-lease origin topic", "warn", 0),
    ("git push --force origin topic", "ask", 3),
    ("rm -rf ~", "block", 2),
];

/// The name of a decision in JSON.
fn wire(decision: &str) -> &str {
    if decision == "ask" { "require_approval" } else { decision }
}

#[track_caller]
fn reflex(arguments: &[&str]) -> Ran {
    let machine = Machine::new();
    machine.reflex(arguments).folder(&machine.project()).run()
}

#[test]
fn a_check_says_its_decision_first_and_by_its_status() {
    for (command, decision, code) in DECISIONS {
        let output = reflex(&["check", command]);
        assert!(output.stdout.starts_with(&format!("{decision}  {command}\n")), "{output:?}");
        assert_eq!((output.code, output.stderr.as_str()), (code, ""), "{command}");
    }
}

#[test]
fn a_check_gives_its_reason_or_its_advice() {
    assert_eq!(reflex(&["check", "ls"]).stdout, "allow  ls\n");
    for (command, begin, rule) in [
        ("rm -rf ~", "Blocked: would delete ", "rm/home-or-root"),
        ("git push --force origin topic", "Needs approval: would overwrite topic ", "git/push-force"),
        (
            "git push --force-with-lease origin topic",
            "Warning: would replace the commits of topic ",
            "git/push-with-lease",
        ),
    ] {
        let output = reflex(&["check", command]).stdout;
        let end = format!(" [{rule}]");
        let reason = output.lines().nth(1).unwrap();
        assert!(reason.starts_with(&format!("  {begin}")) && reason.ends_with(&end), "{output}");
    }
}

#[test]
fn the_json_of_a_check_has_the_fields_of_the_contract() {
    for (command, decision, code) in DECISIONS {
        let output = reflex(&["check", "--json", command]);
        let verdict = output.json();
        let fields: Vec<&str> = verdict.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = ["schema", "decision", "risk", "confidence", "reasons", "findings", "advice", "rewrite"];
        assert_eq!(fields, expected, "{command}");
        assert_eq!((&verdict["decision"], output.code), (&json!(wire(decision)), code));
        assert_eq!(verdict["schema"], "reflex/verdict-v1");
        assert_eq!(output.stdout.lines().count(), 1);
    }
}

#[test]
fn a_finding_in_json_is_whole() {
    let verdict = reflex(&["check", "--json", "ls; git push -f origin topic"]).json();
    let finding = json!({
        "id": "git/push-force", "detector": "sentinel", "category": "destructive", "severity": "high",
        "confidence": 0.88, "tier": "recommended", "action": null,
        "message": "It would overwrite topic on the remote and may erase commits of others.",
        "remedy": "Use `git push --force-with-lease`, which stops if the remote has new commits.",
        "command": "git push -f origin topic",
        "at": {"in": "command", "span": [4, 28]},
    });
    assert_eq!(verdict["findings"], json!([finding]));
    assert_eq!((&verdict["risk"], &verdict["confidence"]), (&json!("high"), &json!(0.88)));
}

#[test]
fn a_check_is_made_in_the_folder_that_is_named() {
    let machine = Machine::new();
    let project = machine.project();
    let inside = machine.reflex(["check", "--cwd", project.to_str().unwrap(), "rm -rf ../other"]).run();
    assert_eq!(inside.code, 2, "{inside:?}");
    let relative = machine.reflex(["check", "--cwd", "my shop", "rm -rf ../other"]).run();
    assert_eq!(relative, inside);
}

#[test]
fn a_mode_changes_what_a_finding_is_worth() {
    let code = |mode: &str| reflex(&["check", "--mode", mode, "git push --force origin topic"]).code;
    assert_eq!(["observe", "balanced", "unattended", "strict"].map(code), [0, 3, 2, 2]);
}

/// Asserts wrong usage: status 64, empty standard output, and this message for the person.
#[track_caller]
fn check_usage(arguments: &[&str], words: &str) {
    let output = reflex(arguments);
    assert_eq!((output.code, output.stdout.as_str()), (64, ""), "{output:?}");
    assert!(output.stderr.contains(words), "{output:?}");
}

#[test]
fn a_wrong_command_line_is_status_64_and_says_what_would_be_right() {
    check_usage(&["check"], "<COMMAND>");
    check_usage(
        &["check", "--mode", "lax", "ls"],
        "unknown mode `lax`; known: allow-all, auto-pilot, balanced, never-ask, observe, quiet, read-only, strict, unattended",
    );
    check_usage(
        &["eval", "--mode", "lax"],
        "unknown mode `lax`; known: allow-all, auto-pilot, balanced, never-ask, observe, quiet, read-only, strict, unattended",
    );
    check_usage(&["check", "--agent", "clod", "ls"], "unknown agent `clod`; known: claude, codex, ");
    check_usage(&["explain", "--agent", "clod", "ls"], "unknown agent `clod`; known: claude, codex, ");
    for command in ["init", "uninstall", "emit", "doctor", "verify"] {
        check_usage(
            &[command, "--agent", "clod"],
            "no settings are known for the agent `clod`; known: claude, codex, ",
        );
    }
    check_usage(&["mode", "strct"], "unknown mode `strct`, did you mean `strict`?; known: allow-all, ");
    check_usage(&["import", "--from", "clod"], "unknown source `clod`; known: claude, codex, ");
    check_usage(&["chek", "ls"], "a similar subcommand exists: 'check'");
    check_usage(&["check", "--jsn", "ls"], "a similar argument exists: '--json'");
    check_usage(&["completions", "tcsh"], "bash, elvish, fish, powershell, zsh");
    check_usage(&["completions"], "<shell>");
}

#[test]
fn what_cannot_be_written_is_no_success() {
    let machine = Machine::new();
    for words in ["rules list", "check ls", "eval"] {
        let line = format!("echo '{{}}' | {} {words} > /dev/full", machine.line());
        let output = machine.program("sh", ["-c", &line]).run();
        assert_eq!((output.code, output.stderr.as_str()), (70, "reflex: cannot write to standard output\n"), "{line}");
    }
}

#[test]
fn no_arguments_show_the_help_and_are_wrong_usage() {
    check_usage(&[], "Usage: reflex [OPTIONS] <COMMAND>");
}

#[test]
fn asking_for_help_is_no_mistake() {
    for arguments in [&["--help"][..], &["-h"], &["help"]] {
        let output = reflex(arguments);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""));
        for command in COMMANDS.iter().filter(|command| **command != "help") {
            assert!(output.stdout.contains(&format!("\n  {command} ")), "{command} is not in {}", output.stdout);
        }
    }
    for command in COMMANDS.iter().filter(|command| **command != "help") {
        let output = reflex(&[command, "--help"]);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{command}");
        assert!(output.stdout.contains("Usage: reflex "), "{command}: {output:?}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = Ran { stdout: concat!("reflex ", env!("CARGO_PKG_VERSION"), "\n").into(), ..Ran::silence() };
    assert_eq!(reflex(&["--version"]), version);
    assert_eq!(reflex(&["-V"]), version);
    assert_eq!(reflex(&["version"]), version);
    assert_eq!(reflex(&["version", "--json"]), reflex(&["--version", "--json"]));
}

#[test]
fn an_update_is_explained_and_not_made() {
    for command in ["update", "upgrade"] {
        let output = reflex(&[command]);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output:?}");
        assert!(output.stdout.contains("npm install --global reflex-guard@latest"), "{output:?}");
        assert!(output.stdout.ends_with("Nothing was changed.\n"), "{output:?}");
    }
}

#[test]
fn colours_are_only_for_terminals_unless_they_are_forced_and_never_against_no_color() {
    let painted = |variables: &[(&str, &str)]| {
        let machine = Machine::new();
        let call = machine.reflex(["check", "rm -rf ~"]);
        let call = variables.iter().fold(call, |call, (name, value)| call.env(name, value));
        call.run().stdout.contains('\u{1b}')
    };
    assert!(!painted(&[]));
    assert!(painted(&[("CLICOLOR_FORCE", "1")]));
    assert!(!painted(&[("CLICOLOR_FORCE", "0")]));
    assert!(!painted(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(painted(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")]));
}

#[test]
fn json_is_never_painted() {
    for command in ["check", "explain"] {
        let output = Machine::new().reflex([command, "--json", "rm -rf ~"]).env("CLICOLOR_FORCE", "1").run();
        assert!(output.json().is_object() && !output.stdout.contains('\u{1b}'), "{output:?}");
    }
}

const STAGES: [&str; 10] = [
    "raw capture",
    "decode",
    "normalize whitespace",
    "expand aliases",
    "split compounds",
    "variable substitution",
    "quote stripping",
    "pattern match",
    "context check",
    "verdict emit",
];

#[test]
fn an_explanation_has_ten_stages_and_what_the_agent_is_told() {
    let output = reflex(&["explain", "-v", "ls; rm -rf ~"]);
    assert_eq!((output.code, output.stderr.as_str()), (2, ""));
    let headings: Vec<&str> = output.stdout.lines().skip(1).filter(|line| !line.starts_with("   ")).collect();
    let mut expected: Vec<String> = STAGES.iter().zip(1..).map(|(name, at)| format!("{at:>2} {name}")).collect();
    expected.push("answer to claude".into());
    assert_eq!(headings.len(), expected.len());
    for (heading, expected) in headings.iter().zip(expected) {
        assert!(heading.starts_with(&expected), "{heading}");
    }
    assert!(output.stdout.contains("\n   exit 2\n   stdout {\"hookSpecificOutput\""), "{}", output.stdout);
}

/// The lines of the first stage.
#[track_caller]
fn check_underlined(command: &str, expected: &[&str]) {
    let output = reflex(&["explain", "--json", command]).json();
    assert_eq!(output["stages"][0]["lines"], json!(expected));
}

#[test]
fn the_guilty_part_is_underlined() {
    check_underlined("ls; rm -rf ~", &["ls; rm -rf ~", "    ^^^^^^^^"]);
    check_underlined("echo é; rm -rf ~", &["echo é; rm -rf ~", "        ^^^^^^^^"]);
    check_underlined("ls\nrm -rf ~\nls", &["ls", "rm -rf ~", "^^^^^^^^", "ls"]);
    check_underlined("rm \\\n -rf ~", &["rm \\", "^^^^", " -rf ~", "^^^^^^"]);
    check_underlined("ls", &["ls"]);
}

#[test]
fn the_json_of_an_explanation_is_a_verdict_with_stages_and_reply() {
    for (command, decision, code) in DECISIONS {
        let output = reflex(&["explain", "--json", command]);
        let json = output.json();
        assert_eq!((&json["decision"], output.code), (&json!(wire(decision)), code));
        assert_eq!(json["schema"], "reflex/explain-v1");
        let names: Vec<&Value> = json["stages"].as_array().unwrap().iter().map(|stage| &stage["name"]).collect();
        assert_eq!(names, STAGES);
        assert_eq!(json["reply"]["agent"], "claude");
        assert_eq!(json["reply"]["exit"], if decision == "block" { 2 } else { 0 });
    }
}

#[test]
fn what_an_explanation_says_the_agent_is_told_is_what_the_hook_answers() {
    for (command, ..) in DECISIONS {
        let machine = Machine::new();
        let folder = machine.project();
        let explained = machine.reflex(["explain", "--json", command]).folder(&folder).run().json();
        let reply = Ran {
            stdout: explained["reply"]["stdout"].as_str().unwrap().into(),
            stderr: explained["reply"]["stderr"].as_str().unwrap().into(),
            code: explained["reply"]["exit"].as_i64().unwrap() as i32,
        };
        let output = machine.bash(&folder, command);
        let without_id = |text: &str| match text
            .split_once("`reflex approve ")
            .and_then(|(_, rest)| rest.split_once('`'))
        {
            Some((id, _)) => {
                let steps = format!(
                    "Only the user can do that, in their own terminal; ask for it with `reflex appeal {id} --because REASON`."
                );
                let text = text.replace(&format!("Allow once: `reflex approve {id}`. "), "");
                text.replace(&steps, "The user can run it in their own terminal.")
            }
            None => text.to_owned(),
        };
        let output = Ran { stdout: without_id(&output.stdout), stderr: without_id(&output.stderr), ..output };
        assert_eq!(output, reply);
    }
}

/// Returns the verdicts of lines; the status is always 0.
#[track_caller]
fn eval(lines: &[String]) -> Vec<Value> {
    let machine = Machine::new();
    let output = machine.reflex(["eval"]).input(lines.join("\n")).run();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    assert_eq!(files(&machine.home()), [], "nothing is recorded");
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the decision about one event, and its first finding if any.
#[track_caller]
fn check_event(event: Value, decision: &str, finding: &str) {
    let verdict = eval(&[event.to_string()]).remove(0);
    let found = verdict["findings"][0]["id"].as_str().unwrap_or("");
    assert_eq!((verdict["decision"].as_str().unwrap(), found), (decision, finding), "{event}");
    assert_eq!(verdict["error"], Value::Null, "{event}");
}

/// Asserts that a line that is not an event is blocked, with the field named.
#[track_caller]
fn check_bad_line(line: &str, error: &str) {
    let verdict = eval(&[line.into()]).remove(0);
    assert_eq!((&verdict["decision"], &verdict["error"]), (&json!("block"), &json!(error)), "{line}");
    let reason = format!("Blocked: the event cannot be read: {error}");
    assert_eq!(verdict["reasons"], json!([reason]));
}

#[test]
fn two_thousand_lines_are_answered_in_their_order() {
    let commands = ["ls", "rm -rf ~"];
    let line = |at: usize| json!({"id": at, "event": "pre-command", "command": commands[at % 2]}).to_string();
    let verdicts = eval(&(0..2000).map(line).collect::<Vec<_>>());
    let found: Vec<(&Value, &Value)> = verdicts.iter().map(|verdict| (&verdict["id"], &verdict["decision"])).collect();
    let decisions = ["allow", "block"].map(Value::from);
    let ids: Vec<Value> = (0..2000).map(Value::from).collect();
    assert_eq!(found, ids.iter().enumerate().map(|(at, id)| (id, &decisions[at % 2])).collect::<Vec<_>>());
}

#[test]
fn an_id_of_any_kind_is_echoed_and_none_is_made_up() {
    for id in [json!("a"), json!(7), json!(null), json!({"a": [1]})] {
        let line = |event: Value| {
            let mut event = event;
            event["id"] = id.clone();
            event.to_string()
        };
        let good = line(json!({"event": "pre-command", "command": "ls"}));
        let bad = line(json!({"event": "pre-command"}));
        for verdict in eval(&[good, bad]) {
            assert_eq!(verdict.get("id"), Some(&id));
        }
    }
    let verdict = eval(&[json!({"event": "stop"}).to_string()]).remove(0);
    assert_eq!(verdict.get("id"), None);
}

#[test]
fn blank_lines_are_no_events_and_the_last_needs_no_end() {
    let line = json!({"event": "stop"}).to_string();
    assert_eq!(eval(&["".into(), line.clone(), " \r".into(), line.clone() + "\r", "".into(), line]).len(), 3);
    assert_eq!(eval(&[]).len(), 0);
}

#[test]
fn every_word_for_a_command_event_means_the_same() {
    for event in
        ["pre-command", "bash_command", "pre-tool", "tool_call", "onToolCall", "pre-tool-use", "permission-request"]
    {
        check_event(json!({"event": event, "command": "rm -rf ~"}), "block", "rm/home-or-root");
        check_event(json!({"event": event, "command": "ls"}), "allow", "");
    }
}

#[test]
fn every_word_for_a_file_event_means_the_same() {
    for event in ["pre-write", "file_write", "pre-edit", "file_edit"] {
        check_event(json!({"event": event, "files": ["/etc/passwd"], "content": "x"}), "block", "write/system");
        check_event(json!({"event": event, "files": ["src/a.rs"], "content": "x"}), "allow", "");
    }
    for event in ["pre-delete", "file_delete"] {
        check_event(json!({"event": event, "files": ["/etc/passwd"]}), "block", "rm/system");
        check_event(json!({"event": event, "files": ["src/a.rs"]}), "allow", "");
    }
}

#[test]
fn every_name_of_a_field_means_the_same() {
    check_event(json!({"event": "pre-write", "file_path": "/etc/passwd", "content": "x"}), "block", "write/system");
    check_event(json!({"event": "pre-write", "path": "/etc/passwd", "new_string": "x"}), "block", "write/system");
    check_event(json!({"event": "pre-write", "files": "/etc/passwd"}), "block", "write/system");
    check_event(json!({"event": "pre-write", "files": ["a", "/etc/passwd"]}), "block", "write/system");
    check_event(json!({"event": "prompt_submit", "user_prompt": "hello"}), "allow", "");
    check_event(json!({"event": "prompt-submit", "prompt": "hello"}), "allow", "");
}

#[test]
fn a_tool_is_judged_by_its_own_arguments() {
    let call = |tool: &str, input: Value| json!({"event": "onToolCall", "tool": tool, "tool_input": input});
    check_event(call("Bash", json!({"command": "rm -rf ~"})), "block", "rm/home-or-root");
    check_event(call("Write", json!({"file_path": "/etc/passwd", "content": "x"})), "block", "write/system");
    check_event(call("CrystalBall", json!({"question": "why"})), "allow", "tool/unjudged");
    check_bad_line(&call("Bash", json!({"line": "rm -rf ~"})).to_string(), "`tool_input.command` is missing");
}

#[test]
fn events_that_no_rule_is_about_pass() {
    for event in
        ["session-start", "session_end", "stop", "session_stop", "skill-compliance", "final-verify", "verify-result"]
    {
        check_event(json!({"event": event}), "allow", "");
    }
    for event in [
        "post-command",
        "post-write",
        "post-edit",
        "post-read",
        "post-tool",
        "post_tool",
        "onToolResult",
        "post-tool-use",
    ] {
        check_event(json!({"event": event, "command": "ls", "files": ["a"], "output": "b"}), "allow", "");
    }
}

#[test]
fn a_line_that_is_no_event_blocks_and_names_the_field() {
    check_bad_line("{}", "`event` is missing");
    check_bad_line(r#"{"event":7}"#, "`event` is not a text");
    check_bad_line(r#"{"event":"moon"}"#, "`event` is `moon`, which is not known");
    check_bad_line(r#"{"event":"pre-command"}"#, "`command` is missing");
    check_bad_line(r#"{"event":"pre-command","command":null}"#, "`command` is missing");
    check_bad_line(r#"{"event":"pre-command","command":["ls"]}"#, "`command` is not a text");
    check_bad_line(r#"{"event":"pre-command","command":"ls","home":1}"#, "`home` is not a text");
    check_bad_line(r#"{"event":"pre-command","command":"ls","cwd":[]}"#, "`cwd` is not a text");
    check_bad_line(r#"{"event":"pre-write","content":"x"}"#, "`files` is missing");
    check_bad_line(r#"{"event":"pre-read","files":[]}"#, "`files` is missing");
    check_bad_line(r#"{"event":"pre-edit","files":[1]}"#, "`files` holds something else than texts");
    check_bad_line(r#"{"event":"pre-delete","files":{"a":1}}"#, "`files` is neither a text nor a list of texts");
    check_bad_line(r#"{"event":"pre-write","files":["a"],"content":1}"#, "`content` is not a text");
    check_bad_line(r#"{"event":"prompt-submit"}"#, "`prompt` is missing");
    check_bad_line(r#"{"event":"pre-fetch"}"#, "`url` is missing");
    check_bad_line(r#"{"event":"pre-tool"}"#, "`tool` is missing");
    check_bad_line(r#"{"event":"post-command","command":"ls","output":1}"#, "`output` is not a text");
    check_bad_line(r#"{"event":"post-tool","output":"a","exit_code":"1"}"#, "`exit_code` is not a number");
    check_bad_line("[]", "the input is JSON but no object");
    check_bad_line("rm -rf ~", "the input is not JSON: expected value at line 1 column 1");
}

#[test]
fn a_fact_of_the_wrong_type_blocks_and_names_the_field() {
    let line = |facts: &str| format!(r#"{{"event":"pre-command","command":"ls","facts":{facts}}}"#);
    check_bad_line(&line("[]"), "`facts` is not an object");
    check_bad_line(&line(r#"{"git":"clean"}"#), "`git` is not an object");
    check_bad_line(&line(r#"{"git":{"unpushed":"2"}}"#), "`unpushed` is not a count");
    check_bad_line(&line(r#"{"git":{"stashes":-1}}"#), "`stashes` is not a count");
    check_bad_line(&line(r#"{"git":{"branch":1}}"#), "`branch` is not a text");
    check_bad_line(&line(r#"{"git":{"dirty":[1]}}"#), "`dirty` holds something else than texts");
    check_bad_line(&line(r#"{"env":{"A":1}}"#), "`env` holds something else than texts");
    check_bad_line(&line(r#"{"symlinks":[]}"#), "`symlinks` is not an object");
    check_bad_line(&line(r#"{"missing":[1]}"#), "`missing` holds something else than texts");
}

#[test]
fn one_bad_line_spoils_no_other() {
    let good = json!({"id": 1, "event": "pre-command", "command": "ls"}).to_string();
    let verdicts = eval(&[good.clone(), "{".into(), "\u{0}".into(), good]);
    let decisions: Vec<&Value> = verdicts.iter().map(|verdict| &verdict["decision"]).collect();
    assert_eq!(decisions, ["allow", "block", "block", "allow"]);
}

#[test]
fn half_a_surrogate_pair_and_a_byte_order_mark_hide_nothing() {
    let line = r#"{"id":"a","event":"pre-command","command":"echo \ud83d; rm -rf ~"}"#;
    for line in [line.to_owned(), format!("\u{feff}{line}")] {
        let verdict = eval(&[line]).remove(0);
        assert_eq!((&verdict["id"], &verdict["findings"][0]["id"]), (&json!("a"), &json!("rm/home-or-root")));
    }
}

#[test]
fn the_facts_of_an_event_decide() {
    let event = |command: &str, facts: Value| json!({"event": "pre-command", "command": command, "facts": facts});
    check_event(event("git reset --hard", json!({"git": {"dirty": ["a"]}})), "require_approval", "git/discard-changes");
    check_event(event("git reset --hard", json!({"git": {"dirty": []}})), "allow", "");
    check_event(event("git push -f", json!({"git": {"branch": "x"}})), "require_approval", "git/push-force");
    check_event(event("git push -f", json!({"git": {"branch": "main"}})), "block", "git/push-force-protected");
    check_event(event("git branch -D x", json!({"git": {"unpushed": 0}})), "allow", "");
    check_event(event("git branch -D x", json!({"git": {"unpushed": 1}})), "require_approval", "git/delete-branch");
    check_event(event("rm -rf build/", json!({"symlinks": {"build": "/data"}})), "block", "rm/outside-workspace");
    check_event(event("rm -rf \"$D\"", json!({"env": {"D": "/home/user"}})), "block", "rm/home-or-root");
}

#[test]
fn without_facts_what_discards_work_asks_and_all_else_is_silent() {
    let event = |command: &str| json!({"event": "pre-command", "command": command});
    check_event(event("git reset --hard"), "require_approval", "git/discard-changes");
    check_event(event("git stash drop"), "require_approval", "git/drop-stash");
    check_event(event("rm -rf build node_modules"), "allow", "");
    check_event(event("git push"), "allow", "");
}

#[test]
fn the_home_is_the_events_else_the_one_on_the_command_line_else_the_usual() {
    let event = |home: &str| json!({"event": "pre-command", "command": format!("rm -rf {home}")});
    check_event(event("/home/user"), "block", "rm/home-or-root");
    let mut event_with_home = event("/home/me");
    event_with_home["home"] = "/home/me".into();
    check_event(event_with_home, "block", "rm/home-or-root");
    let output = Machine::new().reflex(["eval", "--home", "/home/you"]).input(event("/home/you").to_string()).run();
    assert_eq!(output.json()["findings"][0]["id"], "rm/home-or-root", "{output:?}");
}

#[test]
fn a_sequence_is_as_strict_as_its_strictest_step_and_names_it() {
    let sequence = |steps: Value| json!({"id": "s", "event": "sequence", "steps": steps}).to_string();
    let verdict = eval(&[sequence(json!(["ls", "rm -rf ~", "git push -f origin x", "rm -rf /etc"]))]).remove(0);
    let place = &verdict["findings"][0]["at"]["in"];
    assert_eq!((&verdict["id"], &verdict["decision"], place), (&json!("s"), &json!("block"), &json!("step:1")));
    let steps = json!(["ls", {"event": "pre-write", "files": ["/etc/passwd"], "content": "x"}]);
    let verdict = eval(&[sequence(steps)]).remove(0);
    assert_eq!((&verdict["decision"], &verdict["findings"][0]["at"]["in"]), (&json!("block"), &json!("step:1")));
    assert_eq!(eval(&[sequence(json!(["ls", "cat a"]))]).remove(0)["decision"], "allow");
    assert_eq!(eval(&[sequence(json!([]))]).remove(0)["decision"], "allow");
}

#[test]
fn a_sequence_passes_what_it_says_on_to_its_steps() {
    let sequence = json!({
        "event": "sequence", "home": "/home/me", "facts": {"git": {"dirty": []}},
        "steps": ["git reset --hard", "rm -rf /home/me"],
    });
    let verdict = eval(&[sequence.to_string()]).remove(0);
    let ids: Vec<&Value> = verdict["findings"].as_array().unwrap().iter().map(|finding| &finding["id"]).collect();
    assert_eq!(ids, ["rm/home-or-root"]);
}

#[test]
fn a_sequence_with_a_step_that_is_no_event_blocks() {
    check_bad_line(r#"{"event":"sequence"}"#, "`steps` is not a list");
    check_bad_line(r#"{"event":"sequence","steps":"ls"}"#, "`steps` is not a list");
    check_bad_line(r#"{"event":"sequence","steps":["ls",7]}"#, "`steps` holds something else than events and texts");
    check_bad_line(r#"{"event":"sequence","steps":[{"event":"moon"}]}"#, "`event` is `moon`, which is not known");
}

#[test]
fn missed_a_sequence_does_not_carry_a_shells_state_from_step_to_step() {
    // Known gap: the steps are judged separately, so the second does not run in the folder of the first.
    let sequence = json!({"event": "sequence", "steps": ["cd ~", "rm -rf *"]});
    check_event(sequence, "require_approval", "rm/workspace-contents");
}

#[test]
fn the_demo_shows_every_decision_and_touches_nothing() {
    let machine = Machine::new();
    let output = machine.reflex(["demo"]).run();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    for (_, decision, _) in DECISIONS {
        assert!(output.stdout.lines().any(|line| line.starts_with(decision)), "{decision}: {}", output.stdout);
    }
    assert_eq!(files(&machine.home()), []);
}

#[test]
fn the_demos_json_has_one_object_a_line_with_what_the_agent_is_told() {
    let output = reflex(&["demo", "--json"]);
    let calls: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(calls.len() > 9, "{}", calls.len());
    for call in &calls {
        let fields: Vec<&str> = call.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ["schema", "title", "agent", "decision", "reason", "stdout", "exit"]);
        assert_eq!(call["schema"], "reflex/demo-v1");
        assert_eq!(call["exit"], if call["decision"] == "block" { 2 } else { 0 }, "{call}");
        let silent = call["decision"] == "allow" && call["agent"] != "universal";
        assert_eq!(call["stdout"] == "", silent, "{call}");
    }
}

#[test]
fn the_readme_shows_lines_of_the_demo() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let (_, shown) = readme.split_once("$ reflex demo\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let output = reflex(&["demo"]).stdout;
    assert!(shown.lines().count() > 5);
    shown.lines().for_each(|line| assert!(output.contains(line), "{line} is not in {output}"));
}

#[test]
fn the_demo_counts_what_it_shows() {
    let output = reflex(&["demo"]).stdout;
    let count = |decision: &str| output.lines().filter(|line| line.starts_with(&format!("{decision} "))).count();
    let counts = ["allow", "warn", "keep", "ask", "block"].map(|decision| (decision, count(decision)));
    assert!(counts.iter().all(|(_, count)| *count > 0), "{output}");
    let parts = counts.map(|(decision, count)| format!("{count} {decision}")).join(", ");
    let sum = format!("\n{} calls: {parts}.\n", counts.iter().map(|(_, count)| count).sum::<usize>());
    assert!(output.contains(&sum), "{sum} is not in {output}");
}

#[test]
fn nothing_but_a_hook_records_and_a_hook_does() {
    let machine = Machine::new();
    for arguments in [&["check", "rm -rf ~"][..], &["explain", "rm -rf ~"], &["demo"], &["completions", "bash"]] {
        machine.reflex(arguments).run();
    }
    assert_eq!(files(&machine.home()), []);
    machine.bash(&machine.project(), "rm -rf ~");
    let log = machine.home().join(".local/state/reflex/audit/current.jsonl");
    let line: Value = serde_json::from_str(std::fs::read_to_string(log).unwrap().trim()).unwrap();
    assert_eq!((&line["schema"], &line["decision"]), (&json!("reflex/audit-v2"), &json!("deny")));
}

#[test]
fn what_is_recorded_holds_no_secret_and_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::new();
    machine.bash(&machine.project(), "login --password hunter2; rm -rf ~");
    let folder = machine.home().join(".local/state/reflex/audit");
    let text = std::fs::read_to_string(folder.join("current.jsonl")).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join("current.jsonl"))), (0o700, 0o600));
}

#[test]
fn many_hooks_at_once_record_a_line_each() {
    let machine = Machine::new();
    let project = machine.project();
    std::thread::scope(|scope| {
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            let (machine, project) = (&machine, &project);
            scope.spawn(move || assert_eq!(machine.bash(project, &format!("ls {name}")), Ran::silence()));
        }
    });
    let text = std::fs::read_to_string(machine.home().join(".local/state/reflex/audit/current.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 8);
}

#[test]
fn every_shell_gets_its_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = reflex(&["completions", shell]);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{shell}");
        assert!(output.stdout.contains("uninstall") && output.stdout.contains("dry-run"), "{shell}");
    }
}

#[test]
fn bash_can_read_its_completions() {
    let machine = Machine::new();
    let script = machine.reflex(["completions", "bash"]).run().stdout;
    assert_eq!(machine.program("bash", ["-n"]).input(script).run(), Ran::silence());
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let event = json!({"event": "pre-command", "command": "rm -rf ~"}).to_string() + "\n";
    let machine = Machine::new();
    let output = machine.reflex(["eval"]).input(event.repeat(500)).run_unread();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    for arguments in
        [&["demo"][..], &["explain", "rm -rf ~"], &["check", "rm -rf ~"], &["completions", "zsh"], &["--help"]]
    {
        let output = machine.reflex(arguments).run_unread();
        assert_eq!(output.stderr, "", "{arguments:?}");
        assert!([0, 2].contains(&output.code), "{arguments:?}: {output:?}");
    }
}

#[test]
fn head_takes_its_one_line() {
    let event = json!({"event": "pre-command", "command": "ls"}).to_string() + "\n";
    let machine = Machine::new();
    let line = "\"$0\" eval | head -n 1";
    let output = machine.program("sh", ["-c", line, env!("CARGO_BIN_EXE_reflex")]).input(event.repeat(3000)).run();
    assert_eq!((output.json()["decision"].as_str(), output.stderr.as_str()), (Some("allow"), ""));
}
