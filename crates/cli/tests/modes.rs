//! Session modes: a person lets agents run under another policy for a while, and no agent can.

use crate::support;
use crate::support::{Machine, Ran, at_terminal, at_terminal_in, bash};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

const PUSH: &str = "git push --force origin feature";

fn hook(machine: &Machine, command: &str) -> Ran {
    let words = ["hook", "--agent", "claude", "--event", "PreToolUse"];
    machine.reflex(words).input(bash(&machine.project(), command)).run()
}

fn decision(output: &Ran) -> String {
    let answer: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none").to_owned()
}

/// A machine on which a person has set a mode; `None` if no terminal can be created.
fn with_mode(words: &str) -> Option<Machine> {
    let machine = Machine::new();
    assert_eq!(decision(&hook(&machine, PUSH)), "ask");
    let (code, output) = at_terminal_in(&machine, &machine.project(), &format!("mode {words}"), "y\n")?;
    assert_eq!(code, 0, "{output}");
    Some(machine)
}

fn only_mode(machine: &Machine) -> PathBuf {
    let folder = machine.home().join(".local/state/reflex/modes");
    fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
}

fn change(machine: &Machine, key: &str, value: Value) {
    let file = only_mode(machine);
    let mut output: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    output[key] = value;
    fs::write(file, output.to_string()).unwrap();
}

#[test]
fn under_allow_all_only_the_core_stops_a_call_and_losses_are_kept() {
    let Some(machine) = with_mode("allow-all --for 2h") else { return };
    for command in [PUSH, "terraform destroy", "sudo ls", "npm publish"] {
        let output = hook(&machine, command);
        assert_eq!((decision(&output).as_str(), output.code), ("none", 0), "{command}: {output:?}");
        assert!(!format!("{output:?}").contains("mode"), "the agent learns of no mode: {output:?}");
    }
    let blocked = hook(&machine, "rm -rf ~");
    assert_eq!((decision(&blocked).as_str(), blocked.code), ("deny", 2));
    let git = |words: &[&str]| machine.program("git", words).folder(&machine.project()).run();
    git(&["init", "-q"]);
    fs::write(machine.project().join("notes.txt"), "work").unwrap();
    git(&["add", "notes.txt"]);
    let kept = hook(&machine, "git reset --hard");
    assert!(kept.stdout.contains("Kept (`reflex undo "), "{kept:?}");
    let log = machine.reflex(["audit", "search", "--json", "policy=allow-all"]).run().stdout;
    assert_eq!(log.lines().count(), 6, "{log}");
    assert!(log.contains("passed by the mode allow-all: git/push-force"), "{log}");
    let check = |variable: &str| machine.reflex(["check", "sudo ls"]).env(variable, "1").run().code;
    assert_eq!((check("NOTHING"), check("CLAUDECODE")), (0, 3), "an agent that asks learns of no mode");
    let (code, output) = at_terminal(&machine, "mode off", "").unwrap();
    assert_eq!(code, 0, "{output}");
    assert_eq!(decision(&hook(&machine, PUSH)), "ask");
}

#[test]
fn a_core_question_stays_and_is_told_alone() {
    let Some(machine) = with_mode("allow-all") else { return };
    let output = hook(&machine, "git push --force origin main; terraform destroy");
    assert_eq!(decision(&output), "deny");
    assert!(output.stdout.contains("git/push-force-protected") && !output.stdout.contains("terraform"), "{output:?}");
}

#[test]
fn what_was_not_judged_completely_is_still_asked_about() {
    let Some(machine) = with_mode("allow-all") else { return };
    assert_eq!(decision(&hook(&machine, "echo {1..9999}")), "ask");
}

#[test]
fn a_mode_ends_with_its_time_by_either_clock_and_with_the_machine() {
    for (key, value) in [
        ("until", json!(1)),
        ("up_until", json!(1)),
        ("boot", json!("another")),
        // After the clock is set back, the mode has not started yet.
        ("from", json!(u64::MAX / 2)),
        ("up_from", json!(u64::MAX / 2)),
        // A mode cannot last a year.
        ("until", json!(u64::MAX / 2)),
    ] {
        let Some(machine) = with_mode("allow-all") else { return };
        assert_eq!(decision(&hook(&machine, PUSH)), "none");
        change(&machine, key, value);
        assert_eq!(decision(&hook(&machine, PUSH)), "ask", "{key}");
    }
}

#[test]
fn a_mode_for_a_project_holds_nowhere_else() {
    let Some(machine) = with_mode("allow-all --here") else { return };
    assert_eq!(decision(&hook(&machine, PUSH)), "none");
    let elsewhere = machine.root().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let output = machine.reflex(["hook", "--agent", "claude"]).input(bash(&elsewhere, PUSH)).run();
    assert_eq!(decision(&output), "ask");
}

#[test]
fn other_modes_replace_the_policy_and_the_variable_only_tightens() {
    let Some(machine) = with_mode("quiet") else { return };
    assert_eq!(decision(&hook(&machine, PUSH)), "none");
    let words = ["hook", "--agent", "claude", "--event", "PreToolUse"];
    let strict = machine.reflex(words).env("REFLEX_MODE", "strict").input(bash(&machine.project(), PUSH)).run();
    assert_eq!(decision(&strict), "deny");
    let loose = Machine::new();
    let output = loose.reflex(words).env("REFLEX_MODE", "allow-all").input(bash(&loose.project(), PUSH)).run();
    assert_eq!(decision(&output), "ask", "the variable loosens nothing");
}

#[test]
fn a_mode_is_signed_once_a_passphrase_is_set() {
    let machine = Machine::new();
    fs::create_dir_all(machine.home().join(".claude")).unwrap();
    assert_eq!(machine.reflex(["init", "--agent", "claude", "--yes"]).run().code, 0);
    let words = "correct horse\n";
    let Some((code, output)) = at_terminal(&machine, "pin", &format!("{words}{words}y\n")) else { return };
    assert_eq!(code, 0, "{output}");
    let set = |answer: &str| at_terminal(&machine, "mode allow-all", answer).unwrap();
    assert_ne!(set("wrong\nwrong\nwrong\n").0, 0);
    assert_eq!(decision(&hook(&machine, PUSH)), "ask");
    assert_eq!(set(words).0, 0);
    assert_eq!(decision(&hook(&machine, PUSH)), "none");
    change(&machine, "within", json!("/"));
    change(&machine, "within", json!(""));
    assert_eq!(decision(&hook(&machine, PUSH)), "none", "the same words have the same signature");
    change(&machine, "until", json!(reflex_now() + 20 * 3_600_000));
    assert_eq!(decision(&hook(&machine, PUSH)), "ask");
}

fn reflex_now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

#[test]
fn without_a_person_there_is_no_mode_to_set_or_see() {
    let machine = Machine::new();
    for words in [&["mode", "allow-all"][..], &["mode", "off"], &["mode"]] {
        let output = machine.reflex(words.iter().copied()).run();
        assert!(output.code != 0 && output.stderr.contains("only a person at a terminal"), "{output:?}");
    }
    let Some(machine) = with_mode("allow-all") else { return };
    hook(&machine, PUSH);
    for words in [&["status"][..], &["status", "--json"], &["report"], &["audit", "tail"], &["audit", "tail", "--json"]]
    {
        let output = machine.reflex(words.iter().copied()).env("CLAUDECODE", "1").run();
        assert!(!output.stdout.contains("allow-all"), "{words:?}: {}", output.stdout);
    }
    let line = |variable: &str| machine.reflex(["status", "--line"]).env(variable, "1").run().stdout;
    assert!(line("NOTHING").contains(" · allow-all") && !line("CLAUDECODE").contains("allow-all"));
    let person = machine.reflex(["status"]).run();
    assert!(person.stdout.contains("mode allow-all for every agent for 2h"), "{person:?}");
}

#[test]
fn a_mode_of_run_holds_below_the_agent_and_ends_with_it() {
    let machine = Machine::new();
    fs::create_dir_all(machine.home().join(".claude")).unwrap();
    assert_eq!(machine.reflex(["init", "--agent", "claude", "--yes"]).run().code, 0);
    let root = machine.root();
    fs::write(root.join("payload"), bash(&machine.project(), PUSH)).unwrap();
    let hook_line = format!("{} hook --agent claude --event PreToolUse < payload", machine.line());
    // The second hook is called by a process that is no longer below the agent.
    let script = format!(
        "#!/bin/sh\n{hook_line} > inside\ncp '{}'/.local/state/reflex/modes/*.json kept.json\n\
         setsid -f sh -c \"{} > beside\"\nfor _ in 1 2 3 4 5 6 7 8 9 10; do [ -s beside ] && break; sleep 0.3; done\n",
        machine.home().display(),
        hook_line.replace('"', "\\\"")
    );
    let path = support::with_program(&machine, "claude", &script);
    let line = format!("PATH='{path}' {} run --yolo -- claude", machine.line());
    if machine.program("sh", ["-c", "command -v script; command -v setsid"]).run().stdout.lines().count() < 2 {
        return println!("skipped: there is no program `script` or `setsid`");
    }
    let output = machine.program("script", ["-qec", &line, "/dev/null"]).folder(&root).input("y\n").run();
    assert_eq!(output.code, 0, "{output:?}");
    let answer = |name: &str| {
        let stdout = fs::read_to_string(root.join(name)).unwrap_or_default();
        decision(&Ran { stdout, stderr: String::new(), code: 0 })
    };
    assert_eq!((answer("inside").as_str(), answer("beside").as_str()), ("none", "ask"), "{output:?}");
    assert_eq!(decision(&hook(&machine, PUSH)), "ask");
    let modes = machine.home().join(".local/state/reflex/modes");
    assert_eq!(fs::read_dir(&modes).unwrap().count(), 0, "the file of an ended run is removed");
    fs::copy(root.join("kept.json"), modes.join("kept.json")).unwrap();
    assert_eq!(decision(&hook(&machine, PUSH)), "ask", "a copy of it holds for no other process");
}

/// Written by an author who had not read the code, and frozen: `tests/modes/*.jsonl`.
fn cases(name: &str) -> Vec<Value> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/modes").join(name);
    fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn played(machine: &Machine, case: &Value) -> String {
    let placed = |key: &str| {
        let text = case[key].as_str().unwrap_or_default().replace("/home/dev", &machine.home().to_string_lossy());
        text.replace("/repo", &machine.project().to_string_lossy())
    };
    let input = match case["tool"].as_str().unwrap() {
        "Bash" => json!({"command": placed("command")}),
        "Write" => json!({"file_path": placed("path"), "content": placed("content")}),
        _ => json!({"file_path": placed("path"), "old_string": "", "new_string": placed("content")}),
    };
    let payload = json!({
        "session_id": case["id"], "transcript_path": "/t", "cwd": machine.project(), "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": case["tool"], "tool_input": input,
    });
    let words = ["hook", "--agent", "claude", "--event", "PreToolUse"];
    decision(&machine.reflex(words).input(payload.to_string().into_bytes()).run())
}

/// The two that pass reach no mode. `mode-33` leaves a process that starts agents later: it has no live run as
/// ancestor.
/// `mode-39` asks a server to run `reflex mode`, which finds no terminal there.
const HARMLESS: [&str; 2] = ["mode-33", "mode-39"];

#[test]
fn agents_that_try_to_set_a_mode_are_stopped() {
    let machine = Machine::new();
    fs::create_dir_all(machine.home().join(".claude")).unwrap();
    assert_eq!(machine.reflex(["init", "--agent", "claude", "--yes"]).run().code, 0);
    let attempts = cases("attempts.jsonl");
    assert_eq!(attempts.len(), 40);
    for attempt in attempts {
        let stopped = ["deny", "ask"].contains(&played(&machine, &attempt).as_str());
        let is_harmless = HARMLESS.contains(&attempt["id"].as_str().unwrap());
        assert!(stopped || is_harmless, "{attempt}");
    }
}

/// Another program named `reflex` in the project is treated as the guard.
const NAMESAKE: &str = "ord-19";

#[test]
fn words_of_modes_in_ordinary_work_stop_nothing() {
    let machine = Machine::new();
    for case in cases("ordinary.jsonl").iter().filter(|case| case["id"] != NAMESAKE) {
        let decision = played(&machine, case);
        assert!(!["deny", "ask"].contains(&decision.as_str()), "{case}");
    }
}
