//! Events after a tool and at the end of a turn: failures, changes, checks, criteria, skills.

use crate::support::{Machine, Ran, bash};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

fn put(machine: &Machine, file: &str, text: &str) {
    let path = if file.starts_with(".config") { machine.home().join(file) } else { machine.project().join(file) };
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A machine whose user has this policy.
fn with_policy(policy: &str) -> Machine {
    let machine = Machine::new();
    put(&machine, ".config/reflex/policy.yaml", policy);
    machine
}

fn hook(machine: &Machine, event: &str, payload: &Value) -> Ran {
    let call = machine.reflex(["hook", "--agent", "claude", "--event", event]);
    call.input(payload.to_string()).run()
}

/// Sends the client's event that the agent stops.
fn stops(machine: &Machine, active: bool) -> Ran {
    let payload =
        json!({"session_id": "s1", "cwd": machine.project(), "hook_event_name": "Stop", "stop_hook_active": active});
    hook(machine, "Stop", &payload)
}

/// Sends the client's event for the end of a turn and returns the answer.
fn ends(machine: &Machine, agent: &str, event: &str, more: Value) -> Ran {
    let mut payload = json!({"session_id": "s1", "cwd": machine.project(), "hook_event_name": event});
    more.as_object().unwrap().iter().for_each(|(key, value)| payload[key] = value.clone());
    let call = machine.reflex(["hook", "--agent", agent, "--event", event]);
    call.input(payload.to_string()).run()
}

/// Asserts that the agent may stop and that the person reads the open items.
#[track_caller]
fn only_notes(output: &Ran) {
    let answer = output.json();
    assert!(answer["decision"].is_null(), "it goes on for ever: {answer}");
    assert!(answer["systemMessage"].as_str().unwrap().contains("does not pass"), "{answer}");
}

#[test]
fn other_clients_are_kept_at_work_in_their_own_words() {
    let gemini = |active: bool| json!({"timestamp": "2026-01-01T00:00:00Z", "prompt": "x", "prompt_response": "y", "stop_hook_active": active});
    let qwen = |active: bool| json!({"timestamp": "2026-01-01T00:00:00Z", "permission_mode": "yolo", "transcript_path": "", "stop_hook_active": active});
    let cursor = |machine: &Machine, status: &str, count: u32| json!({"cursor_version": "2.6.0", "workspace_roots": [machine.project()], "status": status, "loop_count": count});
    let failing = || with_policy("verify:\n  run:\n    - {name: tests, command: 'echo no such luck; exit 1'}\n");

    let machine = failing();
    let answer = ends(&machine, "gemini", "AfterAgent", gemini(false)).json();
    assert_eq!(answer["decision"], "deny");
    assert!(answer["reason"].as_str().unwrap().contains("no such luck"), "{answer}");
    only_notes(&ends(&machine, "gemini", "AfterAgent", gemini(true)));

    let machine = failing();
    assert_eq!(ends(&machine, "qwen", "Stop", qwen(false)).json()["decision"], "block");
    only_notes(&ends(&machine, "qwen", "Stop", qwen(true)));

    let machine = failing();
    let answer = ends(&machine, "cursor", "stop", cursor(&machine, "completed", 0)).json();
    assert!(answer["followup_message"].as_str().unwrap().contains("no such luck"), "{answer}");
    assert_eq!(
        ends(&machine, "cursor", "stop", cursor(&machine, "completed", 1)).json(),
        json!({}),
        "it goes on for ever"
    );
    let machine = failing();
    assert_eq!(ends(&machine, "cursor", "stop", cursor(&machine, "aborted", 0)).json(), json!({}), "it was broken off");
}

/// Sends a universal event in this machine's project and returns the verdict.
fn universal(machine: &Machine, event: &Value) -> Value {
    let mut event = event.clone();
    if event["cwd"].is_null() {
        event["cwd"] = machine.project().to_string_lossy().into();
    }
    event["session"] = "s1".into();
    let call = machine.reflex(["hook"]);
    call.input(event.to_string()).run().json()
}

fn ids(verdict: &Value) -> Vec<&str> {
    verdict["findings"].as_array().unwrap().iter().map(|finding| finding["id"].as_str().unwrap()).collect()
}

fn ran(machine: &Machine, command: &str, after: &Value) -> Ran {
    let mut payload: Value = serde_json::from_slice(&bash(&machine.project(), command)).unwrap();
    hook(machine, "PreToolUse", &payload);
    let (event, key) =
        if after.is_string() { ("PostToolUseFailure", "error") } else { ("PostToolUse", "tool_response") };
    payload["hook_event_name"] = event.into();
    payload[key] = after.clone();
    hook(machine, event, &payload)
}

fn records(machine: &Machine, kind: &str) -> Vec<Value> {
    let output = machine.reflex(["audit", "search", &format!("kind={kind}"), "-n", "1000", "--json"]).run();
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_check_of_what_a_policy_builds_on_runs_while_its_digest_is_as_pinned() {
    let base = "verify: {run: [{name: tests, command: 'echo of the team; exit 1'}]}\n";
    let unpinned = with_policy("extends: [team]\n");
    put(&unpinned, ".config/reflex/team/policy.yaml", base);
    assert!(stops(&unpinned, false).stdout.contains("of the team"));
    let shown = unpinned.reflex(["config", "show", "--json"]).folder(&unpinned.project());
    let shown = shown.run().json();
    let team = |layer: &&Value| layer["folder"].as_str().is_some_and(|folder| folder.ends_with("/team"));
    let digest = shown["layers"].as_array().unwrap().iter().find(team).unwrap()["digest"].as_str().unwrap().to_owned();
    let pinned = with_policy(&format!("extends: [{{path: team, digest: 'sha256:{digest}'}}]\n"));
    put(&pinned, ".config/reflex/team/policy.yaml", base);
    assert!(stops(&pinned, false).stdout.contains("of the team"));
    // A command other than the pinned one never runs.
    put(&pinned, ".config/reflex/team/policy.yaml", "verify: {run: [{name: tests, command: touch ran}]}\n");
    assert!(!stops(&pinned, false).stdout.contains("of the team"));
    assert!(!pinned.project().join("ran").exists());
}

#[test]
fn what_stood_in_a_changed_file_is_looked_at_again_at_the_end() {
    let machine = with_policy("verify: {run: []}\n");
    let key = format!("key = \"ghp_{}\"\n", "k3J8mQz92vTx7Lp4Wn6Rb1Yc5Hd0Gf8Sa2Ue");
    let init = machine.program("git", ["init", "-q"]).folder(&machine.project()).run();
    assert_eq!(init.code, 0);
    put(&machine, "src/a.py", &key);
    stops(&machine, false);
    let report = records(&machine, "verification");
    assert!(report[0]["findings"].to_string().contains("secret/write-key"), "{report:?}");
}

#[test]
fn a_failed_check_keeps_the_agent_at_work_once() {
    let machine = with_policy("verify: {run: [{name: tests, command: 'echo three tests fail; exit 1'}]}");
    let answer = stops(&machine, false).json();
    assert_eq!(answer["decision"], "block");
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("`tests` does not pass (exit 1)") && reason.contains("three tests fail"), "{reason}");
    assert!(!reason.contains("reflex approve"), "{reason}");
    only_notes(&stops(&machine, true));
    let report = records(&machine, "verification");
    assert_eq!(
        (report.len(), &report[0]["verdict"], &report[0]["checks"][0]["how"]),
        (2, &json!("failed"), &json!("exit 1"))
    );
}

#[test]
fn an_agent_that_does_not_say_that_it_goes_on_is_let_go_all_the_same() {
    let machine = with_policy("verify: {run: ['false']}");
    let blocked = (0..4).map(|_| stops(&machine, false).json()["decision"] == "block").collect::<Vec<_>>();
    assert_eq!(blocked, [true, true, false, true]);
}

#[test]
fn what_passes_is_silent_and_nothing_runs_that_nobody_configured() {
    let machine = with_policy("verify: {run: [{name: tests, command: 'touch ran'}]}");
    assert_eq!(stops(&machine, false), Ran::silence());
    assert!(machine.project().join("ran").exists());
    let machine = Machine::new();
    put(&machine, ".reflex/policy.yaml", "verify: {run: [{name: tests, command: 'touch ran'}]}");
    assert_eq!(stops(&machine, false), Ran::silence());
    assert!(!machine.project().join("ran").exists(), "a project that nobody trusts ran a command");
}

#[test]
fn a_check_is_judged_ends_in_time_and_takes_its_children_with_it() {
    let machine = with_policy("verify: {run: [{name: clean, command: 'rm -rf ~'}]}");
    assert!(stops(&machine, false).json()["reason"].as_str().unwrap().contains("was not run"));
    let machine = with_policy("verify: {run: [{name: slow, command: 'sleep 60 & sleep 60', timeout: 3}]}");
    let begun = Instant::now();
    assert!(stops(&machine, false).json()["reason"].as_str().unwrap().contains("not done in 3 s"));
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn open_criteria_are_named_and_a_missing_file_is_one() {
    let machine = with_policy("verify: {acceptance: DONE.md}");
    assert_eq!(stops(&machine, false).json()["decision"], "block");
    put(&machine, "DONE.md", "# Done when\n- [x] a\n- [ ] b\n");
    let verdict = universal(&machine, &json!({"event": "final-verify"}));
    assert_eq!(ids(&verdict), ["verify/criteria-open"]);
    put(&machine, "DONE.md", "- [x] a\n");
    assert_eq!(universal(&machine, &json!({"event": "verify-result"}))["decision"], "allow");
}

#[test]
fn what_changed_is_looked_at_as_if_it_were_written_now() {
    let machine = with_policy("verify: {}\nprotectedPaths: [prod.yaml]");
    let git = |words: &[&str]| drop(machine.program("git", words).folder(&machine.project()).run());
    fs::remove_dir_all(machine.project().join(".git")).unwrap();
    git(&["init", "-q"]);
    put(&machine, "deploy.sh", "TOKEN=ghp_8fK2pQ9xWv3LmZr7Tn5Yc1Hd6Jb4Sg0aUeXq\n");
    put(&machine, "prod.yaml", "a: 1\n");
    let verdict = universal(&machine, &json!({"event": "final-verify"}));
    let ids = ids(&verdict);
    assert!(verdict["decision"] == "warn" && ids.iter().any(|id| id.starts_with("secret/")), "{verdict}");
    assert!(ids.iter().any(|id| id.contains("protected-path")), "{verdict}");
    let report = records(&machine, "verification").pop().unwrap();
    assert_eq!(report["changed"]["count"], 2);
    let lines = report["changed"]["lines"].as_array().unwrap();
    assert!(lines.contains(&json!({"file": "prod.yaml", "added": 1, "removed": 0})), "{lines:?}");
    assert!(!report.to_string().contains("ghp_8fK"));
}

const SKILLS: &str = "skills:
  - {name: release, version: 1.2.0, status: verified, triggers: ['git tag *'], path: skills/release}
  - {name: old-way, status: deprecated, path: skills/old}
";

#[test]
fn a_skill_that_is_passed_over_is_named_and_after_the_third_time_its_writers_are_asked() {
    let machine = Machine::new();
    put(&machine, ".reflex/skills.yaml", SKILLS);
    let verdict = |session: &str| {
        universal(&machine, &json!({"event": "pre-command", "command": format!("git tag v{session}")}));
        universal(&machine, &json!({"event": "skill-compliance"}))
    };
    assert_eq!(ids(&verdict("1")), ["skill/passed-over"]);
    verdict("2");
    let third = verdict("3");
    assert_eq!(ids(&third), ["skill/passed-over", "skill/update-wanted"], "{third}");
    assert_eq!(third["decision"], "warn");
}

#[test]
fn a_workaround_counts_once_and_in_its_own_project() {
    let machine = Machine::new();
    put(&machine, ".reflex/skills.yaml", SKILLS);
    let end = || universal(&machine, &json!({"event": "skill-compliance"}));
    universal(&machine, &json!({"event": "pre-command", "command": "git tag v1"}));
    assert_eq!(ids(&end()), ["skill/passed-over"]);
    assert_eq!((0..4).map(|_| ids(&end()).len()).sum::<usize>(), 0, "no new workaround");
    let other = machine.project().join("../other");
    fs::create_dir_all(other.join(".reflex")).unwrap();
    fs::write(other.join(".reflex/skills.yaml"), SKILLS).unwrap();
    let send = |event: &str, command: &str| {
        universal(&machine, &json!({"event": event, "command": command, "cwd": other, "workspace": other}))
    };
    for tag in ["v2", "v3"] {
        send("pre-command", &format!("git tag {tag}"));
        assert_eq!(ids(&send("skill-compliance", "")), ["skill/passed-over"]);
    }
    assert_eq!(records(&machine, "skills").len(), 3);
}

#[test]
fn a_file_that_a_skill_is_for_is_told_of_when_it_is_written() {
    let machine = Machine::new();
    put(&machine, ".reflex/skills.yaml", "skills: [{name: notes, status: verified, triggers: ['docs/notes/**']}]");
    let written = |file: &str| universal(&machine, &json!({"event": "post-write", "files": [file], "content": "x"}));
    assert_eq!(ids(&written("docs/guide.md")), [""; 0]);
    let verdict = written("docs/notes/a.md");
    assert_eq!((ids(&verdict), &verdict["decision"]), (vec!["skill/passed-over"], &json!("warn")), "{verdict}");
    assert_eq!(ids(&universal(&machine, &json!({"event": "skill-compliance"}))), [""; 0]);
}

#[test]
fn who_uses_the_skill_is_told_nothing_unless_it_is_old() {
    let machine = Machine::new();
    put(&machine, ".reflex/skills.yaml", SKILLS);
    put(&machine, "skills/release/SKILL.md", "---\nname: release\nversion: 1.2.0\n---\n");
    universal(&machine, &json!({"event": "pre-read", "files": ["skills/release/SKILL.md"]}));
    universal(&machine, &json!({"event": "pre-command", "command": "git tag v1"}));
    assert_eq!(universal(&machine, &json!({"event": "skill-compliance"}))["findings"], json!([]));
    put(&machine, "skills/release/SKILL.md", "---\nname: release\nversion: 1.1.0\n---\n");
    assert_eq!(ids(&universal(&machine, &json!({"event": "skill-compliance"}))), ["skill/status"]);
    universal(&machine, &json!({"event": "pre-read", "files": ["skills/old"]}));
    let verdict = universal(&machine, &json!({"event": "skill-compliance"}));
    assert!(verdict["advice"].to_string().contains("deprecated"), "{verdict}");
}

#[test]
fn tries_are_counted_and_the_error_and_the_changed_files_are_recorded() {
    let machine = Machine::new();
    let output = ran(&machine, "curl https://x.example/a", &json!("curl: (6) Could not resolve host: x.example"));
    assert!(output.stdout.contains("at most 2 tries more"), "{output:?}");
    ran(&machine, "echo hi > notes.txt", &json!({"stdout": "", "stderr": ""}));
    let outcomes = records(&machine, "outcome");
    assert!(outcomes[0]["error"].as_str().unwrap().contains("Could not resolve host"));
    assert!(outcomes[1]["changed"][0].as_str().unwrap().ends_with("my shop/notes.txt"));
}

#[test]
fn what_ran_without_being_asked_about_is_told_afterwards() {
    let machine = Machine::new();
    let after =
        json!({"event": "post-command", "command": "git push --force origin main", "output": "done", "exit_code": 0});
    let verdict = universal(&machine, &after);
    assert!(
        verdict["decision"] == "warn" && verdict["advice"].to_string().contains("ran without being judged first"),
        "{verdict}"
    );
}
