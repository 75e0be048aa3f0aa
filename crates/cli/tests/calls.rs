//! Handling of an agent's call: replacement by another call, one judgement for several hooks, and the
//! resulting truth matrix.

use crate::support::{Machine, Ran, calls};
use serde_json::{Value, json};
use std::fs;

/// Runs a call of Claude Code with a call id.
fn claude(machine: &Machine, id: &str, command: &str) -> Ran {
    let payload = json!({"session_id": "s", "cwd": machine.project(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": command, "description": "d", "timeout": 5}, "tool_use_id": id});
    let words = ["hook", "--agent", "claude", "--event", "PreToolUse"];
    machine.reflex(words).input(payload.to_string()).run()
}

/// Runs one call of Copilot CLI through its own hook and through the project's `.claude/settings.json`.
fn copilot(machine: &Machine, time: u64, command: &str) -> [Ran; 2] {
    let input = json!({"command": command, "description": "d"});
    let native =
        json!({"sessionId": "s", "timestamp": time, "cwd": machine.project(), "toolName": "bash", "toolArgs": input});
    let date = format!("2026-11-21T15:42:{:02}.{:03}Z", time / 1000 % 60, time % 1000);
    let borrowed = json!({"hook_event_name": "PreToolUse", "session_id": "s", "timestamp": date, "cwd": machine.project(),
        "tool_name": "Bash", "tool_input": input});
    let hook = |agent, event, payload: Value| {
        machine.reflex(["hook", "--agent", agent, "--event", event]).input(payload.to_string()).run()
    };
    [hook("copilot", "preToolUse", native), hook("claude", "PreToolUse", borrowed)]
}

const MODIFY: &str = "name: npm\nevents: [bash_command]\nconditions: [{matches_command: npm install}]\naction: modify\n\
    rewrite: {command: npm ci}\nmessage: the lock file holds the versions\n";

fn rule(machine: &Machine, text: &str) {
    let folder = machine.home().join(".config/reflex/rules");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("a.yaml"), text).unwrap();
}

fn records(machine: &Machine) -> Vec<Value> {
    let text = fs::read_to_string(machine.home().join(".local/state/reflex/audit/current.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn another_call_runs_in_place_of_one_and_the_record_says_so() {
    let machine = Machine::new();
    rule(&machine, MODIFY);
    let output = claude(&machine, "t1", "npm install");
    let answer = output.json();
    let hook = &answer["hookSpecificOutput"];
    assert_eq!(hook["updatedInput"], json!({"command": "npm ci", "description": "d", "timeout": 5}));
    assert_eq!((output.code, &hook["permissionDecision"]), (0, &Value::Null), "it is no approval");
    assert!(hook["additionalContext"].as_str().unwrap().contains("changed before it ran"));
    let record = records(&machine).pop().unwrap();
    assert_eq!(record["said"]["decision"], "replace");
    assert_eq!(record["said"]["instead"]["command"], "npm ci");
}

#[test]
fn two_hooks_that_are_asked_about_one_call_count_it_once() {
    let circles = |output: &Ran| output.stdout.contains("loop/");
    let machine = Machine::new();
    let calls: Vec<Ran> = (0..8).map(|call| claude(&machine, &format!("t{call}"), "make check")).collect();
    let first = calls.iter().position(circles).expect("the same call again and again is a loop");
    let machine = Machine::new();
    let doubled: Vec<Ran> =
        (0..8).flat_map(|call| [0, 1].map(|_| claude(&machine, &format!("t{call}"), "make check"))).collect();
    let again = doubled.iter().position(circles).expect("and it is one with two hooks, too");
    assert_eq!(again / 2, first, "{doubled:#?}");
    let machine = Machine::new();
    let twice: Vec<Ran> = (0..8).flat_map(|call| copilot(&machine, 735_877 + call * 1500, "make check")).collect();
    assert_eq!(twice.iter().position(circles).map(|at| at / 2), Some(first), "{twice:#?}");
}

#[test]
fn a_yes_for_one_call_is_heard_by_every_hook_that_is_asked_about_it() {
    const PUSH: &str = "git push --force origin main";
    let machine = Machine::new();
    assert_ne!(claude(&machine, "t1", PUSH), Ran::silence());
    let pending = machine.reflex(["pending", "--json"]).run().json()["pending"][0].clone();
    let (id, now) = (pending["id"].as_str().unwrap(), pending["time"].as_u64().unwrap());
    calls::give(&machine, id, |_| {
        json!({"schema": "reflex/grant-v1", "id": id, "allow": true, "exact": pending["exact"], "scope": "once",
        "within": pending["holder"], "time": now - 1, "expires": now + 600_000, "uses": 0, "by": "x", "reason": "", "text": PUSH})
    });
    assert_eq!([0, 1].map(|_| claude(&machine, "t2", PUSH)), [Ran::silence(), Ran::silence()]);
    assert_ne!(claude(&machine, "t3", PUSH), Ran::silence(), "another call is not covered");
    assert_ne!(claude(&machine, "", PUSH), Ran::silence(), "nor is one without a name");
}

/// Returns the state of each surface of an agent.
fn surfaces(machine: &Machine, agent: &str) -> Vec<(String, String)> {
    let status = machine.reflex(["status", "--json"]).run().json();
    let agents = status["agents"].as_array().unwrap().clone();
    let row = agents.into_iter().find(|row| row["agent"] == agent).unwrap();
    let cells = row["surfaces"].as_object().unwrap().clone();
    cells.into_iter().map(|(name, cell)| (name, cell["state"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn the_matrix_says_what_was_seen_and_what_never_is() {
    let machine = Machine::new();
    for agent in ["claude", "windsurf"] {
        assert_eq!(machine.reflex(["init", "--yes", "--agent", agent]).run().code, 0);
    }
    let of =
        |agent: &str, surface: &str| surfaces(&machine, agent).into_iter().find(|(name, _)| name == surface).unwrap().1;
    assert_eq!(of("claude", "shell"), "CONFIGURED");
    // A verification does not count as a call.
    machine.reflex(["verify"]).run();
    assert_eq!(of("claude", "shell"), "CONFIGURED");
    claude(&machine, "t1", "ls");
    assert_eq!((of("claude", "shell"), of("claude", "edit")), ("PROVEN".into(), "CONFIGURED".into()));
    assert_eq!((of("windsurf", "shell"), of("windsurf", "web")), ("CONFIGURED".into(), "BLIND".into()));
    let settings = machine.home().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    for broken in [
        text.replacen('{', "{\"disableAllHooks\": true,", 1),
        "{}".into(),
        "{".into(),
        format!("// mine\n{text}"),
        text.replacen('{', "{\"model\": 5,", 1),
    ] {
        fs::write(&settings, broken).unwrap();
        assert!(surfaces(&machine, "claude").iter().all(|(_, state)| state == "OFF"));
    }
    let shown = machine.reflex(["status", "--all"]).run().stdout;
    assert!(shown.contains("no client was driven") && shown.contains("reflex doctor --agent claude"), "{shown}");
}

#[test]
fn what_was_proven_counts_until_something_about_hooks_changes() {
    let machine = Machine::new();
    assert_eq!(machine.reflex(["init", "--yes", "--agent", "claude"]).run().code, 0);
    let settings = machine.home().join(".claude/settings.json");
    let shell = || surfaces(&machine, "claude").into_iter().find(|(surface, _)| surface == "shell").unwrap().1;
    let calls = |id: &str| {
        // The last-seen file is rewritten only if it is some seconds old.
        let _ = fs::remove_dir_all(machine.home().join(".local/state/reflex/heartbeats"));
        claude(&machine, id, "ls");
    };
    calls("t1");
    assert_eq!(shell(), "PROVEN");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replacen('{', "{\"model\": \"opus\",", 1)).unwrap();
    assert_eq!(shell(), "PROVEN", "a model is nothing to a hook");
    fs::write(&settings, text.replacen('{', "{\"env\": {\"A\": \"1\"},", 1)).unwrap();
    assert_eq!(shell(), "CONFIGURED");
    let shown = machine.reflex(["status", "--all"]).run().stdout;
    assert!(shown.contains("settings.json changed since the last judged call"), "{shown}");
    calls("t2");
    assert_eq!(shell(), "PROVEN");
    fs::remove_file(&settings).unwrap();
    fs::write(&settings, text).unwrap();
    assert_eq!(shell(), "CONFIGURED");
    calls("t3");
    assert_eq!(shell(), "PROVEN");
    // A project file that is added later counts too.
    let local = machine.project().join(".claude/settings.local.json");
    fs::create_dir_all(local.parent().unwrap()).unwrap();
    fs::write(&local, "{\"hooks\": {}}").unwrap();
    assert_eq!(shell(), "PROVEN", "nobody is in the project");
    let status = machine.reflex(["status", "--json"]).folder(&machine.project()).run().stdout;
    assert!(status.contains("settings.local.json changed since"), "{status}");
}

#[test]
fn a_client_that_is_newer_than_what_is_known_of_it_may_read_more() {
    let machine = Machine::new();
    assert_eq!(machine.reflex(["init", "--yes", "--agent", "claude"]).run().code, 0);
    let settings = machine.home().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, format!("// mine\n{text}")).unwrap();
    let calls = |version: &str| {
        let _ = fs::remove_dir_all(machine.home().join(".local/state/reflex/heartbeats"));
        let payload = json!({"session_id": version, "cwd": machine.project(), "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": version});
        let hook = machine.reflex(["hook", "--agent", "claude", "--event", "PreToolUse"]);
        hook.env("AI_AGENT", format!("claude-code_{version}_harness")).input(payload.to_string()).run();
    };
    let states = || surfaces(&machine, "claude").into_iter().map(|(_, state)| state).collect::<Vec<_>>();
    calls("2-1-329");
    assert!(states().iter().all(|state| state == "OFF"));
    calls("2-1-330");
    assert!(states().iter().all(|state| state != "OFF" && state != "PROVEN"), "{:?}", states());
}

#[test]
fn off_for_one_project_is_off_nowhere_else() {
    const PUSH: &str = "git push --force origin main";
    let machine = Machine::new();
    assert_ne!(claude(&machine, "t1", PUSH), Ran::silence());
    let now = machine.reflex(["pending", "--json"]).run().json()["pending"][0]["time"].as_u64().unwrap();
    let off = |within: &str| {
        let text = json!({"schema": "reflex/off-v1", "from": now - 1, "until": now + 60_000, "reason": "x", "by": "x",
            "within": within});
        fs::write(machine.home().join(".local/state/reflex/off.json"), text.to_string()).unwrap();
    };
    let here = machine.project().canonicalize().unwrap();
    off("/somewhere/else");
    assert_ne!(claude(&machine, "t2", PUSH), Ran::silence());
    off(&here.to_string_lossy());
    assert_eq!(claude(&machine, "t3", PUSH), Ran::silence());
    let output = machine.reflex(["status"]).run().stdout;
    assert!(output.contains(&format!("Reflex is OFF in {} for", here.display())), "{output}");
}
