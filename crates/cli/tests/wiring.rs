//! The hook is added to an agent's settings and removed again, and no other byte changes.

use crate::support;
use crate::support::{APP_SERVER, Machine, Ran, at_terminal, files, with_program};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Unusual formatting: tabs, trailing blanks, two properties on a line.
const ODD: &str = "\n{\n\t\"model\" : \"opus\",   \"env\":{\"A\":\"1\"},  \n\t\"permissions\": {\n\t\t\"allow\": [ \"Bash(ls:*)\" ]\n\t}\n}\n\n";

/// Foreign hooks, for the same tools and others, and unknown keys.
const FOREIGN: &str = r#"{
  "novelty": {"a": [1, 2.50, null]},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "/opt/other hook --agent claude"}]}
    ],
    "SubagentStop": [{"hooks": [{"type": "command", "command": "say done"}]}]
  },
  "zeta": true
}
"#;

const SHAPES: [(&str, &str); 10] = [
    ("an empty text", ""),
    ("a blank text", "\n"),
    ("an empty object", "{}"),
    ("an empty object and an end of line", "{}\n"),
    ("one line", "{\"model\":\"opus\"}"),
    ("odd formatting", ODD),
    ("hooks of others", FOREIGN),
    ("no hooks in their place", "{\n    \"hooks\": {}\n}\n"),
    ("no groups in their place", "{\"hooks\": {\"PreToolUse\": []}}\n"),
    ("a byte-order mark", "\u{feff}{}\n"),
];

/// Placeholder for the home of a machine in comparisons.
const HOME: &str = "HOME";

/// Replaces the machine's home, quoted or not, by [`HOME`].
fn with_home(machine: &Machine, text: &str) -> String {
    let home = machine.home().display().to_string();
    text.replace(&format!("'{home}'"), HOME).replace(&home, HOME)
}

fn installed(machine: &Machine) -> String {
    with_home(machine, &fs::read_to_string(settings(machine)).unwrap())
}

fn settings(machine: &Machine) -> PathBuf {
    machine.home().join(".claude/settings.json")
}

fn machine_with(text: &[u8]) -> Machine {
    let machine = Machine::new();
    fs::create_dir(machine.home().join(".claude")).unwrap();
    fs::write(settings(&machine), text).unwrap();
    machine
}

#[track_caller]
fn done(machine: &Machine, command: &str) -> Ran {
    let output = machine.reflex([command, "--yes", "--agent", "claude"]).run();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output:?}");
    output
}

/// Parses the settings with comments and trailing commas.
#[track_caller]
fn parsed(text: &str) -> Value {
    let without_comments: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let plain =
        without_comments.replace("/* keep */", "").replace(", ]", "]").replace(",\t}", "\t}").replace(",}", "}");
    serde_json::from_str(plain.trim_start_matches('\u{feff}')).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The events of Claude Code that run the guard, and whether a hook of the event that fails keeps its call from running.
const EVENTS: [(&str, bool); 7] = [
    ("PreToolUse", true),
    ("PostToolUse", false),
    ("PostToolUseFailure", false),
    ("Stop", false),
    ("UserPromptExpansion", false),
    ("ConfigChange", false),
    ("PreSkillShellCommand", true),
];

/// Returns the handlers that run the guard, with the event and the matcher of each.
#[track_caller]
fn ours(text: &str) -> Vec<(String, Value, Value)> {
    let settings = parsed(text);
    let mut found = Vec::new();
    for (event, groups) in settings["hooks"].as_object().into_iter().flatten() {
        for group in groups.as_array().unwrap() {
            let handlers = group["hooks"].as_array().unwrap().iter();
            let guards = handlers.filter(|handler| handler["command"].as_str().unwrap().ends_with("/reflex"));
            found.extend(guards.map(|handler| (event.clone(), group["matcher"].clone(), handler.clone())));
        }
    }
    found
}

#[track_caller]
fn check_installed(text: &str) {
    let handler = |event: &str| {
        json!({
            "type": "command", "command": env!("CARGO_BIN_EXE_reflex"),
            "args": ["hook", "--agent", "claude", "--event", event, "--home", HOME], "timeout": 300,
        })
    };
    let entry = |(event, blocks): (&str, bool)| {
        let mut handler = handler(event);
        if blocks {
            handler["onFailure"] = "block".into();
        }
        (event.to_owned(), json!("*"), handler)
    };
    let expected = EVENTS.map(entry);
    let mut found = ours(text);
    found.sort_by_key(|(event, _, _)| expected.iter().position(|(known, _, _)| known == event));
    assert_eq!(found, expected, "{text}");
}

#[test]
fn a_longer_wait_in_the_policy_gives_the_hook_a_longer_timeout() {
    let machine = Machine::new();
    std::fs::create_dir_all(machine.home().join(".claude")).unwrap();
    let folder = machine.home().join(".config/reflex");
    std::fs::create_dir_all(&folder).unwrap();
    for (wait, timeout) in [("20s", 300), ("20m", 1210)] {
        std::fs::write(folder.join("policy.yaml"), format!("ask: {{wait: {wait}}}\n")).unwrap();
        let output = machine.reflex(["init", "--agent", "claude", "--yes"]).run();
        assert_eq!(output.code, 0, "{output:?}");
        let text = std::fs::read_to_string(machine.home().join(".claude/settings.json")).unwrap();
        assert!(ours(&text).iter().all(|(_, _, handler)| handler["timeout"] == timeout), "{wait}: {text}");
    }
}

/// Installs twice, the second time without a change, and uninstalls byte for byte.
#[track_caller]
fn check_round_trip(name: &str, before: &[u8]) {
    let machine = machine_with(before);
    done(&machine, "init");
    let once = fs::read_to_string(settings(&machine)).unwrap();
    check_installed(&with_home(&machine, &once));
    let again = done(&machine, "init");
    assert_eq!(again.stdout, format!("claude: {} is up to date\n", settings(&machine).display()));
    assert_eq!(fs::read_to_string(settings(&machine)).unwrap(), once, "{name}: installed twice");
    done(&machine, "uninstall");
    let after = fs::read(settings(&machine)).unwrap();
    assert_eq!(String::from_utf8(after).unwrap(), String::from_utf8(before.to_vec()).unwrap(), "{name}");
    let nothing = done(&machine, "uninstall");
    assert_eq!(nothing.stdout, format!("claude: {} has no Reflex hook\n", settings(&machine).display()));
    assert_eq!(fs::read(settings(&machine)).unwrap(), before, "{name}: taken out twice");
}

#[test]
fn settings_of_every_shape_come_back_to_the_byte() {
    for (name, text) in SHAPES {
        check_round_trip(name, text.as_bytes());
        check_round_trip(&format!("{name}, with Windows line ends"), text.replace('\n', "\r\n").as_bytes());
    }
}

#[test]
fn where_there_was_no_file_there_is_none_afterwards() {
    let machine = Machine::new();
    done(&machine, "init");
    check_installed(&installed(&machine));
    done(&machine, "uninstall");
    assert!(!settings(&machine).exists());
    done(&machine, "uninstall");
    assert!(!settings(&machine).exists());
}

#[test]
fn new_settings_read_like_a_person_wrote_them() {
    let machine = Machine::new();
    done(&machine, "init");
    let group = |event: &str, end: &str| {
        format!(
            "    \"{event}\": [\n      {{\n        \"matcher\": \"*\",\n        \"hooks\": [\n          {{\n            \"type\": \"command\",\n            \"command\": \"{}\",\n            \"args\": [\"hook\", \"--agent\", \"claude\", \"--event\", \"{event}\", \"--home\", \"{HOME}\"],\n            \"timeout\": 300{end}\n          }}\n        ]\n      }}\n    ]",
            env!("CARGO_BIN_EXE_reflex"),
            HOME = HOME
        )
    };
    let end = |blocks| if blocks { ",\n            \"onFailure\": \"block\"" } else { "" };
    let after = EVENTS.map(|(event, blocks)| group(event, end(blocks))).join(",\n");
    assert_eq!(installed(&machine), format!("{{\n  \"hooks\": {{\n{after}\n  }}\n}}\n"));
}

#[test]
fn everything_of_others_stays_while_the_hook_is_in() {
    for (name, text) in SHAPES {
        let machine = machine_with(text.as_bytes());
        done(&machine, "init");
        let installed = fs::read_to_string(settings(&machine)).unwrap();
        for part in text.split(['\n', '{', '}', '[', ']', ',']).map(str::trim).filter(|part| !part.is_empty()) {
            assert!(installed.contains(part), "{name}: {part} is gone from {installed}");
        }
    }
}

#[test]
fn settings_that_a_person_changed_since_lose_only_the_hook() {
    for (name, text) in SHAPES.into_iter().filter(|(name, _)| !name.starts_with("no ") && !name.contains("mark")) {
        let machine = machine_with(text.as_bytes());
        done(&machine, "init");
        let installed = fs::read_to_string(settings(&machine)).unwrap();
        fs::write(settings(&machine), format!("// later\n{installed}// the end")).unwrap();
        done(&machine, "uninstall");
        let after = fs::read_to_string(settings(&machine)).unwrap();
        if text.contains(",\n") {
            assert_eq!(after, format!("// later\n{text}// the end"), "{name}");
        } else {
            // A one-line or empty text keeps the line breaks that the hook added.
            let after = after.replace("// the end", "\n");
            let kept = if text.contains('{') { parsed(text) } else { json!({}) };
            assert_eq!(parsed(&after), kept, "{name}");
        }
        assert!(!after.contains("reflex") && !after.contains("hooks\": {}"), "{name}: {after}");
        done(&machine, "uninstall");
        assert_eq!(fs::read_to_string(settings(&machine)).unwrap(), after, "{name}: taken out twice");
    }
}

#[test]
fn a_key_that_a_person_added_since_stays_where_it_is() {
    let machine = machine_with(FOREIGN.as_bytes());
    done(&machine, "init");
    let edit = |text: String| text.replace("\"zeta\": true", "\"zeta\": false,\n  \"eta\": [ ]");
    fs::write(settings(&machine), edit(fs::read_to_string(settings(&machine)).unwrap())).unwrap();
    done(&machine, "uninstall");
    assert_eq!(fs::read_to_string(settings(&machine)).unwrap(), edit(FOREIGN.into()));
}

#[test]
fn nothing_empty_is_left_behind() {
    let machine = Machine::new();
    done(&machine, "init");
    let installed = fs::read_to_string(settings(&machine)).unwrap();
    fs::write(settings(&machine), installed.replacen("{\n", "{\n  \"model\": \"opus\",\n", 1)).unwrap();
    done(&machine, "uninstall");
    assert_eq!(parsed(&fs::read_to_string(settings(&machine)).unwrap()), json!({"model": "opus"}));
}

/// An existing hook of Reflex, in one of its former formats.
#[track_caller]
fn check_replaced(handler: &str) {
    let text = |hooks: &str| {
        format!(
            "{{\n  \"model\": \"opus\",\n  \"hooks\": {{\n    \"PreToolUse\": [\n{hooks}      {{ \"matcher\": \"Bash\", \"hooks\": [{{ \"type\": \"command\", \"command\": \"say hi\" }}] }}\n    ]\n  }}\n}}\n"
        )
    };
    let machine = machine_with(text(&format!("      {{ \"hooks\": [{handler}] }},\n")).as_bytes());
    done(&machine, "init");
    check_installed(&installed(&machine));
    done(&machine, "uninstall");
    assert_eq!(fs::read_to_string(settings(&machine)).unwrap(), text(""), "{handler}");
}

#[test]
fn a_hook_of_ours_with_another_path_is_replaced_and_does_not_come_back() {
    check_replaced(r#"{ "type": "command", "command": "/old/reflex", "args": ["hook", "--agent", "claude"] }"#);
    check_replaced(r#"{ "type": "command", "command": "/old/reflex hook --agent claude" }"#);
    check_replaced(r#"{ "type": "command", "command": "'/old/reflex' hook" }"#);
    check_replaced(r#"{ "type": "command", "command": "rfx hook --agent claude", "timeout": 5 }"#);
}

/// A hook of this binary that differs from the one that `init` writes.
#[track_caller]
fn check_mended(change: impl FnOnce(&mut Value)) {
    let machine = Machine::new();
    done(&machine, "init");
    let mut text = parsed(&fs::read_to_string(settings(&machine)).unwrap());
    change(&mut text);
    fs::write(settings(&machine), text.to_string()).unwrap();
    done(&machine, "init");
    check_installed(&installed(&machine));
}

#[test]
fn a_hook_of_this_binary_that_guards_less_is_mended() {
    check_mended(|text| text["hooks"]["PreToolUse"][0]["matcher"] = "Read".into());
    check_mended(|text| text["hooks"]["PreToolUse"][0]["hooks"][0]["args"] = json!(["hook", "--agent", "universal"]));
    check_mended(|text| text["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"] = "continue".into());
    check_mended(|text| text["hooks"]["PreToolUse"][0]["hooks"][0]["async"] = true.into());
    check_mended(|text| {
        let groups = text["hooks"]["PreToolUse"].take();
        text["hooks"] = json!({"PostToolUse": groups});
    });
}

#[test]
fn a_hook_that_a_person_arranged_otherwise_and_that_guards_as_much_stays() {
    for (part, otherwise) in
        [("\"*\"", "\"\""), ("300", "60"), ("300", "300, \"statusMessage\": \"asking Reflex\""), ("      ", "\t")]
    {
        let machine = Machine::new();
        done(&machine, "init");
        let text = fs::read_to_string(settings(&machine)).unwrap().replace(part, otherwise);
        fs::write(settings(&machine), &text).unwrap();
        assert!(done(&machine, "init").stdout.ends_with(" is up to date\n"));
        assert_eq!(fs::read_to_string(settings(&machine)).unwrap(), text);
    }
}

#[test]
fn a_hook_that_stands_there_twice_stands_there_once() {
    let machine = Machine::new();
    done(&machine, "init");
    let mut text = parsed(&fs::read_to_string(settings(&machine)).unwrap());
    let group = text["hooks"]["PreToolUse"][0].clone();
    text["hooks"]["PreToolUse"].as_array_mut().unwrap().push(group);
    fs::write(settings(&machine), text.to_string()).unwrap();
    done(&machine, "init");
    check_installed(&installed(&machine));
}

#[test]
fn a_program_of_another_name_is_not_taken_for_ours() {
    let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/opt/reflexology hook"},{"type":"command","command":"echo reflex hook"}]}]}}"#;
    check_round_trip("programs of other names", text.as_bytes());
}

/// Asserts that a command changes no file of the machine, and prints this text.
#[track_caller]
fn check_untouched(machine: &Machine, arguments: &[&str], code: i32, words: &str) {
    let before = files(&machine.root());
    let output = machine.reflex(arguments).run();
    assert_eq!(output.code, code, "{output:?}");
    assert!(format!("{}{}", output.stdout, output.stderr).contains(words), "{output:?}");
    assert_eq!(files(&machine.root()), before);
}

#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    check_untouched(&Machine::new(), &["init", "--dry-run"], 0, "+            \"onFailure\": \"block\"\n");
    check_untouched(
        &machine_with(FOREIGN.as_bytes()),
        &["init", "--dry-run", "--yes"],
        0,
        "+        \"matcher\": \"*\",\n",
    );
    let machine = machine_with(FOREIGN.as_bytes());
    done(&machine, "init");
    check_untouched(&machine, &["uninstall", "--dry-run"], 0, "-        \"matcher\": \"*\",\n");
    check_untouched(&machine, &["init", "--dry-run"], 0, "is up to date");
}

#[test]
fn without_a_terminal_and_without_yes_nothing_is_written() {
    let words = "no terminal to ask on; use --yes to write or --dry-run to preview";
    check_untouched(&Machine::new(), &["init"], 1, words);
    check_untouched(&machine_with(b"{}"), &["init"], 1, words);
    let machine = machine_with(FOREIGN.as_bytes());
    done(&machine, "init");
    check_untouched(&machine, &["uninstall"], 1, words);
    check_untouched(&machine, &["init"], 0, "is up to date");
}

#[test]
fn settings_that_are_not_understood_stay_and_are_named() {
    for (text, problem) in [
        ("{", "1:2: the text ends too early"),
        ("{\"a\": }", "1:7: no JSON"),
        ("{} {}", "1:4: unexpected text after the end"),
        ("// mine\n{}", "1:1: a comment"),
        ("{\n  \"a\": [1,],\n}", "2:10: a trailing comma"),
        ("{\"model\": 5}", "1:11: `model` has to be a text, and is `5`"),
        ("{\n  \"env\": \"x\"}", "2:10: `env` has to be a map, and is `\"x\"`"),
        ("[]", "1:1: settings that are not a map"),
        ("\"x\"", "1:1: settings that are not a map"),
        ("{\"hooks\": []}", "1:11: `hooks` has to be a map, and is `[]`"),
        ("{\"hooks\": null}", "1:11: `hooks` has to be a map, and is `null`"),
        ("{\"hooks\": {\"PreToolUse\": {}}}", " `hooks.*` does not have the type that the agent expects"),
    ] {
        let machine = machine_with(text.as_bytes());
        let words = format!("reflex: {}:{problem}", settings(&machine).display());
        check_untouched(&machine, &["init", "--yes"], 1, &words);
    }
    let machine = machine_with(b"{\"a\": \"\xff\"}");
    let words = format!("reflex: {}: ", settings(&machine).display());
    check_untouched(&machine, &["init", "--yes"], 1, &words);
    check_untouched(&machine, &["uninstall", "--yes"], 1, &words);
}

#[test]
fn what_an_agent_would_drop_a_file_for_is_taken_out_on_request() {
    let text = "\u{feff}// mine\n{\n  \"model\": \"opus\", // not 5\n  \"env\": {\"A\": \"//\"},\n}\n";
    let machine = machine_with(text.as_bytes());
    check_untouched(
        &machine,
        &["init", "--yes"],
        1,
        "`reflex init --agent claude --repair` shows and makes the change",
    );
    let output = machine.reflex(["init", "--yes", "--agent", "claude", "--repair"]).run();
    assert!(output.code == 0 && output.stdout.contains("-  \"model\": \"opus\", // not 5"), "{output:?}");
    let mended = fs::read_to_string(settings(&machine)).unwrap();
    assert_eq!((mended.contains("mine"), mended.contains("\"A\": \"//\"")), (false, true), "{mended}");
    check_installed(&with_home(&machine, &mended));
    done(&machine, "uninstall");
    assert_eq!(fs::read_to_string(settings(&machine)).unwrap(), text);
    // The intention behind a wrong value is unknown.
    let machine = machine_with(b"{\"model\": 5}");
    check_untouched(&machine, &["init", "--yes", "--repair"], 1, "mend line 1 of ");
}

#[test]
fn a_link_stays_a_link_and_what_it_leads_to_is_changed() {
    let machine = machine_with(b"");
    let real = machine.root().join("dotfiles.json");
    fs::write(&real, FOREIGN).unwrap();
    fs::remove_file(settings(&machine)).unwrap();
    symlink(&real, settings(&machine)).unwrap();
    done(&machine, "init");
    assert_eq!(fs::read_link(settings(&machine)).unwrap(), real);
    check_installed(&with_home(&machine, &fs::read_to_string(&real).unwrap()));
    done(&machine, "uninstall");
    assert_eq!(fs::read_link(settings(&machine)).unwrap(), real);
    assert_eq!(fs::read_to_string(&real).unwrap(), FOREIGN);
}

#[test]
fn a_link_to_a_file_that_is_not_there_yet_stays_a_link() {
    let machine = machine_with(b"");
    let real = machine.root().join("dotfiles.json");
    fs::remove_file(settings(&machine)).unwrap();
    symlink("../../dotfiles.json", settings(&machine)).unwrap();
    done(&machine, "init");
    assert!(settings(&machine).symlink_metadata().unwrap().is_symlink());
    check_installed(&with_home(&machine, &fs::read_to_string(&real).unwrap()));
    done(&machine, "uninstall");
    assert!(settings(&machine).symlink_metadata().unwrap().is_symlink());
    assert!(!real.exists());
}

#[test]
fn the_files_mode_stays_and_nothing_lies_beside_it() {
    for mode in [0o600, 0o640, 0o644] {
        let machine = machine_with(b"{}");
        let of = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        fs::set_permissions(settings(&machine), PermissionsExt::from_mode(mode)).unwrap();
        done(&machine, "init");
        assert_eq!(of(&settings(&machine)), mode);
        done(&machine, "uninstall");
        assert_eq!(of(&settings(&machine)), mode);
        assert_eq!(files(&machine.home().join(".claude")).len(), 1);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named_and_nothing_changes() {
    let machine = Machine::new();
    symlink("/proc/self", machine.home().join(".claude")).unwrap();
    let words = format!("reflex: {}: ", settings(&machine).display());
    let output = machine.reflex(["init", "--yes"]).run();
    assert_eq!(output.code, 70, "{output:?}");
    assert!(output.stderr.starts_with(&words), "{output:?}");
    let blocked = Machine::new();
    fs::write(blocked.home().join(".claude"), "a file").unwrap();
    check_untouched(&blocked, &["init", "--yes"], 70, &format!("reflex: {}: ", settings(&blocked).display()));
}

#[test]
fn where_the_memory_cannot_be_written_the_settings_stay_and_the_memory_is_named() {
    let machine = machine_with(FOREIGN.as_bytes());
    fs::write(machine.home().join(".local"), "a file").unwrap();
    let state = machine.home().join(".local/state/reflex");
    let output = format!("reflex: {}, or a folder above it, is a file; no file was changed.", state.display());
    check_untouched(&machine, &["init", "--yes"], 70, &output);
}

#[test]
fn the_hook_that_is_installed_is_the_hook_that_answers() {
    let machine = Machine::new();
    done(&machine, "init");
    let (_, _, handler) = ours(&fs::read_to_string(settings(&machine)).unwrap()).remove(0);
    let arguments: Vec<&str> = handler["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let call = machine.program(handler["command"].as_str().unwrap(), arguments);
    let output = call.input(support::bash(&machine.project(), "rm -rf ~")).run();
    assert_eq!(output.answer().0, "deny", "{output:?}");
}

#[test]
fn both_names_of_the_agent_are_known_and_others_are_not() {
    for name in ["claude", "claude-code"] {
        let machine = Machine::new();
        assert_eq!(machine.reflex(["init", "--yes", "--agent", name]).run().code, 0);
        check_installed(&installed(&machine));
    }
    check_untouched(&Machine::new(), &["init", "--yes", "--agent", "universal"], 64, "`universal`");
}

/// An agent's files before, with the guard, again with the guard, and without it.
#[track_caller]
fn check_agent(agent: &str, file: &str, before: Option<&str>) -> String {
    let machine = Machine::new();
    let path = with_program(&machine, "codex", APP_SERVER);
    let file = machine.home().join(file);
    if let Some(text) = before {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
    }
    let run = |command: &str| {
        let output = machine.reflex([command, "--yes", "--agent", agent]).env("PATH", &path).run();
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output:?}");
        output.stdout
    };
    run("init");
    let once = fs::read_to_string(&file).unwrap();
    assert!(run("init").contains(&format!("{agent}: {} is up to date\n", file.display())));
    assert_eq!(fs::read_to_string(&file).unwrap(), once);
    run("uninstall");
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), before, "{once}");
    run("uninstall");
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), before);
    let left: Vec<PathBuf> =
        files(&machine.home()).into_iter().map(|(file, _)| file).filter(|file| file.is_file()).collect();
    assert!(left.iter().all(|left| *left == file || left.starts_with(machine.home().join(".local"))), "{left:?}");
    with_home(&machine, &once)
}

#[test]
fn the_hooks_of_codex_come_and_go_to_the_byte() {
    const HOOKS: &str = ".codex/hooks.json";
    let new = check_agent("codex", HOOKS, None);
    let line = format!(
        "/bin/sh -c '\"$0\" hook --agent codex --event PreToolUse --home \"$1\" || {{ c=$?; [ $c -eq 2 ] || echo \"Blocked: reflex failed ($c), so this call does not run\" >&2; exit 2; }}' {} {HOME}",
        env!("CARGO_BIN_EXE_reflex")
    );
    let handler = json!({"type": "command", "command": line, "timeout": 300});
    let after = |event: &str| {
        let line = format!("{} hook --agent codex --event {event} --home {HOME}", env!("CARGO_BIN_EXE_reflex"));
        json!({"type": "command", "command": line, "timeout": 300})
    };
    let group = |handler: Value| json!([{"matcher": "*", "hooks": [handler]}]);
    let expected = json!({"hooks": {
        "PreToolUse": group(handler), "PostToolUse": group(after("PostToolUse")), "Stop": group(after("Stop")),
    }});
    assert_eq!(parsed(&new), expected);
    for (_, text) in SHAPES {
        // The client ignores a file with any other top-level key.
        let known = |value: Value| value.as_object().unwrap().keys().all(|key| key == "hooks");
        if text.is_empty() || serde_json::from_str::<Value>(text).is_ok_and(known) {
            check_agent("codex", HOOKS, Some(text));
        }
    }
    check_agent("codex", HOOKS, Some("{\r\n\t\"description\":\"x\" ,\"hooks\":{ \"PreToolUse\":[]}}"));
}

#[test]
fn the_hooks_of_copilot_are_a_file_of_their_own() {
    let new = check_agent("copilot", ".copilot/hooks/reflex.json", None);
    let handler = |event: &str| {
        json!([{
            "type": "command", "exec": env!("CARGO_BIN_EXE_reflex"),
            "args": ["hook", "--agent", "copilot", "--event", event, "--home", HOME], "timeoutSec": 300,
        }])
    };
    let hooks = ["preToolUse", "postToolUse", "postToolUseFailure", "agentStop"]
        .map(|event| (event.to_owned(), handler(event)));
    assert_eq!(parsed(&new), json!({"version": 1, "hooks": hooks.into_iter().collect::<serde_json::Map<_, _>>()}));
    let foreign = "{\"version\": 1, \"hooks\": {\"preToolUse\": [{\"type\": \"command\", \"bash\": \"other\"}]}}";
    assert!(check_agent("copilot", ".copilot/hooks/reflex.json", Some(foreign)).contains("\"other\""));
}

#[test]
fn what_codex_would_not_read_is_left_alone() {
    for (text, problem) in [
        ("{\"hooks\": {}, }", ":1:13: a trailing comma"),
        ("// x\n{}", ":1:1: a comment"),
        ("[]", ":1:1: settings that are not a map"),
        ("{\"version\": 1}", ":1:13: unknown key `version`"),
    ] {
        let machine = Machine::new();
        fs::create_dir(machine.home().join(".codex")).unwrap();
        fs::write(machine.home().join(".codex/hooks.json"), text).unwrap();
        check_untouched(&machine, &["init", "--yes", "--agent", "codex"], 1, problem);
    }
}

#[test]
fn trust_that_cannot_be_had_is_told_and_the_way_to_it_too() {
    let machine = Machine::new();
    let run = |path: &str| machine.reflex(["init", "--yes", "--agent", "codex"]).env("PATH", path).run();
    let output = run("/nowhere");
    assert_eq!(output.code, 1);
    assert!(
        output.stderr.contains("it is not trusted (`codex` is not on the PATH") && output.stderr.contains("/hooks")
    );
    let deaf =
        with_program(&machine, "codex", "#!/bin/sh\necho '{\"id\":1,\"error\":{\"message\":\"no such method\"}}'\n");
    assert!(run(&deaf).stderr.contains("(no such method)"), "{:?}", run(&deaf));
    let failing = with_program(&machine, "codex", "#!/bin/sh\nexit 1\n");
    assert!(run(&failing).stderr.contains("(it ended without an answer)"), "{:?}", run(&failing));
}

#[test]
fn where_several_agents_are_used_each_is_wired_and_each_goes_again() {
    let machine = Machine::new();
    let path = with_program(&machine, "codex", APP_SERVER);
    fs::create_dir(machine.home().join(".copilot")).unwrap();
    let output = machine.reflex(["init", "--yes"]).env("PATH", &path).run();
    assert_eq!(output.code, 0, "{output:?}");
    for (file, exists) in
        [(".codex/hooks.json", true), (".copilot/hooks/reflex.json", true), (".claude/settings.json", false)]
    {
        assert_eq!(machine.home().join(file).exists(), exists, "{file}");
    }
    let output = machine.reflex(["uninstall", "--yes"]).env("PATH", &path).run();
    assert_eq!(output.code, 0, "{output:?}");
    let left = files(&machine.home()).into_iter().filter(|(file, _)| file.is_file());
    assert!(left.map(|(file, _)| file).all(|file| file.starts_with(machine.home().join(".local"))));
}

#[test]
fn all_files_are_shown_in_a_line_each_and_asked_about_once() {
    let machine = Machine::new();
    for folder in [".claude", ".copilot", ".qwen"] {
        fs::create_dir(machine.home().join(folder)).unwrap();
    }
    let run = |words: &str, answers: &str| at_terminal(&machine, words, answers);
    let question = "Change these 3 files? [y/N/d]";
    let Some((code, output)) = run("init", "\nn\nn\n") else { return };
    assert!(code == 0 && output.matches(question).count() == 1 && output.contains("not written"), "{output}");
    assert!(output.contains("  claude   ~/.claude/settings.json       new file, 7 hooks"), "{output}");
    assert!(!output.contains("+++") && !settings(&machine).exists(), "{output}");
    // The differences, then the question again; no to the proof and to a passphrase.
    let (code, output) = run("init", "d\ny\nn\nn\n").unwrap();
    assert!(code == 0 && output.matches(question).count() == 2, "{output}");
    assert!(output.matches("+++ /").count() == 3 && output.matches(" is written").count() == 3, "{output}");
    let (code, output) = run("uninstall", "n\n").unwrap();
    assert!(code == 0 && output.contains(question) && output.contains("still has the hook"), "{output}");
    assert!(output.contains("file removed") && settings(&machine).exists(), "{output}");
    let (code, output) = run("uninstall", "y\n").unwrap();
    assert!(code == 0 && output.matches(" is removed").count() == 3, "{output}");
    assert!(!settings(&machine).exists());
}

/// A package manager keeps a link on the `PATH` whose target moves with each version.
#[test]
fn a_hook_survives_an_upgrade_that_moves_the_binary() {
    let machine = Machine::new();
    let (cellar, bin) = (machine.root().join("cellar/1.0"), machine.root().join("links"));
    fs::create_dir_all(&cellar).unwrap();
    fs::create_dir_all(&bin).unwrap();
    fs::hard_link(env!("CARGO_BIN_EXE_reflex"), cellar.join("reflex")).unwrap();
    let link = bin.join("reflex");
    symlink(cellar.join("reflex"), &link).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let run = |program: &Path, words: &[&str]| {
        let home = machine.home();
        let words = ["--home", home.to_str().unwrap()].into_iter().chain(words.iter().copied());
        machine.program(program.to_str().unwrap(), words).env("PATH", &path).run()
    };
    let output = run(&link, &["init", "--yes"]);
    assert_eq!(output.code, 0, "{output:?}");
    let (_, _, handler) = ours(&fs::read_to_string(settings(&machine)).unwrap()).remove(0);
    assert_eq!(handler["command"], link.to_str().unwrap());
    // The next version is at another path, and the link points there.
    let next = machine.root().join("cellar/1.1");
    fs::rename(&cellar, &next).unwrap();
    fs::remove_file(&link).unwrap();
    symlink(next.join("reflex"), &link).unwrap();
    assert_eq!(run(&link, &["doctor"]).code, 0, "{:?}", run(&link, &["doctor"]));
    assert!(run(&link, &["init"]).stdout.contains("is up to date"));
    // The link is protected like the file.
    let home = machine.home();
    let words = ["hook", "--home", home.to_str().unwrap(), "--agent", "claude", "--event", "PreToolUse"];
    let call = machine.program(link.to_str().unwrap(), words).env("PATH", &path);
    let output = call.input(support::bash(&machine.project(), &format!("ln -sf /bin/true {}", link.display()))).run();
    assert_eq!(output.answer().0, "deny", "{output:?}");
}

/// A program in the home's `.local/bin`, which other packages share, and its user.
struct Shared {
    machine: Machine,
    /// Where `pip install --user reflex-guard` puts the program.
    program: PathBuf,
}

/// What pip writes for the Python web framework Reflex.
const FRAMEWORK: &str = "#!/usr/bin/python3\nimport sys\nfrom reflex.reflex import cli\nsys.exit(cli())\n";

impl Shared {
    fn new() -> Shared {
        let machine = Machine::new();
        let program = machine.home().join(".local/bin/reflex");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::hard_link(env!("CARGO_BIN_EXE_reflex"), &program).unwrap();
        Shared { machine, program }
    }

    fn own(&self) -> PathBuf {
        self.machine.home().join(".local/share/reflex-guard/reflex")
    }

    fn run(&self, program: &Path, words: &[&str]) -> Ran {
        let home = self.machine.home();
        let words = ["--home", home.to_str().unwrap()].into_iter().chain(words.iter().copied());
        let path = format!("{}:/usr/bin:/bin", self.program.parent().unwrap().display());
        let call = self.machine.program(program.to_str().unwrap(), words).env("PATH", path);
        call.folder(&self.machine.project()).run()
    }

    /// The program that the entry of Claude Code names.
    fn named(&self) -> PathBuf {
        let (_, _, handler) = ours(&fs::read_to_string(settings(&self.machine)).unwrap()).remove(0);
        handler["command"].as_str().unwrap().into()
    }
}

#[test]
fn entries_name_a_copy_of_a_program_that_other_packages_may_replace() {
    let shared = Shared::new();
    let init = ["init", "--yes", "--agent", "claude"];
    let output = shared.run(&shared.program, &init);
    assert!(output.code == 0 && output.stdout.contains("copied this program to "), "{output:?}");
    assert_eq!(shared.named(), shared.own());
    assert_eq!(fs::metadata(shared.own()).unwrap().permissions().mode() & 0o777, 0o555);
    let output = shared.run(&shared.program, &init);
    assert!(output.code == 0 && !output.stdout.contains("copied"), "{output:?}");
    assert_eq!(shared.run(&shared.program, &["doctor", "--agent", "claude"]).code, 0);
    // Another package takes the name.
    fs::remove_file(&shared.program).unwrap();
    fs::write(&shared.program, FRAMEWORK).unwrap();
    fs::set_permissions(&shared.program, PermissionsExt::from_mode(0o755)).unwrap();
    let output = shared.run(&shared.own(), &["doctor", "--agent", "claude"]);
    let note = ".local/bin/reflex on the PATH is the command of the Python web framework Reflex; hooks do not use it.";
    assert!(output.code == 0 && output.stdout.contains(note), "{output:?}");
    let output = shared.run(&shared.own(), &init);
    let stays = ".local/bin/reflex stays as it is: it is the command of the Python web framework Reflex";
    assert!(output.code == 0 && output.stdout.contains(stays), "{output:?}");
    assert_eq!(fs::read_to_string(&shared.program).unwrap(), FRAMEWORK);
    // The name is free again.
    fs::remove_file(&shared.program).unwrap();
    assert_eq!(shared.run(&shared.own(), &init).code, 0);
    assert_eq!(fs::read_link(&shared.program).unwrap(), shared.own());
}

#[test]
fn an_entry_that_names_a_shared_folder_is_rewritten() {
    let shared = Shared::new();
    assert_eq!(shared.run(&shared.program, &["init", "--yes", "--agent", "claude"]).code, 0);
    let (own, old) = (shared.own().display().to_string(), shared.program.display().to_string());
    let text = fs::read_to_string(settings(&shared.machine)).unwrap();
    fs::write(settings(&shared.machine), text.replace(&own, &old)).unwrap();
    let output = shared.run(&shared.program, &["doctor", "--agent", "claude"]);
    assert!(output.code == 1 && output.stdout.contains("is not the one that this binary would write"), "{output:?}");
    assert_eq!(shared.run(&shared.program, &["init", "--yes", "--agent", "claude"]).code, 0);
    assert_eq!(shared.named(), shared.own());
}

#[test]
fn an_older_copy_is_named_and_replaced() {
    let shared = Shared::new();
    let init = ["init", "--yes", "--agent", "claude"];
    assert_eq!(shared.run(&shared.program, &init).code, 0);
    let older = fs::read(shared.own()).unwrap().into_iter().chain(*b"older").collect::<Vec<_>>();
    fs::remove_file(shared.own()).unwrap();
    fs::write(shared.own(), older).unwrap();
    fs::set_permissions(shared.own(), PermissionsExt::from_mode(0o555)).unwrap();
    let output = shared.run(&shared.program, &["doctor", "--agent", "claude"]);
    assert!(output.code == 1 && output.stdout.contains("reflex-guard/reflex, which is another version"), "{output:?}");
    let output = shared.run(&shared.program, &init);
    assert!(output.stdout.contains("is up to date") && output.stdout.contains("copied this program"), "{output:?}");
    assert_eq!(shared.run(&shared.program, &["doctor", "--agent", "claude"]).code, 0);
}

/// Like a Homebrew formula or a `uv tool`: the link is in a shared folder, and the file moves with each version.
#[test]
fn entries_name_a_copy_of_a_program_behind_a_shared_link() {
    let shared = Shared::new();
    let cellar = shared.machine.root().join("cellar/1.0");
    fs::create_dir_all(&cellar).unwrap();
    fs::rename(&shared.program, cellar.join("reflex")).unwrap();
    symlink(cellar.join("reflex"), &shared.program).unwrap();
    assert_eq!(shared.run(&shared.program, &["init", "--yes", "--agent", "claude"]).code, 0);
    assert_eq!(shared.named(), shared.own());
    assert_eq!(fs::read_link(&shared.program).unwrap(), cellar.join("reflex"), "the package manager's link stays");
}

#[test]
fn the_copy_of_the_program_is_protected() {
    let shared = Shared::new();
    assert_eq!(shared.run(&shared.program, &["init", "--yes", "--agent", "claude"]).code, 0);
    let home = shared.machine.home();
    let words = ["hook", "--home", home.to_str().unwrap(), "--agent", "claude", "--event", "PreToolUse"];
    let project = shared.machine.project();
    for command in [
        "rm ~/.local/share/reflex-guard/reflex",
        "rm -rf ~/.local/share/reflex-guard",
        "mv ~/.local/share ~/.local/other",
        "cd ~/.local/share && cp /bin/true reflex-guard/reflex",
        "chmod -x ~/.local/share/reflex-guard/*",
        "ln -sfn /tmp ~/.local/share/reflex-guard",
        "ln -sf /bin/true ~/.local/bin/reflex",
    ] {
        let call = shared.machine.program(shared.own().to_str().unwrap(), words);
        let output = call.input(support::bash(&project, command)).run();
        assert_eq!(output.answer().0, "deny", "{command}: {output:?}");
    }
}
