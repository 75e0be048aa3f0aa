//! Session budgets: warning, question, exhaustion, and the end of the turn.

use crate::support::{Machine, Ran, bash};
use serde_json::{Value, json};
use std::fs;

fn with_budgets(budgets: &str) -> Machine {
    let machine = Machine::new();
    let policy = machine.home().join(".config/reflex/policy.yaml");
    fs::create_dir_all(policy.parent().unwrap()).unwrap();
    fs::write(policy, format!("budgets: {budgets}\n")).unwrap();
    machine
}

fn call(machine: &Machine, session: &str, tool: &str, input: &Value) -> Ran {
    let mut payload: Value = serde_json::from_slice(&bash(&machine.project(), "")).unwrap();
    payload["session_id"] = session.into();
    payload["tool_name"] = tool.into();
    payload["tool_input"] = input.clone();
    machine.hook().input(payload.to_string()).run()
}

/// Returns the decision about the n-th call and whether the turn ends.
fn decided(output: &Ran) -> String {
    if *output == Ran::silence() {
        return "silence".into();
    }
    let answer = output.json();
    let decision = answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("told").to_owned();
    if answer["continue"] == false { format!("{decision}, the turn ends") } else { decision }
}

fn commands(machine: &Machine, session: &str, count: usize) -> Vec<String> {
    let one = |number| decided(&call(machine, session, "Bash", &json!({"command": format!("echo {number}")})));
    (0..count).map(one).collect()
}

#[test]
fn calls_are_counted_told_asked_about_and_stopped() {
    let machine = with_budgets("{calls: 5}");
    let output = commands(&machine, "s1", 8);
    let over = "deny, the turn ends";
    assert_eq!(output, ["silence", "silence", "silence", "told", "silence", "ask", over, over]);
    assert_eq!(commands(&machine, "s2", 3), ["silence"; 3], "another session has its own");
}

#[test]
fn who_looks_or_explains_spends_nothing_and_without_a_budget_nothing_is_counted() {
    let machine = with_budgets("{calls: 2}");
    for _ in 0..5 {
        machine.reflex(["check", "ls"]).run();
    }
    assert_eq!(commands(&machine, "s1", 1), ["silence"]);
    let machine = with_budgets("{}");
    commands(&machine, "s1", 1);
    let kept = fs::read_dir(machine.home().join(".local/state/reflex/sessions")).unwrap();
    assert!(kept.flatten().all(|file| !file.file_name().to_string_lossy().ends_with(".spent")));
}

#[test]
fn agents_that_are_started_are_counted_by_tool_and_by_command() {
    let machine = with_budgets("{agents: 1}");
    let spawn = json!({"prompt": "look around", "description": "x", "subagent_type": "a"});
    assert_eq!(decided(&call(&machine, "s1", "Task", &spawn)), "told");
    assert_eq!(decided(&call(&machine, "s1", "Bash", &json!({"command": "claude -p hello"}))), "deny, the turn ends");
}

#[test]
fn a_broken_account_is_an_empty_one() {
    let machine = with_budgets("{calls: 100}");
    commands(&machine, "s1", 1);
    let sessions = machine.home().join(".local/state/reflex/sessions");
    let is_account = |file: &fs::DirEntry| file.file_name().to_string_lossy().ends_with(".spent");
    let account = fs::read_dir(sessions).unwrap().flatten().find(is_account).unwrap().path();
    fs::write(account, "x").unwrap();
    assert_eq!(commands(&machine, "s1", 1), ["deny, the turn ends"]);
}
