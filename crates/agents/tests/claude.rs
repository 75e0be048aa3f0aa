//! Claude Code's adapter reads every payload that the real client was seen to send, and answers byte for byte in the
//! words that it was seen to honour.

use reflex_agents::{HookCapabilities, Reply, claude, deliver};
use reflex_engine::{Advice, Decision, Event, Moment, Reason, Verdict};
use std::path::{Path, PathBuf};

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Names and bytes of the recorded payloads.
fn fixtures() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(tests().join("fixtures/claude")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let name = |file: &Path| file.file_stem().unwrap().to_string_lossy().into_owned();
    files.iter().map(|file| (name(file), std::fs::read(file).unwrap())).collect()
}

#[test]
fn the_event_on_the_command_line_changes_nothing_about_a_payload_that_names_its_own() {
    for (name, bytes) in fixtures() {
        let event_name = claude::AGENT.event(&bytes, Some("PreToolUse"));
        assert_eq!(event_name, claude::AGENT.event(&bytes, None), "{name}");
    }
}

#[test]
fn a_payload_without_an_event_takes_the_one_on_the_command_line() {
    let bytes = br#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    let moment = |event_name| claude::AGENT.event(bytes, event_name).map(|event| event.moment);
    assert_eq!(moment(Some("PreToolUse")), Ok(Moment::BeforeTool));
    assert_eq!(moment(Some("PostToolUse")), Ok(Moment::AfterTool));
    assert_eq!(moment(None).unwrap_err().field, "hook_event_name");
}

#[test]
fn every_recorded_event_has_a_moment_and_no_word_stands_twice() {
    for (name, _) in fixtures() {
        let word = name.split(['-', '.']).next().unwrap();
        assert!(claude::EVENTS.iter().any(|(event, _)| *event == word), "{word}");
    }
    let mut words: Vec<&str> = claude::EVENTS.iter().map(|(event, _)| *event).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), claude::EVENTS.len());
}

/// The problem that a payload has, and the moment that is known nevertheless.
#[track_caller]
fn check_problem(payload: &str, problem: &str, moment: Option<Moment>) {
    let found = claude::AGENT.event(payload.as_bytes(), None).unwrap_err();
    assert_eq!((found.to_string().as_str(), found.moment), (problem, moment), "{payload}");
}

#[test]
fn a_problem_names_its_field_and_keeps_the_moment() {
    let before = Some(Moment::BeforeTool);
    check_problem(r#"{"hook_event_name":"PreToolUse"}"#, "`tool_name` is missing", before);
    check_problem(r#"{"hook_event_name":"PreToolUse","tool_name":"Bash"}"#, "`tool_input` is missing", before);
    check_problem(
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#,
        "`tool_input.command` is missing",
        before,
    );
    check_problem(
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":["rm"]}}"#,
        "`tool_input.command` is not a text",
        before,
    );
    check_problem(
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"rm"}"#,
        "`tool_input` is not an object",
        before,
    );
    check_problem(r#"{"hook_event_name":"UserPromptSubmit"}"#, "`prompt` is missing", Some(Moment::Prompt));
    check_problem(r#"{"hook_event_name":7}"#, "`hook_event_name` is not a text", None);
    check_problem("{}", "`hook_event_name` is missing", None);
}

#[test]
fn a_field_that_every_event_has_keeps_the_moment_too() {
    check_problem(r#"{"hook_event_name":"Stop","cwd":5}"#, "`cwd` is not a text", Some(Moment::Stop));
    check_problem(
        r#"{"hook_event_name":"SessionEnd","session_id":[]}"#,
        "`session_id` is not a text",
        Some(Moment::SessionEnd),
    );
    check_problem(
        r#"{"hook_event_name":"PostToolUse","agent_type":{}}"#,
        "`agent_type` is not a text",
        Some(Moment::AfterTool),
    );
    check_problem(
        r#"{"hook_event_name":"PreToolUse","permission_mode":1}"#,
        "`permission_mode` is not a text",
        Some(Moment::BeforeTool),
    );
}

#[test]
fn an_unknown_event_that_carries_any_part_of_a_call_comes_before_a_tool() {
    let before = Some(Moment::BeforeTool);
    check_problem(r#"{"hook_event_name":"PreShell","tool_name":"Bash"}"#, "`tool_input` is missing", before);
    check_problem(r#"{"hook_event_name":"PreShell","tool_input":{"command":"ls"}}"#, "`tool_name` is missing", before);
    let bare = claude::AGENT.event(br#"{"hook_event_name":"MoonPhase"}"#, None).unwrap();
    assert_eq!(bare.moment, Moment::Other);
}

#[test]
fn an_unknown_event_is_the_one_on_the_command_line() {
    let moment = |event_name| claude::AGENT.event(br#"{"hook_event_name":"MoonPhase"}"#, Some(event_name));
    assert_eq!(moment("PreToolUse").unwrap_err().moment, Some(Moment::BeforeTool));
    assert_eq!(moment("Stop").unwrap().moment, Moment::Stop);
    assert_eq!(moment("SunPhase").unwrap().moment, Moment::Other);
}

/// An event of a moment, its verdict, and the whole answer.
#[track_caller]
fn check_answer(event: &str, verdict: &Verdict, expected: (&str, &str, u8)) {
    let payload = format!(
        r#"{{"hook_event_name":"{event}","tool_name":"Bash","tool_input":{{"command":"ls"}},"tool_response":{{}},"prompt":"go"}}"#
    );
    let event = claude::AGENT.event(payload.as_bytes(), None).unwrap();
    let delivery = deliver(&event, verdict, claude::AGENT.abilities(&event));
    let (stdout, stderr, code) = expected;
    let expected = Reply { stdout: stdout.into(), stderr: stderr.into(), code };
    assert_eq!((claude::AGENT.write)(&event, verdict, &delivery), expected, "{}", payload);
}

fn deny() -> Verdict {
    Verdict { decision: Decision::Deny, reasons: vec![Reason::plain("Blocked: \"it\" is bad.")], ..Verdict::default() }
}

fn ask() -> Verdict {
    Verdict {
        decision: Decision::Ask,
        reasons: vec![Reason::plain("Needs approval: a."), Reason::plain("Needs approval: b.")],
        ..Verdict::default()
    }
}

fn warn() -> Verdict {
    Verdict {
        advice: vec![Advice { reason: Reason::plain("Warning: mind the é."), ..Advice::default() }],
        ..Verdict::default()
    }
}

const SILENCE: (&str, &str, u8) = ("", "", 0);

/// Events after which nothing can be kept from running.
const TOO_LATE: [&str; 10] = [
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "SessionStart",
    "SessionEnd",
    "PreCompact",
    "Setup",
    "Notification",
];

#[test]
fn a_refused_tool_is_told_in_json_and_on_standard_error_and_by_status_2() {
    check_answer(
        "PreToolUse",
        &deny(),
        (
            "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"Blocked: \\\"it\\\" is bad. The user can run it in their own terminal. Do not work around a block.\"}}\n",
            "Blocked: \"it\" is bad. The user can run it in their own terminal. Do not work around a block.\n",
            2,
        ),
    );
}

#[test]
fn a_question_before_a_tool_is_the_clients_own_prompt() {
    check_answer(
        "PreToolUse",
        &ask(),
        (
            "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"Needs approval: a. Also: b.\"}}\n",
            "",
            0,
        ),
    );
}

#[test]
fn a_warning_reaches_the_person_and_the_model_and_lets_the_tool_run() {
    check_answer(
        "PreToolUse",
        &warn(),
        (
            "{\"systemMessage\":\"Warning: mind the é.\",\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"additionalContext\":\"Warning: mind the é.\"}}\n",
            "",
            0,
        ),
    );
}

#[test]
fn a_call_without_findings_gets_no_answer_so_that_the_clients_own_permissions_hold() {
    for event in ["PreToolUse", "PermissionRequest", "UserPromptSubmit"].iter().chain(&TOO_LATE) {
        check_answer(event, &Verdict::default(), SILENCE);
    }
}

#[test]
fn a_refused_permission_request_is_answered_in_its_own_shape() {
    check_answer(
        "PermissionRequest",
        &deny(),
        (
            "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"deny\",\"message\":\"Blocked: \\\"it\\\" is bad. The user can run it in their own terminal. Do not work around a block.\"}}}\n",
            "",
            0,
        ),
    );
}

#[test]
fn a_permission_request_asks_a_person_already() {
    check_answer("PermissionRequest", &ask(), SILENCE);
    check_answer("PermissionRequest", &warn(), SILENCE);
}

#[test]
fn a_refused_prompt_is_not_sent() {
    check_answer(
        "UserPromptSubmit",
        &deny(),
        (
            "{\"decision\":\"block\",\"reason\":\"Blocked: \\\"it\\\" is bad. The user can run it in their own terminal. Do not work around a block.\"}\n",
            "",
            0,
        ),
    );
}

#[test]
fn a_prompt_that_would_be_asked_about_is_refused_with_the_way_on() {
    let event = claude::AGENT.event(br#"{"hook_event_name":"UserPromptSubmit","prompt":"go"}"#, None).unwrap();
    let delivery = deliver(&event, &ask(), claude::AGENT.abilities(&event));
    let reply = (claude::AGENT.write)(&event, &ask(), &delivery);
    assert!(reply.stdout.starts_with("{\"decision\":\"block\",\"reason\":\"Needs approval: a. Also: b. "), "{reply:?}");
}

#[test]
fn a_turn_that_may_not_end_yet_goes_on() {
    let event = claude::AGENT.event(br#"{"hook_event_name":"Stop","session_id":"s"}"#, None).unwrap();
    let reply = (claude::AGENT.write)(&event, &deny(), &deliver(&event, &deny(), claude::AGENT.abilities(&event)));
    assert!(reply.code == 0 && reply.stdout.starts_with("{\"decision\":\"block\",\"reason\":\"Blocked"), "{reply:?}");
    assert!(!reply.stdout.contains("terminal"), "{reply:?}");
}

/// Words for the model; before a session's work the person reads them too.
fn event_name(event: &str, words: &str) -> String {
    let person = if event == "SessionStart" { format!("\"systemMessage\":\"{words}\",") } else { String::new() };
    let model = format!("{{\"hookEventName\":\"{event}\",\"additionalContext\":\"{words}\"}}");
    format!("{{{person}\"hookSpecificOutput\":{model}}}\n")
}

#[test]
fn after_a_tool_and_around_a_session_nothing_is_decided_but_told() {
    for event in TOO_LATE.into_iter().filter(|event| *event != "Stop") {
        let is_delivered = matches!(event, "PostToolUse" | "PostToolUseFailure" | "SessionStart");
        for (verdict, text) in [(deny(), "\\\"it\\\" is bad."), (ask(), "a. Also: b. Tell the user.")] {
            let words = format!("Warning: {text}");
            let words = event_name(event, &words);
            check_answer(event, &verdict, if is_delivered { (&words, "", 0) } else { SILENCE });
        }
    }
}

#[test]
fn a_warning_after_a_tool_and_at_the_start_reaches_the_model() {
    for event in TOO_LATE {
        let is_delivered = matches!(event, "PostToolUse" | "PostToolUseFailure" | "SessionStart");
        let words = event_name(event, "Warning: mind the é.");
        // When it stops, the person is told.
        let noted = "{\"systemMessage\":\"Warning: mind the é.\"}\n";
        let words = if event == "Stop" { noted } else { &words };
        check_answer(event, &warn(), if is_delivered || event == "Stop" { (words, "", 0) } else { SILENCE });
    }
}

#[test]
fn a_refusal_without_a_judgement_has_the_same_bytes_as_one_with_a_judgement() {
    let refused = (claude::AGENT.refuse)("", Moment::BeforeTool, "why");
    let stdout = "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"why\"}}\n";
    assert_eq!(refused, Reply { stdout: stdout.into(), stderr: "why\n".into(), code: 2 });
    for event in TOO_LATE {
        assert_eq!((claude::AGENT.refuse)(event, (claude::AGENT.moment)(event), "why"), Reply::default(), "{event}");
    }
}

#[test]
fn a_word_that_is_not_known_is_refused_as_before_a_tool() {
    assert_eq!((claude::AGENT.moment)("PreEverything"), Moment::BeforeTool);
}

#[test]
fn only_before_a_tool_a_hook_can_refuse_ask_advise_and_rewrite() {
    for (word, moment) in claude::EVENTS {
        let can = claude::AGENT.abilities(&Event { moment, ..Event::default() });
        let all = HookCapabilities { rewrite: true, ..HookCapabilities::DENY_ASK_ADVISE };
        assert_eq!(can == all, moment == Moment::BeforeTool, "{word}");
    }
}
