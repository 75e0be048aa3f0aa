//! Unreadable input is refused before a tool and ignored after one; readable input is judged.

use crate::support::{Call, Machine, Ran, bash};
use serde_json::{Value, json};
use std::path::Path;

/// A payload of a call that is always refused, after a change.
fn home_goes(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut payload: Value = serde_json::from_slice(&bash(Path::new("/"), "rm -rf ~")).unwrap();
    change(&mut payload);
    payload.to_string().into_bytes()
}

/// Asserts a refusal before a tool for exactly this reason, and silence after one.
#[track_caller]
fn check_unreadable(input: impl Into<Vec<u8>>, problem: &str) {
    let (machine, input) = (Machine::new(), input.into());
    let reason = format!("Blocked: Reflex cannot read this event ({problem}), so it does not run.");
    assert_eq!(machine.hook().input(input.clone()).run(), Ran::refusal(&reason));
    assert_eq!(machine.reflex(["hook", "--agent", "claude"]).input(input.clone()).run(), Ran::refusal(&reason));
    for event in ["PostToolUse", "Stop", "SubagentStop", "SessionStart", "SessionEnd", "PreCompact"] {
        let later = machine.reflex(["hook", "--agent", "claude", "--event", event]).input(input.clone()).run();
        assert_eq!(later, Ran::silence(), "{event}");
    }
}

/// Asserts that the payload is judged and refused for its effect.
#[track_caller]
fn check_denied(call: Call, input: impl Into<Vec<u8>>) {
    let output = call.input(input).run();
    let (decision, reason) = output.answer();
    assert_eq!(decision, "deny", "{output:?}");
    assert!(reason.contains("[rm/home-or-root"), "{reason}");
}

#[test]
fn nothing_at_all_is_refused() {
    check_unreadable("", "the input is empty");
    check_unreadable(" \n\t\r\n", "the input is empty");
    check_unreadable("\u{feff}", "the input is empty");
}

#[test]
fn every_byte_order_mark_before_a_payload_is_skipped() {
    let machine = Machine::new();
    let marked = [b"\xef\xbb\xbf\xef\xbb\xbf".to_vec(), home_goes(|_| {})].concat();
    check_denied(machine.hook(), marked);
}

#[test]
fn arguments_may_nest_as_deep_as_they_like() {
    let nested = |tool: &str, levels: usize, inside: &str| {
        let (opens, closes) = (r#"{"content":["#.repeat(levels), "]}".repeat(levels));
        let arguments = format!("{opens}{inside}{closes}");
        format!(r#"{{"hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{arguments},"cwd":"/"}}"#)
    };
    let machine = Machine::new();
    for levels in [14, 70, 3000] {
        assert_eq!(
            machine.hook().input(nested("mcp__jira__update_page", levels, r#"{"text":"x"}"#)).run(),
            Ran::silence(),
            "{levels}"
        );
        check_denied(machine.hook(), nested("mcp__sh__run", levels, r#"{"command":"rm -rf ~"}"#));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_payload_that_comes_late_through_a_non_blocking_pipe_is_judged() {
    let machine = Machine::new();
    // The payload comes once the hook waits for it.
    let script = "import os, subprocess, sys, time\nr, w = os.pipe()\nos.set_blocking(r, False)\n\
                  hook = subprocess.Popen(sys.argv[1:], stdin=r)\nend = time.monotonic() + 5\n\
                  def waits(): return hook.poll() is not None or ' S ' in open(f'/proc/{hook.pid}/stat').read()\n\
                  while not waits() and time.monotonic() < end: time.sleep(0.005)\n\
                  os.write(w, sys.stdin.buffer.read())\nos.close(w)\nsys.exit(hook.wait())\n";
    let home = machine.home().to_string_lossy().into_owned();
    let hook = [env!("CARGO_BIN_EXE_reflex"), "--home", &home, "hook", "--agent", "claude"];
    let words = ["-c", script].into_iter().chain(hook);
    check_denied(machine.program("python3", words), home_goes(|_| {}));
}

#[test]
fn what_is_cut_off_is_refused() {
    let complete = home_goes(|_| {});
    let cut =
        |at: usize, problem: &str| check_unreadable(&complete[..at], &format!("the input is not JSON: {problem}"));
    cut(1, "EOF while parsing an object at line 1 column 1");
    cut(complete.len() - 1, &format!("EOF while parsing an object at line 1 column {}", complete.len() - 1));
}

#[test]
fn two_payloads_are_not_one() {
    let twice = [home_goes(|_| {}), home_goes(|_| {})].concat();
    let column = twice.len() / 2 + 1;
    check_unreadable(twice, &format!("the input is not JSON: trailing characters at line 1 column {column}"));
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    check_unreadable(b"\xff\xfe{}".to_vec(), "the input is not UTF-8");
    let mut latin = home_goes(|payload| payload["tool_input"]["description"] = "X".into());
    let at = latin.iter().rposition(|byte| *byte == b'X').unwrap();
    latin[at] = 0xe9;
    check_unreadable(latin, "the input is not UTF-8");
}

#[test]
fn json_that_is_no_object_is_refused() {
    for input in ["[]", "null", "true", "7", "\"rm -rf ~\""] {
        check_unreadable(input, "the input is JSON but no object");
    }
    check_unreadable([b"[".as_slice(), &home_goes(|_| {}), b"]"].concat(), "the input is JSON but no object");
}

#[test]
fn depth_without_end_is_refused() {
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    check_unreadable(deep, "the input is not JSON: recursion limit exceeded at line 1 column 132");
}

#[test]
fn a_field_of_the_wrong_type_is_refused_by_its_name() {
    for field in ["session_id", "cwd", "permission_mode", "agent_type", "tool_name"] {
        for wrong in [json!(1), json!(true), json!([]), json!({"a": "b"})] {
            let machine = Machine::new();
            let input = home_goes(|payload| payload[field] = wrong);
            let reason =
                format!("Blocked: Reflex cannot read this event (`{field}` is not a text), so it does not run.");
            assert_eq!(machine.hook().input(input).run(), Ran::refusal(&reason));
        }
    }
    check_unreadable(home_goes(|payload| payload["hook_event_name"] = json!(1)), "`hook_event_name` is not a text");
}

/// Asserts a refusal before a tool; the payload's event name is trusted.
#[track_caller]
fn check_refused(change: impl FnOnce(&mut Value), problem: &str) {
    let machine = Machine::new();
    let reason = format!("Blocked: Reflex cannot read this event ({problem}), so it does not run.");
    let input = home_goes(change);
    assert_eq!(machine.hook().input(input.clone()).run(), Ran::refusal(&reason));
    assert_eq!(machine.reflex(["hook", "--agent", "claude"]).input(input).run(), Ran::refusal(&reason));
}

#[test]
fn a_call_without_its_parts_is_refused() {
    let without = |field: &'static str| move |payload: &mut Value| drop(payload.as_object_mut().unwrap().remove(field));
    check_refused(without("tool_name"), "`tool_name` is missing");
    check_refused(without("tool_input"), "`tool_input` is missing");
    check_refused(|payload| payload["tool_name"] = Value::Null, "`tool_name` is missing");
    check_refused(|payload| payload["tool_input"] = json!({}), "`tool_input.command` is missing");
    check_refused(|payload| payload["tool_input"] = Value::Null, "`tool_input` is not an object");
    check_refused(|payload| payload["tool_input"] = json!("rm -rf ~"), "`tool_input` is not an object");
    check_refused(|payload| payload["tool_input"] = json!(["rm -rf ~"]), "`tool_input` is not an object");
    for wrong in [json!(1), json!(["rm", "-rf", "~"]), json!({"line": "rm -rf ~"}), json!(false)] {
        check_refused(|payload| payload["tool_input"]["command"] = wrong, "`tool_input.command` is not a text");
    }
    check_refused(|payload| payload["tool_input"]["command"] = Value::Null, "`tool_input.command` is missing");
}

#[test]
fn a_tool_that_writes_needs_its_path_and_its_text() {
    let call = |tool: &'static str, input: Value| {
        move |payload: &mut Value| {
            payload["tool_name"] = tool.into();
            payload["tool_input"] = input;
        }
    };
    check_refused(call("Write", json!({"content": "x"})), "`tool_input.file_path` is missing");
    check_refused(call("Write", json!({"file_path": "x"})), "`tool_input.content` is missing");
    check_refused(call("Write", json!({"file_path": "x", "content": {}})), "`tool_input.content` is not a text");
    check_refused(call("Edit", json!({"file_path": 1, "new_string": ""})), "`tool_input.file_path` is not a text");
    check_refused(call("Read", json!({})), "`tool_input.file_path` is missing");
    check_refused(call("WebFetch", json!({"url": 1})), "`tool_input.url` is not a text");
    check_refused(call("NotebookEdit", json!({})), "`tool_input.notebook_path` is missing");
}

#[test]
fn a_payload_without_its_event_takes_the_one_on_the_command_line() {
    let nameless = || home_goes(|payload| drop(payload.as_object_mut().unwrap().remove("hook_event_name")));
    check_denied(Machine::new().hook(), nameless());
    let output = Machine::new().reflex(["hook", "--agent", "claude"]).input(nameless()).run();
    let reason = "Blocked: Reflex cannot read this event (`hook_event_name` is missing), so it does not run.";
    assert_eq!(output, Ran::refusal(reason));
}

#[test]
fn an_event_that_is_not_known_is_judged_if_it_carries_a_call() {
    let unknown = || home_goes(|payload| payload["hook_event_name"] = "PreEverything".into());
    check_denied(Machine::new().hook(), unknown());
    check_denied(Machine::new().reflex(["hook", "--agent", "claude"]), unknown());
    check_denied(Machine::new().reflex(["hook", "--agent", "claude", "--event", "PreEverything"]), unknown());
}

#[test]
fn an_event_that_is_not_known_and_carries_no_call_is_passed_over() {
    let payload = json!({"hook_event_name": "MoonPhase", "session_id": "s", "cwd": "/"}).to_string();
    let output = Machine::new().reflex(["hook", "--agent", "claude"]).input(payload.clone()).run();
    assert_eq!(output, Ran::silence());
    // A hook that the settings install before a tool is one, whatever event the payload names.
    let reason = "Blocked: Reflex cannot read this event (`tool_name` is missing), so it does not run.";
    assert_eq!(Machine::new().hook().input(payload).run(), Ran::refusal(reason));
}

#[test]
fn an_event_after_which_nothing_can_be_kept_from_running_is_passed_over_with_any_field_wrong() {
    for event in ["PostToolUse", "PostToolBatch", "Stop", "SubagentStop", "SessionStart", "SessionEnd", "PreCompact"] {
        for field in ["session_id", "cwd", "permission_mode", "agent_type", "tool_name", "tool_input", "tool_calls"] {
            let input = home_goes(|payload| {
                payload["hook_event_name"] = event.into();
                payload[field] = json!(1);
            });
            let output = Machine::new().reflex(["hook", "--agent", "claude"]).input(input).run();
            // Its readable part is reported: it ran, and no hook was asked before.
            let is_warning =
                output.stdout.contains("ran without being judged") && output.code == 0 && output.stderr.is_empty();
            assert!(output == Ran::silence() || (is_warning && event == "PostToolUse"), "{event} {field}: {output:?}");
        }
    }
}

#[test]
fn a_tool_that_is_not_known_passes_with_whatever_it_takes() {
    for input in [json!({}), json!({"query": ["a", 1, null]})] {
        let payload = home_goes(|payload| {
            payload["tool_name"] = "CrystalBall".into();
            payload["tool_input"] = input;
        });
        assert_eq!(Machine::new().hook().input(payload).run(), Ran::silence());
    }
}

#[test]
fn a_byte_order_mark_hides_nothing() {
    check_denied(Machine::new().hook(), [b"\xef\xbb\xbf".as_slice(), &home_goes(|_| {})].concat());
}

#[test]
fn half_a_surrogate_pair_hides_nothing() {
    let text = String::from_utf8(home_goes(|_| {})).unwrap();
    check_denied(Machine::new().hook(), text.replace("rm -rf ~", "rm -rf ~; echo \\ud83d"));
    check_denied(Machine::new().hook(), text.replace("rm -rf ~", "echo \\udc00\\ud83d; rm -rf ~"));
    check_denied(Machine::new().hook(), text.replace("\"s1\"", "\"\\ud83d\""));
}

#[test]
fn escapes_and_odd_spacing_hide_nothing() {
    let text = String::from_utf8(home_goes(|_| {})).unwrap();
    check_denied(Machine::new().hook(), text.replace("rm -rf ~", "\\u0072\\u006d -rf ~"));
    check_denied(Machine::new().hook(), format!("\r\n\t {text} \n\n"));
    check_denied(Machine::new().hook(), text.replace("rm -rf ~", "echo \\u0000; rm -rf ~"));
}

#[test]
fn of_a_field_that_stands_twice_the_last_holds_as_it_does_for_the_client() {
    let text = String::from_utf8(home_goes(|_| {})).unwrap();
    check_denied(Machine::new().hook(), text.replace("\"command\":", "\"command\":\"ls\",\"command\":"));
}

#[test]
fn a_field_that_is_not_known_changes_nothing() {
    check_denied(Machine::new().hook(), home_goes(|payload| payload["novelty"] = json!({"a": [1, 2.5, null]})));
}

#[test]
fn a_working_directory_that_is_not_given_or_not_there_hides_nothing() {
    let machine = Machine::new();
    check_denied(machine.hook(), home_goes(|payload| drop(payload.as_object_mut().unwrap().remove("cwd"))));
    for cwd in [json!(null), json!(""), json!("."), json!("../.."), json!("no/such/folder"), json!("/no/such/folder")] {
        check_denied(machine.hook(), home_goes(|payload| payload["cwd"] = cwd));
    }
}

#[test]
fn a_working_directory_that_was_removed_hides_nothing() {
    let machine = Machine::new();
    let removed = machine.root().join("gone");
    std::fs::create_dir(&removed).unwrap();
    let line = "cd gone && rmdir ../gone && exec \"$0\" hook --home \"$1\" --agent claude --event PreToolUse";
    let input = home_goes(|payload| drop(payload.as_object_mut().unwrap().remove("cwd")));
    let home = machine.home();
    check_denied(machine.program("sh", ["-c", line, env!("CARGO_BIN_EXE_reflex"), home.to_str().unwrap()]), input);
    assert!(!removed.exists());
}

#[test]
fn a_home_in_which_nothing_can_be_written_hides_nothing_and_is_told() {
    let machine = Machine::new();
    let call = || machine.in_home(Path::new("/dev/null/x"), ["hook", "--agent", "claude", "--event", "PreToolUse"]);
    let output = call().input(home_goes(|_| {})).run();
    let reason = output.answer().1;
    assert!(reason.contains("[rm/home-or-root"), "{output:?}");
    let warning = "reflex: this decision is not in the audit log: Not a directory (os error 20)\n";
    assert_eq!(output.stderr, format!("{reason}\n{warning}"));
    let quiet = call().input(bash(&machine.project(), "ls")).run();
    assert_eq!(quiet, Ran { stderr: warning.into(), ..Ran::silence() });
}

#[test]
fn a_strict_policy_lets_nothing_run_that_is_not_in_the_log() {
    let machine = Machine::new();
    let call = || machine.hook().input(bash(&machine.project(), "ls")).run();
    let strict = machine.home().join(".config/reflex");
    std::fs::create_dir_all(&strict).unwrap();
    std::fs::write(strict.join("policy.yaml"), "preset: strict\n").unwrap();
    std::fs::create_dir_all(machine.home().join(".local")).unwrap();
    std::fs::write(machine.home().join(".local/state"), "a file where a folder should be").unwrap();
    let output = call();
    let reason = output.answer().1;
    let begins = "Blocked: this call cannot be written into the audit log (Not a directory (os error 20))";
    assert!(reason.starts_with(begins), "{output:?}");
    std::fs::remove_file(strict.join("policy.yaml")).unwrap();
    let lax = call();
    assert_eq!(lax.stdout, "", "{lax:?}");
}

#[test]
fn a_link_in_the_place_of_the_log_takes_no_record() {
    let machine = Machine::new();
    let audit = machine.home().join(".local/state/reflex/audit");
    std::fs::create_dir_all(&audit).unwrap();
    std::os::unix::fs::symlink("/dev/null", audit.join("current.jsonl")).unwrap();
    let output = machine.hook().input(bash(&machine.project(), "ls")).run();
    assert!(output.stderr.contains("this decision is not in the audit log"), "{output:?}");
}

#[test]
fn no_home_at_all_hides_nothing() {
    let machine = Machine::new();
    let call = machine.hook().without_env("HOME").env("XDG_STATE_HOME", machine.root());
    check_denied(call, bash(Path::new("/"), "rm -rf /"));
}

#[test]
fn more_than_a_payload_may_hold_is_refused_to_its_last_byte() {
    let machine = Machine::new();
    let big = |payload: &mut Value| payload["tool_input"]["description"] = "x".repeat(50_000_000).into();
    let reason = "Blocked: Reflex cannot read this event (it is larger than 16 MiB), so it does not run.";
    assert_eq!(machine.hook().input(home_goes(big)).run(), Ran::refusal(reason));
    let later = machine.reflex(["hook", "--agent", "claude", "--event", "PostToolUse"]).input(home_goes(big)).run();
    assert_eq!(later, Ran::silence());
}

#[test]
fn an_answer_that_nobody_reads_still_refuses_by_its_status() {
    let machine = Machine::new();
    let output = machine.hook().input(home_goes(|_| {})).run_unread();
    assert_eq!((output.code, output.stderr.starts_with("Blocked: would delete ")), (2, true), "{output:?}");
    let question = machine.hook().input(bash(&machine.project(), "git push --force origin topic")).run_unread();
    assert_eq!(question.code, 2, "{question:?}");
    let silent = machine.hook().input(bash(&machine.project(), "ls")).run_unread();
    assert_eq!(silent, Ran::silence());
}

#[test]
fn a_refusal_without_standard_output_stands_on_standard_error_with_its_status() {
    let machine = Machine::new();
    let line = "exec \"$0\" hook --home \"$1\" --agent claude --event PreToolUse >&-";
    let home = machine.home();
    let words = ["-c", line, env!("CARGO_BIN_EXE_reflex"), home.to_str().unwrap()];
    let output = machine.program("sh", words).input(home_goes(|_| {})).run();
    assert_eq!((output.code, output.stderr.starts_with("Blocked: would delete ")), (2, true), "{output:?}");
}

#[test]
fn no_input_at_all_is_refused() {
    let line = "exec \"$0\" hook --home \"$1\" --agent claude --event PreToolUse <&-";
    let machine = Machine::new();
    let home = machine.home();
    let output = machine.program("sh", ["-c", line, env!("CARGO_BIN_EXE_reflex"), home.to_str().unwrap()]).run();
    let reason = "Blocked: Reflex cannot read this event (the input is empty), so it does not run.";
    assert_eq!(output, Ran::refusal(reason));
}

/// Asserts that a wrong command line of the hook refuses by its status, with this on standard error.
#[track_caller]
fn check_usage(arguments: &[&str], problem: &str) {
    let output = Machine::new().reflex(["hook"].iter().chain(arguments)).input(home_goes(|_| {})).run();
    assert_eq!(output, Ran { stdout: String::new(), stderr: format!("reflex hook: {problem}\n"), code: 2 });
}

#[test]
fn a_wrong_command_line_refuses() {
    check_usage(&["--agent", "clod"], "unknown agent `clod`");
    check_usage(&["--agent=clod"], "unknown agent `clod`");
    check_usage(&["--agent", ""], "unknown agent ``");
    check_usage(&["--agent"], "`--agent` needs a value");
    check_usage(&["--agent", "claude", "--event"], "`--event` needs a value");
    check_usage(&["--agent", "claude", "--evnt", "PreToolUse"], "unknown argument `--evnt`");
    check_usage(&["claude", "PreToolUse"], "unknown argument `claude`");
    check_usage(&["claude"], "unknown argument `claude`");
}

#[test]
fn both_ways_to_write_an_option_and_both_names_of_the_agent_are_understood() {
    let machine = Machine::new();
    check_denied(machine.reflex(["hook", "--agent=claude", "--event=PreToolUse"]), home_goes(|_| {}));
    check_denied(machine.reflex(["hook", "--event", "PreToolUse", "--agent", "claude-code"]), home_goes(|_| {}));
}

#[test]
fn without_an_agent_the_payload_tells_whose_dialect_is_spoken() {
    let machine = Machine::new();
    check_denied(machine.reflex(["hook"]), home_goes(|_| {}));
    let universal = json!({"event": "pre-command", "command": "rm -rf ~", "cwd": "/"}).to_string();
    let output = machine.reflex(["hook"]).input(universal).run();
    assert_eq!((output.json()["decision"].as_str(), output.code), (Some("block"), 0), "{output:?}");
}

#[test]
fn without_an_agent_what_cannot_be_read_is_refused_in_every_way_there_is() {
    for input in ["", "{", "[]", "{}", "{\"event\":\"pre-command\"}", "{\"event\":\"moon\"}"] {
        let output = Machine::new().reflex(["hook"]).input(input).run();
        assert_eq!((output.json()["decision"].as_str(), output.code), (Some("block"), 2), "{output:?}");
        assert!(output.stderr.starts_with("Blocked: "), "{output:?}");
    }
}
