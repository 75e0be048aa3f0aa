//! Architecture rules: allowed dependencies between crates, and what the pure crates must not mention.

use std::fs;
use std::path::{Path, PathBuf};

/// Every crate with the workspace crates that it may depend on.
const MAY_IMPORT: [(&str, &[&str]); 17] = [
    ("tables", &[]),
    ("types", &[]),
    ("work", &[]),
    ("git", &["work"]),
    ("keep", &[]),
    ("shell", &["tables", "work"]),
    ("engine", &["shell", "tables"]),
    ("agents", &["engine"]),
    ("library", &["tables"]),
    ("rules", &["engine", "library", "tables"]),
    ("script", &["engine", "tables", "types"]),
    ("eval", &["agents", "engine", "library"]),
    ("mock", &[]),
    ("supervise", &[]),
    (
        "host",
        &["agents", "engine", "git", "keep", "library", "mock", "rules", "script", "shell", "supervise", "tables"],
    ),
    ("ui", &["host"]),
    ("cli", &["host", "agents", "engine", "eval", "supervise", "ui"]),
];

/// Crates whose results must not depend on the machine or the time.
const PURE: [&str; 6] = ["tables", "work", "shell", "engine", "agents", "eval"];

/// Modules of the standard library that access the machine.
const MACHINE: [&str; 6] = ["fs", "env", "net", "process", "thread", "time"];

/// Other ways to access the clock and the terminal.
const IMPURE: [&str; 7] = ["SystemTime", "Instant", "println!", "eprintln!", "print!", "eprint!", "dbg!"];

/// Known agents without an adapter. Those with an adapter are added from it.
const AGENTS: [&str; 10] =
    ["claude", "codex", "cursor", "gemini", "copilot", "opencode", "windsurf", "cline", "aider", "anthropic"];

/// Allowed literals of the engine that contain an agent's name: file, literal, reason.
const NAMED_FOR_A_REASON: [(&str, &str, &str); 1] = [("secrets/shapes.rs", "cursor", "the place in a list of results")];

/// Folders with one file for each operating system.
const OF_SYSTEMS: [&str; 8] = [
    "crates/host/src/system/os/",
    "crates/keep/src/os/",
    "crates/supervise/src/os/",
    "crates/cli/src/exec/",
    "crates/cli/src/foreground/",
    "crates/cli/src/input/",
    "crates/cli/src/lifeline/",
    "crates/cli/src/terminal/hidden/",
];

/// Words that indicate code for a specific operating system.
const SYSTEMS: [&str; 10] = [
    "std::os::",
    "rustix::",
    "libc::",
    "target_os",
    "cfg(unix",
    "cfg!(unix",
    "cfg(windows",
    "cfg!(windows",
    "cfg(not(unix",
    "cfg(not(windows",
];

/// Other files and folders that still contain such code, with the reason. The list may only become shorter.
const SYSTEM_DEPENDENT: [(&str, &str); 2] = [
    ("crates/cli/src/arena.rs", "asks Linux for the pages of the block at once"),
    ("crates/git/src/", "takes the names in git's files for paths as they are"),
];

#[test]
fn operating_systems_are_told_apart_in_their_rooms_only() {
    let sources = crates().into_iter().flat_map(|folder| rust_files(&folder.join("src")));
    let sources = sources.map(|file| (shown(&file), read(&file)));
    let elsewhere = sources.filter(|(name, _)| !OF_SYSTEMS.iter().any(|room| name.starts_with(room)));
    let words = elsewhere.map(|(name, text)| (words_of_systems(&name, &text), name));
    let telling: Vec<(Vec<&str>, String)> = words.filter(|(words, _)| !words.is_empty()).collect();
    let excused = |name: &str| SYSTEM_DEPENDENT.iter().any(|(place, _)| name.starts_with(place));
    let news = telling.iter().filter(|(_, name)| !excused(name)).map(|(words, name)| format!("{name}: {words:?}"));
    let outdated =
        SYSTEM_DEPENDENT.iter().filter(|(place, _)| !telling.iter().any(|(_, name)| name.starts_with(place)));
    report(news.chain(outdated.map(|(place, _)| format!("{place}: no longer so, take it off the list"))).collect());
}

/// Returns the system-specific words of a file. In the pure crates, `/proc` occurs only in command texts.
fn words_of_systems(name: &str, text: &str) -> Vec<&'static str> {
    let code = code(text.split("#[cfg(test)]").next().unwrap_or(""));
    let asks_machine = ["crates/host/", "crates/cli/"].iter().any(|folder| name.starts_with(folder));
    let proc = Some("\"/proc").filter(|word| asks_machine && code.contains(word));
    SYSTEMS.into_iter().filter(|word| code.contains(word)).chain(proc).collect()
}

#[test]
fn words_of_systems_are_found_in_code_only() {
    let check =
        |text: &str, expected: &[&str]| assert_eq!(words_of_systems("crates/host/a.rs", text), expected, "{text}");
    check("use std::os::fd::AsFd;", &["std::os::"]);
    check("#[cfg(target_os = \"linux\")]", &["target_os"]);
    check("fs::read(\"/proc/uptime\")", &["\"/proc"]);
    check("// libc\nfn f() {}\n#[cfg(test)]\nmod tests { use rustix::fs; }", &[]);
}

#[test]
fn no_crate_imports_from_above() {
    let mut problems = Vec::new();
    for folder in crates() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(room, _)| *room == name) else {
            problems.push(format!("{name} has no line in the table"));
            continue;
        };
        let imported = imports(&read(&folder.join("Cargo.toml")));
        let above = imported.iter().filter(|import| !allowed.contains(&import.as_str()));
        problems.extend(above.map(|import| format!("{name} must not import {import}")));
    }
    report(problems);
}

#[test]
fn imports_are_read_from_every_form_of_a_manifest() {
    let manifest = "[package]\nname = \"reflex-a\"\n\
        [dependencies]\nreflex-b.workspace = true\nc = { package = \"reflex-c\", path = \"../c\" }\n\
        [dev-dependencies]\nreflex-d.workspace = true\n[build-dependencies]\nreflex-e.workspace = true\n\
        [target.'cfg(unix)'.dependencies]\nreflex-f = { path = \"../f\" }\n\
        [dependencies.reflex-g]\nworkspace = true\n[dev-dependencies.reflex-h]\nworkspace = true\n";
    assert_eq!(imports(manifest), ["b", "c", "f", "g"]);
}

#[test]
fn pure_rooms_do_not_touch_the_machine() {
    let mut problems = Vec::new();
    for file in PURE.iter().flat_map(|room| rust_files(&root().join("crates").join(room).join("src"))) {
        let code = code(&read(&file));
        problems.extend(machine_words(&code).iter().map(|word| format!("{}: {word}", shown(&file))));
    }
    report(problems);
}

#[test]
fn no_form_of_an_import_hides_the_machine() {
    let check = |code: &str, expected: &[&str]| assert_eq!(machine_words(code), expected, "{code}");
    check("use std::fs;", &["std::fs"]);
    check("use std::{fmt, fs::File, collections::{BTreeMap, fs}};", &["std::fs"]);
    check("use std::{\n    env as world,\n};", &["std::env"]);
    check("use std::fmt; let process = 1;", &[]);
    check("let now = Instant::now(); println!();", &["Instant", "println!"]);
    check("std :: time :: Duration", &["std::time"]);
    check("let instance = Instantly;", &[]);
}

#[test]
fn the_engine_knows_no_agent_by_name() {
    let mut problems = Vec::new();
    let aliases = reflex_agents::AGENTS.iter().flat_map(|agent| [agent.name].into_iter().chain(agent.aliases.to_vec()));
    // The universal event belongs to no agent, and its names are ordinary words.
    let aliases = aliases.filter(|name| !["universal", "json"].contains(name));
    let names: Vec<&str> = AGENTS.into_iter().chain(aliases).collect();
    for file in rust_files(&root().join("crates/engine/src")) {
        for literal in literals(&code(&read(&file))) {
            let named = names.iter().any(|name| literal.to_lowercase().contains(name));
            let excused = NAMED_FOR_A_REASON.iter().any(|(at, text, _)| shown(&file).ends_with(at) && *text == literal);
            if named && !excused {
                problems.push(format!("{}: \"{literal}\"", shown(&file)));
            }
        }
    }
    report(problems);
}

#[test]
fn literals_are_told_from_code() {
    let code =
        "let a = \"one\"; let b = '\"'; f(\"two \\\" more\", 'x', b\"three\"); let c: &'static str = r#\"four\"#;";
    assert_eq!(literals(code), ["one", "two \\\" more", "three", "four"]);
}

#[test]
fn every_file_says_what_it_is_for() {
    let files = ["crates", "dev", "xtask"].iter().flat_map(|folder| rust_files(&root().join(folder)));
    report(files.filter(|file| !read(file).starts_with("//! ")).map(|file| shown(&file)).collect());
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let developers = fs::read_dir(root().join("dev")).unwrap().map(|entry| entry.unwrap().path());
    let developers = developers.filter(|path| path.join("Cargo.toml").is_file());
    let folders = crates().into_iter().chain(developers).chain([root().join("xtask")]);
    let takes = |folder: &PathBuf| read(&folder.join("Cargo.toml")).contains("[lints]\nworkspace = true\n");
    report(folders.filter(|folder| !takes(folder)).map(|folder| shown(&folder)).collect());
}

/// A longer list of words in code counts as data.
const MAX_WORDS: usize = 10;

/// Allowed tables in code: syntax and external formats. The list may only become shorter.
#[test]
fn words_that_judge_stand_in_the_library() {
    let mut found = String::new();
    for room in ["engine", "host"] {
        for file in rust_files(&root().join("crates").join(room).join("src")) {
            let code = code(&read(&file));
            let judging = code.split("#[cfg(test)]").next().unwrap_or_default();
            for (name, count) in tables(judging) {
                found.push_str(&format!("{} {name} {count}\n", shown(&file)));
            }
        }
    }
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/word_tables.txt");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&list, &found).unwrap();
    }
    let expected = read(&list);
    assert_eq!(found, expected, "words that judge belong into `library/words`; UPDATE=1 when there are fewer tables");
}

#[test]
fn tables_of_words_are_found_in_every_form() {
    let many = (0..11).map(|number| format!("\"w{number}\"")).collect::<Vec<_>>();
    let (list, choice) = (many.join(", "), many.join(" | "));
    let check = |code: &str, expected: &[(&str, usize)]| {
        let expected: Vec<_> = expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        assert_eq!(tables(code), expected, "{code}");
    };
    check(&format!("const NAMES: [&str; 11] = [{list}];"), &[("NAMES", 11)]);
    check(&format!("static PAIRS: &[(&str, &[&str])] = &[(\"a\", &[{list}])];"), &[("PAIRS", 12)]);
    check(&format!("let said = [{list}]; f(']')"), &[("said", 11)]);
    check(&format!("any(&[{list}])"), &[("list", 11)]);
    check(&format!("match x {{ {choice} => true, \"[\" | \"y\" => false }}"), &[("match", 11)]);
    check("const NAMES: [&str; 2] = [\"a\", \"b\"];", &[]);
}

/// Returns the tables of more than [`MAX_WORDS`] strings: arrays by their name, and alternatives of a pattern.
fn tables(code: &str) -> Vec<(String, usize)> {
    let (masked, literals) = masked(code);
    let mut found = Vec::new();
    let mut open = Vec::new();
    for (at, byte) in masked.bytes().enumerate() {
        match byte {
            b'[' => open.push(at),
            b']' => {
                let start = open.pop().unwrap_or(at);
                let count = literals.iter().filter(|literal| (start..at).contains(*literal)).count();
                if open.is_empty() && count > MAX_WORDS {
                    found.push((declared_name(&masked[..start]), count));
                }
            }
            _ => {}
        }
    }
    let mut run = 1;
    for (one, other) in literals.iter().zip(literals.iter().skip(1).map(Some).chain([None])) {
        let after = masked[one + 1..].find('"').map_or(masked.len(), |end| one + end + 2);
        let between = other.map_or("", |other| masked[after..*other].trim());
        if between == "|" {
            run += 1;
            continue;
        }
        found.extend((run > MAX_WORDS).then(|| ("match".to_owned(), run)));
        run = 1;
    }
    found
}

/// Returns the code with blanked literals, and the offsets of its string literals.
fn masked(code: &str) -> (String, Vec<usize>) {
    let mut bytes = code.as_bytes().to_vec();
    let mut literals = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\'' if bytes.get(at + 1) == Some(&b'\\') && bytes.get(at + 3) == Some(&b'\'') => {
                bytes[at + 1..at + 3].fill(b'_');
                at += 3;
            }
            b'\'' if bytes.get(at + 2) == Some(&b'\'') => {
                bytes[at + 1] = b'_';
                at += 2;
            }
            b'"' => {
                let end = end_of_literal(&bytes, at + 1);
                literals.push(at);
                bytes[at + 1..end].fill(b'_');
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    (String::from_utf8(bytes).unwrap(), literals)
}

/// Returns the name that a statement declares for the value that follows it.
fn declared_name(before: &str) -> String {
    let statement = before.rsplit(['{', '}']).next().unwrap_or_default();
    // An array type contains a semicolon too.
    let words = ["const ", " static ", "let "].iter();
    let words = words.filter_map(|word| format!(" {statement}").rfind(word).map(|at| at + word.len() - 1));
    let named =
        words.max().and_then(|at| name(&statement[at..])).filter(|_| statement.trim_end().ends_with(['=', '&']));
    named.unwrap_or("list").to_owned()
}

#[track_caller]
fn report(problems: Vec<String>) {
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Returns the workspace crates among a manifest's normal dependencies, even if renamed.
fn imports(manifest: &str) -> Vec<String> {
    let mut is_dependency = false;
    let mut imports = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            is_dependency = section.starts_with("dependencies") || section.contains(".dependencies");
        }
        if is_dependency && !line.starts_with('#') {
            let names = line.split("reflex-").skip(1).map(|rest| rest.split(|c: char| !is_of_name(c)).next());
            imports.extend(names.flatten().map(str::to_owned));
        }
    }
    imports
}

fn is_of_name(ch: char) -> bool {
    ch.is_ascii_alphanumeric() || ch == '-' || ch == '_'
}

/// Returns the source without comments, which may mention anything.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn machine_words(code: &str) -> Vec<String> {
    let dense: String = code.split_whitespace().collect::<Vec<_>>().join(" ").replace(" ::", "::").replace(":: ", "::");
    let imported: Vec<&str> = dense.split("std::").skip(1).flat_map(modules).collect();
    let used = MACHINE.iter().filter(|module| imported.contains(module)).map(|module| format!("std::{module}"));
    let words = IMPURE.iter().filter(|word| mentions(code, word)).map(|word| (*word).to_owned());
    used.chain(words).collect()
}

/// Returns the modules named directly after `std::`, one or a group in braces.
fn modules(rest: &str) -> Vec<&str> {
    let Some(group) = rest.strip_prefix('{') else { return name(rest).into_iter().collect() };
    let mut depth = 0;
    let mut items = vec![name(group)];
    for (at, ch) in group.char_indices() {
        match ch {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => items.push(name(&group[at + 1..])),
            _ => {}
        }
    }
    items.into_iter().flatten().collect()
}

/// Returns the leading identifier of a text.
fn name(text: &str) -> Option<&str> {
    text.trim_start().split(|c: char| !is_of_name(c)).next()
}

/// Returns whether the text contains the word.
fn mentions(code: &str, word: &str) -> bool {
    let mut parts = code.split(word);
    let mut before = parts.next().unwrap_or("");
    parts.any(|after| {
        let is_word = !before.ends_with(is_of_name) && (word.ends_with('!') || !after.starts_with(is_of_name));
        before = after;
        is_word
    })
}

/// Returns the contents of every string literal.
fn literals(code: &str) -> Vec<&str> {
    let bytes = code.as_bytes();
    let mut literals = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            // A quote as a character.
            b'\'' if bytes.get(at + 1) == Some(&b'"') => at += 2,
            b'\'' if bytes.get(at + 1..at + 3) == Some(b"\\\"") => at += 3,
            b'"' => {
                let end = end_of_literal(bytes, at + 1);
                literals.push(&code[at + 1..end]);
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    literals
}

fn end_of_literal(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn crates() -> Vec<PathBuf> {
    entries(&root().join("crates")).into_iter().filter(|path| path.join("Cargo.toml").is_file()).collect()
}

pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// Every kind of state must be in the home in which the suites run.
#[test]
fn the_hostile_home_has_every_kind_of_state() {
    const STATE: [&str; 4] = ["state.join(\"", "state().join(\"", "self.folder.join(\"", "const ALARMS: &str = \""];
    let listed = read(&root().join("dev/tasks/src/hermetic/state.txt"));
    let listed: Vec<&str> = listed.lines().collect();
    let folder = root().join("crates/host/src");
    let mut missing = Vec::new();
    for file in rust_files(&folder.join("store")).into_iter().chain(rust_files(&folder.join("pipeline"))) {
        let text = read(&file);
        let code = text.split("#[cfg(test)]").next().unwrap();
        for mark in STATE {
            for name in code.split(mark).skip(1).filter_map(|rest| rest.split(['"', '/']).next()) {
                if !listed.contains(&name) {
                    missing.push(format!("{}: {name}", shown(&file)));
                }
            }
        }
    }
    report(missing);
}

/// `cargo run -- demo`, the first command of the README, needs an unambiguous binary.
#[test]
fn one_program_is_run_where_none_is_named() {
    let manifest = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    assert!(manifest.lines().any(|line| line == "default-run = \"reflex\""), "{manifest}");
}
