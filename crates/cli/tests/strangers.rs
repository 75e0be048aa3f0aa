//! Clients that run another client's hooks with their own payloads: judged by their content, and answered so that they
//! honor a refusal.

use crate::support::{Machine, Ran};
use serde_json::{Value, json};

/// The payload of each client before a tool, with the place of its command and the key of its own refusal.
fn payloads(command: &str) -> Vec<(&'static str, Value, &'static str)> {
    vec![
        (
            "VS Code",
            json!({"timestamp": "2026-11-20T22:42:45.003Z", "cwd": "/repo", "sessionId": "s", "hookEventName": "PreToolUse",
                "transcript_path": "/home/user/t.json", "tool_name": "runInTerminal", "tool_input": {"command": command},
                "tool_use_id": "tool-123"}),
            "/hookSpecificOutput/permissionDecision",
        ),
        (
            "Cline",
            json!({"clineVersion": "3.36.0", "hookName": "PreToolUse", "timestamp": "1795214565003", "taskId": "t",
                "workspaceRoots": ["/repo"], "userId": "u",
                "preToolUse": {"toolName": "execute_command", "parameters": {"command": command}}}),
            "/cancel",
        ),
        (
            "Antigravity",
            json!({"conversationId": "c", "stepIdx": 3, "workspacePaths": ["/repo"],
                "toolCall": {"name": "run_command", "args": {"CommandLine": command, "Cwd": "/repo"}}}),
            "/decision",
        ),
        (
            "Goose",
            json!({"event": "PreToolUse", "session_id": "a", "matcher_context": "developer__shell", "working_dir": "/repo",
                "tool_name": "developer__shell", "tool_input": {"command": command}, "tool_call_id": "call_1"}),
            "/decision",
        ),
        (
            "Crush",
            json!({"event": "PreToolUse", "session_id": "a", "cwd": "/repo", "tool_name": "bash",
                "tool_input": {"command": command}}),
            "/decision",
        ),
        (
            "Droid",
            json!({"session_id": "s", "transcript_path": "/t", "cwd": "/repo", "permission_mode": "auto-low",
                "hook_event_name": "PreToolUse", "tool_name": "Execute", "tool_input": {"command": command}}),
            "/hookSpecificOutput/permissionDecision",
        ),
        (
            "Kiro",
            json!({"hook_event_name": "preToolUse", "cwd": "/repo", "tool_name": "execute_bash",
                "tool_input": {"command": command}}),
            "/hookSpecificOutput/permissionDecision",
        ),
    ]
}

/// The hook entries of two agents that others run too.
const ENTRIES: [&[&str]; 3] = [
    &["hook", "--agent", "claude", "--event", "PreToolUse"],
    &["hook", "--agent", "copilot", "--event", "preToolUse"],
    &["hook", "--agent", "claude"],
];

#[test]
fn a_client_with_a_payload_of_its_own_is_refused_what_nobody_may() {
    let machine = Machine::new();
    for (client, payload, key) in payloads("rm -rf ~") {
        let mut entries = ENTRIES.to_vec();
        // A payload that looks like Claude Code's needs the hook entry of Claude Code.
        entries.retain(|entry| {
            !entry.contains(&"copilot") || !payload.as_object().unwrap().contains_key("hook_event_name")
        });
        for entry in entries {
            let output = machine.reflex(entry).input(payload.to_string()).run();
            assert_eq!(output.code, 2, "{client} {entry:?}: {output:?}");
            assert!(output.stderr.contains("[rm/home-or-root"), "{client} {entry:?}: {output:?}");
            let refusal = output.json().pointer(key).cloned().unwrap_or_default();
            assert!(
                ["deny", "block", "true"].contains(&refusal.to_string().trim_matches('"')),
                "{client} {entry:?}: {output:?}"
            );
        }
    }
}

#[test]
fn a_client_with_a_payload_of_its_own_is_left_alone_where_nothing_is_found() {
    let machine = Machine::new();
    for (client, payload, _) in payloads("ls -l") {
        let output = machine.reflex(ENTRIES[0]).input(payload.to_string()).run();
        assert_eq!(output, Ran::silence(), "{client}");
    }
}

#[test]
fn arguments_under_another_key_or_as_a_text_are_judged() {
    let call = |key: &str, input: Value| {
        let mut payload =
            json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/repo", "tool_name": "Bash"});
        payload[key] = input;
        Machine::new().reflex(ENTRIES[0]).input(payload.to_string()).run()
    };
    for key in ["toolArgs", "arguments", "parameters", "toolInput", "args"] {
        for input in [json!({"command": "rm -rf ~"}), json!(r#"{"command": "rm -rf ~"}"#)] {
            let output = call(key, input);
            assert!(output.code == 2 && output.stderr.contains("[rm/home-or-root"), "{key}: {output:?}");
        }
    }
}

#[test]
fn a_form_that_nobody_has_is_refused_before_a_tool() {
    for payload in [json!({"timestamp": 1, "sessionId": "s", "what": "ever"}), json!({}), json!({"tool": {"a": 1}})] {
        for entry in ENTRIES {
            let output = Machine::new().reflex(entry).input(payload.to_string()).run();
            assert_eq!(output.code, 2, "{entry:?} {payload}: {output:?}");
        }
    }
}

#[test]
fn without_its_words_the_guard_refuses_so_that_every_client_honours_it() {
    let machine = Machine::new();
    let bare: [&str; 0] = [];
    for (_, payload, _) in payloads("ls -l") {
        let output = machine.reflex(bare).input(payload.to_string()).run();
        assert_eq!((output.code, output.stderr.is_empty()), (2, false), "{output:?}");
        let answer = output.json();
        for key in ["/decision", "/permission", "/permissionDecision", "/hookSpecificOutput/permissionDecision"] {
            assert!(["block", "deny"].contains(&answer.pointer(key).unwrap().as_str().unwrap()), "{key}: {answer}");
        }
    }
    let help = machine.reflex(bare).input("").run();
    assert!(help.stdout.is_empty() && help.stderr.contains("Usage") || help.stdout.contains("Usage"), "{help:?}");
}

#[test]
fn what_is_not_known_is_counted_and_a_policy_can_ask_about_it() {
    let machine = Machine::new();
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": machine.project(),
        "tool_name": "frobnicate", "tool_input": {"level": 3}})
    .to_string();
    assert_eq!(machine.hook().input(payload.as_str()).run(), Ran::silence());
    let status = machine.reflex(["status", "--json"]).run().json();
    assert_eq!(status["unjudged"], json!({"days": 7, "calls": 1, "tools": ["frobnicate"]}));
    let shown = machine.reflex(["status", "--all"]).run().stdout;
    assert!(shown.contains("1 calls of unknown tools in 7 days: frobnicate"), "{shown}");
    let report = machine.reflex(["report", "--since", "1h"]).run().stdout;
    assert!(report.contains("frobnicate by claude"), "{report}");
    let policy = machine.home().join(".config/reflex");
    std::fs::create_dir_all(&policy).unwrap();
    std::fs::write(policy.join("policy.yaml"), "rules: {tool/unjudged: ask}\n").unwrap();
    let output = machine.hook().input(payload.as_str()).run();
    assert_eq!(output.answer().0, "ask", "{output:?}");
}
