//! Settings files as people write them: after `init` and `uninstall` each is byte for byte unchanged, or is not touched
//! and the reason is reported.

use crate::support::{Machine, files};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// An agent's settings file, and its event before a tool.
const AGENTS: [(&str, &str); 5] = [
    ("gemini", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json"),
    ("cursor", ".cursor/hooks.json"),
    ("windsurf", ".codeium/windsurf/hooks.json"),
    ("opencode", ".config/opencode/plugins/reflex.js"),
];

/// Files that are restored: agent, peculiarity, text.
const COME_BACK: [(&str, &str, &str); 23] = [
    ("gemini", "empty", ""),
    ("gemini", "an empty object without an end of line", "{}"),
    ("gemini", "comments of both kinds", "// mine\n{\n  /* theme */ \"ui\": {\"theme\": \"x\"} // last\n}\n"),
    ("gemini", "Windows line ends", "{\r\n  \"ui\": {\r\n    \"theme\": \"x\"\r\n  }\r\n}\r\n"),
    ("gemini", "tabs and blanks at line ends", "{\n\t\"ui\" :\t{ },   \n\t\"tools\":[ 1,2 ]\t\n}\n\n\n"),
    (
        "gemini",
        "a foreign hook before the same tools",
        "{\n  \"hooks\": {\n    \"BeforeTool\": [\n      {\"matcher\": \"run_shell_command\", \"hooks\": [{\"type\": \"command\", \"command\": \"/opt/other hook\"}]}\n    ]\n  }\n}\n",
    ),
    (
        "gemini",
        "foreign hooks at other events, on one line",
        "{\"hooks\":{\"AfterTool\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"a\"}]}],\"SessionEnd\":[]},\"model\":{\"name\":\"m\"}}",
    ),
    ("gemini", "escapes and numbers as no printer writes them", "{\"a\":\"caf\\u00e9\",\"b\":1.50e+2,\"c\":null}\n"),
    ("gemini", "the same key twice", "{\n  \"ui\": {},\n  \"ui\": {\"theme\": \"y\"}\n}\n"),
    ("qwen", "an empty list in its place", "{\"hooks\": {\"PreToolUse\": []}, \"$version\": 4}\n"),
    ("qwen", "no hooks in their place", "{\n    \"hooks\": {},\n    \"$version\": 4\n}\n"),
    (
        "qwen",
        "foreign hooks in one group",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"*\",\n        \"hooks\": [\n          {\"type\": \"command\", \"command\": \"first\"}, // one\n          {\"type\": \"command\", \"command\": \"second\"}\n        ]\n      }\n    ]\n  }\n}\n",
    ),
    ("qwen", "Windows line ends and tabs", "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": []\r\n\t}\r\n}"),
    ("cursor", "its own smallest form", "{\"version\": 1, \"hooks\": {}}"),
    (
        "cursor",
        "foreign hooks before and after",
        "{\n  \"version\": 1,\n  \"hooks\": {\n    \"beforeShellExecution\": [\n      { \"command\": \"./a.sh\" },\n      { \"command\": \"./b.sh\", \"matcher\": \"curl\" }\n    ],\n    \"afterFileEdit\": [{ \"command\": \"fmt\" }]\n  }\n}\n",
    ),
    ("cursor", "no version", "{\n   \"hooks\":{ \"stop\":[ ]}\n}"),
    ("cursor", "the version at the end", "{ \"hooks\" : {\"stop\" : [{\"command\":\"x\"}]},\t\"version\" : 1 }\n"),
    ("cursor", "Windows line ends", "{\r\n  \"version\": 1,\r\n  \"hooks\": {}\r\n}\r\n"),
    ("windsurf", "an empty object", "{}\n"),
    (
        "windsurf",
        "foreign hooks",
        "{\n  \"hooks\": {\n    \"pre_run_command\": [\n      {\n        \"command\": \"python3 /opt/guard.py\",\n        \"show_output\": true\n      }\n    ],\n    \"post_write_code\": [ { \"command\": \"fmt\" } ]\n  }\n}\n",
    ),
    ("windsurf", "tabs", "{\n\t\"hooks\": {\n\t\t\"pre_user_prompt\": []\n\t}\n}\n"),
    ("windsurf", "a name like ours", "{\"hooks\":{\"pre_run_command\":[{\"command\":\"/opt/reflexology hook\"}]}}"),
    ("windsurf", "blank", "\n\n"),
];

/// Files that are not touched: agent, peculiarity, bytes, message.
const STAY: [(&str, &str, &[u8], &str); 11] = [
    ("qwen", "only a comment", b"// nothing yet\n", "the text ends too early"),
    ("gemini", "broken", b"{\"ui\": ", "the text ends too early"),
    ("gemini", "a byte-order mark", b"\xef\xbb\xbf{\"ui\":{}}", "a byte-order mark"),
    ("gemini", "no UTF-8", b"{\"a\":\"\xff\"}", "settings.json"),
    ("qwen", "a list", b"[]", "settings.json:1:1"),
    ("qwen", "hooks of another type", b"{\"hooks\": [1]}", "`hooks`"),
    ("cursor", "a comment, which nobody promised that the client reads", b"// x\n{\"version\":1}", "1:1: a comment"),
    ("cursor", "a trailing comma", b"{\"version\": 1, \"hooks\": {},}", "a trailing comma"),
    ("windsurf", "two objects", b"{} {}", "hooks.json:1:4"),
    ("windsurf", "an event that is no list", b"{\"hooks\":{\"pre_run_command\":{}}}", "`hooks.*`"),
    ("opencode", "somebody else's plugin", b"export const Other = async () => ({})\n", "not the plugin of Reflex"),
];

fn file_of(machine: &Machine, agent: &str) -> PathBuf {
    machine.home().join(AGENTS.iter().find(|(name, _)| *name == agent).unwrap().1)
}

fn write(file: &Path, bytes: &[u8]) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

#[track_caller]
fn done(machine: &Machine, command: &str, agent: &str) -> String {
    let output = machine.reflex([command, "--yes", "--agent", agent]).run();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{agent}: {output:?}");
    output.stdout
}

/// Installs twice, the second time without a change, and uninstalls byte for byte; foreign entries are kept throughout.
#[track_caller]
fn check_comes_back(machine: &Machine, agent: &str, odd: &str, before: Option<&[u8]>) -> String {
    let file = file_of(machine, agent);
    done(machine, "init", agent);
    let once = fs::read_to_string(&file).unwrap();
    assert!(once.contains(env!("CARGO_BIN_EXE_reflex")), "{agent}, {odd}: {once}");
    assert!(done(machine, "init", agent).contains(&format!("{agent}: {} is up to date\n", file.display())));
    assert_eq!(fs::read_to_string(&file).unwrap(), once, "{agent}, {odd}: installed twice");
    done(machine, "uninstall", agent);
    assert_eq!(fs::read(&file).ok().as_deref(), before, "{agent}, {odd}: {once}");
    done(machine, "uninstall", agent);
    assert_eq!(fs::read(&file).ok().as_deref(), before, "{agent}, {odd}: taken out twice");
    once
}

#[test]
fn files_come_back_to_the_byte() {
    for (agent, odd, text) in COME_BACK {
        let machine = Machine::new();
        write(&file_of(&machine, agent), text.as_bytes());
        let once = check_comes_back(&machine, agent, odd, Some(text.as_bytes()));
        for part in text.split(['\n', '\r', '{', '}', '[', ']', ',']).map(str::trim).filter(|part| !part.is_empty()) {
            assert!(once.contains(part), "{agent}, {odd}: {part} is gone from {once}");
        }
    }
}

#[test]
fn where_there_was_no_file_there_is_none_afterwards() {
    for (agent, _) in AGENTS {
        let machine = Machine::new();
        check_comes_back(&machine, agent, "no file", None);
        let left = files(&machine.home()).into_iter().map(|(file, _)| file).filter(|file| file.is_file());
        assert!(left.into_iter().all(|file| file.starts_with(machine.home().join(".local"))), "{agent}");
    }
}

#[test]
fn files_that_are_not_understood_stay_and_are_named() {
    for (agent, odd, bytes, words) in STAY {
        let machine = Machine::new();
        let file = file_of(&machine, agent);
        write(&file, bytes);
        let before = files(&machine.root());
        let output = machine.reflex(["init", "--yes", "--agent", agent]).run();
        assert_eq!(output.code, 1, "{agent}, {odd}: {output:?}");
        assert!(
            output.stderr.contains(words) && output.stderr.contains(&*file.to_string_lossy()),
            "{agent}, {odd}: {output:?}"
        );
        assert_eq!(files(&machine.root()), before, "{agent}, {odd}");
        machine.reflex(["uninstall", "--yes", "--agent", agent]).run();
        assert_eq!(fs::read(&file).unwrap(), bytes, "{agent}, {odd}");
    }
}

#[test]
fn links_stay_links_and_a_file_that_is_read_only_stays_so() {
    for (agent, _, text) in COME_BACK {
        let machine = Machine::new();
        let (file, real) = (file_of(&machine, agent), machine.root().join("dotfiles/kept.json"));
        write(&real, text.as_bytes());
        fs::set_permissions(&real, PermissionsExt::from_mode(0o444)).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        symlink(&real, &file).unwrap();
        check_comes_back(&machine, agent, "a link to a file that is read-only", Some(text.as_bytes()));
        assert_eq!(fs::read_link(&file).unwrap(), real);
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o444);
    }
}

#[test]
fn hooks_that_were_added_since_stay() {
    for (agent, odd, text) in COME_BACK.into_iter().filter(|(_, _, text)| text.contains("\": [\n")) {
        let machine = Machine::new();
        let file = file_of(&machine, agent);
        write(&file, text.as_bytes());
        done(&machine, "init", agent);
        let later = |text: &str| text.replacen("\": [\n", "\": [\n      {\"command\": \"later\"},\n", 1);
        fs::write(&file, later(&fs::read_to_string(&file).unwrap())).unwrap();
        done(&machine, "uninstall", agent);
        assert_eq!(fs::read_to_string(&file).unwrap(), later(text), "{agent}, {odd}");
    }
}

/// Returns the shell lines that an agent would run.
fn lines(value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (event, entries) in value["hooks"].as_object().unwrap() {
        for entry in entries.as_array().unwrap() {
            let command = entry["hooks"][0]["command"].as_str().or(entry["command"].as_str()).unwrap();
            found.push((event.clone(), command.to_owned()));
        }
    }
    found
}

/// Returns a payload that is refused, in the agent's format.
fn payload(event: &str) -> &'static str {
    match event {
        "BeforeTool" => {
            r#"{"session_id":"s","transcript_path":"/t","cwd":"/tmp","hook_event_name":"BeforeTool","timestamp":"t","tool_name":"run_shell_command","tool_input":{"command":"rm -rf ~"}}"#
        }
        "PreToolUse" => {
            r#"{"session_id":"s","transcript_path":"/t","cwd":"/tmp","permission_mode":"yolo","hook_event_name":"PreToolUse","timestamp":"t","tool_name":"run_shell_command","tool_input":{"command":"rm -rf ~"}}"#
        }
        "beforeShellExecution" => {
            r#"{"conversation_id":"c","generation_id":"g","cursor_version":"2.6.0","workspace_roots":["/tmp"],"hook_event_name":"beforeShellExecution","command":"rm -rf ~","cwd":""}"#
        }
        "pre_run_command" => {
            r#"{"agent_action_name":"pre_run_command","trajectory_id":"t","tool_info":{"command_line":"rm -rf ~","cwd":"/tmp"}}"#
        }
        _ => "",
    }
}

#[test]
fn the_line_that_is_installed_refuses_with_the_binary_and_without_it() {
    for (agent, _) in AGENTS.into_iter().filter(|(agent, _)| *agent != "opencode") {
        let machine = Machine::new();
        done(&machine, "init", agent);
        let text = fs::read_to_string(file_of(&machine, agent)).unwrap();
        let lines = lines(&serde_json::from_str(&text).unwrap());
        let (event, line) = lines.iter().find(|(event, _)| !payload(event).is_empty()).unwrap();
        let output = machine.program("/bin/sh", ["-c", line]).input(payload(event).to_owned()).run();
        let status = if agent == "cursor" { 0 } else { 2 };
        assert_eq!(output.code, status, "{agent}: {output:?}");
        assert_eq!(output.stdout.contains("\"deny\""), agent != "windsurf", "{agent}: {output:?}");
        assert!(format!("{}{}", output.stdout, output.stderr).contains("Blocked:"), "{agent}: {output:?}");
        let broken = line.replace(env!("CARGO_BIN_EXE_reflex"), "/nowhere/reflex");
        let output = machine.program("/bin/sh", ["-c", &broken]).input(payload(event).to_owned()).run();
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{agent}: {output:?}");
        assert!(output.stderr.contains("Blocked: reflex failed (127)"), "{agent}: {output:?}");
    }
}

#[test]
fn every_event_of_an_agent_is_wired_with_its_switch() {
    let machine = Machine::new();
    done(&machine, "init", "cursor");
    let text = fs::read_to_string(file_of(&machine, "cursor")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(settings["version"], 1);
    let events: Vec<&String> = settings["hooks"].as_object().unwrap().keys().collect();
    let before = ["preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "beforeTabFileRead"];
    assert_eq!(events, [&before[..], &["postToolUse", "postToolUseFailure", "stop"]].concat());
    for event in before {
        let handler = &settings["hooks"][event][0];
        assert_eq!((&handler["failClosed"], &handler["timeout"]), (&true.into(), &300.into()), "{event}");
    }
    done(&machine, "init", "gemini");
    let text = fs::read_to_string(file_of(&machine, "gemini")).unwrap();
    assert!(text.contains("\"timeout\": 300000") && text.contains("\"name\": \"reflex\""), "{text}");
}

#[test]
fn every_hook_that_is_installed_is_found_and_answers() {
    for (agent, _) in AGENTS {
        let machine = Machine::new();
        done(&machine, "init", agent);
        let output = machine.reflex(["verify", "--agent", agent]).run();
        assert_eq!(output.code, 0, "{output:?}");
        assert!(output.stdout.starts_with("ok ") && !output.stdout.contains("FAILS"), "{output:?}");
    }
}
