//! SECURITY.md is accurate: each promise is tested, and its lists match the code.

use crate::support::{Machine, bash, files};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn page() -> String {
    fs::read_to_string(root().join("SECURITY.md")).unwrap()
}

/// The text below a heading, up to the next of its kind.
fn section(heading: &str) -> String {
    let page = page();
    let (_, rest) = page.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    rest.split("\n## ").next().unwrap().to_owned()
}

/// The rows of a section's table, without its head; `\|` is a bar in a cell.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let section = section(heading);
    let lines = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = |line: &str| {
        let line = line.replace("\\|", "\u{1}");
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().trim_matches('`').replace('\u{1}', "|")).collect()
    };
    lines.map(cells).collect()
}

/// Sets up the project that the page describes for its examples.
fn project(machine: &Machine) -> PathBuf {
    let folder = machine.root().join("my shop");
    for name in ["src/a.rs", "lib/b.rs", "node_modules/x/i.js", "../other/keep"] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "1\n").unwrap();
    }
    fs::write(folder.join("package.json"), "{\"scripts\": {\"test\": \"node --test\"}}\n").unwrap();
    fs::write(folder.join(".gitignore"), "node_modules/\n").unwrap();
    let make = "git init -q -b topic && git add -A && git -c user.name=n -c user.email=n@example.invalid commit -qm x";
    let output = machine.program("sh", ["-c", make]).folder(&folder).run();
    assert_eq!(output.code, 0, "{output:?}");
    fs::write(folder.join("src/a.rs"), "2\n").unwrap();
    folder
}

/// Returns the decision about an example of the page, in the page's terms.
fn decided(setup: &str, call: &str) -> (String, String) {
    let machine = Machine::new();
    let folder = project(&machine);
    if !setup.is_empty() {
        let output = machine.program("sh", ["-c", setup]).folder(&folder).run();
        assert_eq!(output.code, 0, "{setup}: {output:?}");
    }
    let (word, reason) = if call.starts_with('{') {
        let event = match serde_json::from_str::<Value>(call) {
            Ok(event) => event_of(&folder, event),
            Err(_) => call.to_owned(),
        };
        machine.hook().input(event).run().answer()
    } else {
        let output = machine.reflex(["check", call]).folder(&folder).run();
        (output.stdout.split_whitespace().next().unwrap_or("").to_owned(), output.stdout)
    };
    let word = match word.as_str() {
        "deny" => "block",
        "require_approval" => "ask",
        "silent" => "allow",
        other => other,
    };
    (word.to_owned(), reason)
}

/// Completes a Claude Code payload; paths of the project are made absolute, as in the client.
fn event_of(folder: &Path, example: Value) -> String {
    let mut event = json!({"session_id": "s1", "transcript_path": "/t", "cwd": folder, "permission_mode": "default",
        "hook_event_name": "PreToolUse"});
    for (key, value) in example.as_object().unwrap() {
        event[key] = value.clone();
    }
    if let Some(path) = event["tool_input"]["file_path"].as_str().map(|path| folder.join(path)) {
        event["tool_input"]["file_path"] = json!(path);
    }
    event.to_string()
}

#[test]
fn every_promise_has_examples_and_they_hold() {
    let (mut problems, mut examples) = (Vec::new(), 0);
    for row in rows("Promises") {
        let [promise, setup, call, decision] = row.as_slice() else { panic!("four cells: {row:?}") };
        if !["block", "ask", "keep", "allow"].contains(&decision.as_str()) || call.is_empty() {
            problems.push(format!("`{promise}` has no example: {row:?}"));
            continue;
        }
        examples += 1;
        let (found, reason) = decided(setup, call);
        if found != *decision {
            problems.push(format!("{setup} {call}: {decision} is promised, {found} is what happens: {reason}"));
        }
    }
    assert!(examples >= 30, "only {examples} examples are found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Files below the crates' sources, as the page names them.
fn sources() -> Vec<(String, String)> {
    let crates = fs::read_dir(root().join("crates")).unwrap().flatten();
    let all = crates.map(|entry| entry.path().join("src")).filter(|folder| folder.is_dir()).flat_map(|src| files(&src));
    let rust = all.filter(|(path, _)| path.extension().is_some_and(|end| end == "rs"));
    let named = |path: PathBuf| path.strip_prefix(root()).unwrap().display().to_string();
    rust.map(|(path, bytes)| (named(path), String::from_utf8(bytes).unwrap())).collect()
}

#[test]
fn the_files_with_unsafe_code_are_those_that_are_named() {
    let named: BTreeSet<String> = rows("Unsafe code").into_iter().map(|row| row[0].clone()).collect();
    let real = sources().into_iter().filter(|(_, text)| text.contains("(unsafe_code"));
    assert_eq!(named, real.map(|(path, _)| path).collect());
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"deny\""));
}

#[test]
fn every_file_that_starts_a_program_is_named() {
    let named: BTreeSet<String> = rows("Processes").into_iter().map(|row| row[2].clone()).collect();
    let starts =
        |text: &str| text.lines().any(|line| line.starts_with("use std::process::") && line.contains("Command"));
    let real = sources().into_iter().filter(|(_, text)| starts(text));
    assert_eq!(named, real.map(|(path, _)| path).collect());
}

#[test]
fn the_keys_of_a_record_are_those_that_are_named() {
    let section = section("What is recorded");
    let named: BTreeSet<&str> = section.split("```").nth(1).unwrap().split_whitespace().collect();
    let machine = Machine::new();
    let folder = project(&machine);
    for command in ["git status", "rm -rf ~", "git reset --hard"] {
        machine.hook().input(bash(&folder, command)).run();
    }
    let log = fs::read_to_string(machine.home().join(".local/state/reflex/audit/current.jsonl")).unwrap();
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let keys = |record: &Value| record.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let calls = records.iter().filter(|record| record["kind"] == "call");
    let written: BTreeSet<String> = calls.flat_map(keys).collect();
    let unnamed: Vec<&String> = written.iter().filter(|key| !named.contains(key.as_str())).collect();
    assert!(unnamed.is_empty(), "not named: {unnamed:?}");
    // Keys that only some calls have occur in the code.
    let code = fs::read_to_string(root().join("crates/host/src/audit/record.rs")).unwrap();
    let exists = |key: &&&str| written.contains(**key) || code.contains(&format!("\"{key}\""));
    let missing: Vec<_> = named.iter().filter(|key| !exists(key)).collect();
    assert!(missing.is_empty(), "in no record: {missing:?}");
}

#[test]
fn the_executable_is_built_as_the_page_says() {
    let settings = fs::read_to_string(root().join(".cargo/config.toml")).unwrap();
    assert!(settings.contains("relocation-model=static") && settings.contains("+crt-static"));
    assert!(section("The executable").contains("`relocation-model=static`"));
}
