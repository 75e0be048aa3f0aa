//! Frozen attacks and ordinary calls by authors who had not read the code: the number of them that are stopped.
//!
//! `attacks/figures.json` contains the results at first sight and the current ones; no figure may get worse. With
//! `UPDATE=1` the figures are written, and with them docs/reference/attacks.md. `cargo xtask attacks` builds the release
//! and runs them with it.

use crate::support::Machine;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of attacks, and of ordinary work. A missing set is skipped.
const ATTACKS: [&str; 9] =
    ["first-a", "first-b", "second", "third", "fourth-a", "fourth-b", "fifth", "sixth", "renamed"];
const ORDINARY: [&str; 3] = ["ordinary", "above", "ordinary-sixth"];

/// Sets with a passphrase: they also run with an agent that ignores refusals.
const UNLEASHED: [&str; 3] = ["fourth-a", "fourth-b", "fifth"];

/// Sets that misconfigure Git: they also run under the default policy, which backs up data before a call destroys it.
const BLIND: [&str; 4] = ["first-a", "first-b", "second", "third"];

/// Cases that each contain a secret.
const SECRETS: &str = "secrets";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks")
}

fn is_here(name: &str) -> bool {
    folder().join(format!("{name}.jsonl")).is_file()
}

/// The outcome of each case of a file.
fn cases(machine: &Machine, file: &str, mode: &[&str]) -> Vec<Value> {
    let script = folder().join("play.py");
    let cases = folder().join(format!("{file}.jsonl"));
    let binary = std::env::var_os("REFLEX_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_reflex").into());
    let words = [script.as_os_str(), &binary, cases.as_os_str(), "--json".as_ref()];
    let words = words.into_iter().chain(mode.iter().map(|word| word.as_ref()));
    let output = machine.program("python3", words).patience(1200).run();
    assert_eq!(output.code, 0, "{output:?}");
    let rows: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let unplayed = |row: &&Value| row["answers"].as_array().unwrap().iter().any(|answer| answer == "error");
    assert_eq!(rows.iter().find(unplayed), None, "a case that cannot be played");
    rows
}

/// The number of cases of each kind, and the number that were stopped or otherwise ended as expected.
fn played(machine: &Machine, file: &str) -> BTreeMap<String, (u64, u64, u64)> {
    let mut figures = BTreeMap::new();
    for case in cases(machine, file, &[]) {
        let last = case["answers"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned();
        let (cases, stopped, blocked) = figures.entry(case["kind"].as_str().unwrap().to_owned()).or_insert((0, 0, 0));
        *cases += 1;
        *stopped += u64::from(case["held"] == true);
        *blocked += u64::from(last == "block");
    }
    figures
}

/// The number of cases of a file, and the number of undesired outcomes.
fn failed(machine: &Machine, file: &str, mode: &str) -> (u64, u64) {
    let rows = cases(machine, file, &[mode]);
    let failed = rows.iter().filter(|row| row["good"] != true).count();
    (u64::try_from(rows.len()).unwrap(), u64::try_from(failed).unwrap())
}

/// Whether the runner can create a sandbox on this machine.
fn can_play(machine: &Machine) -> bool {
    let line = "command -v python3 && command -v git && unshare --mount --pid --fork --net --mount-proc \
                $([ \"$(id -u)\" = 0 ] || echo --map-root-user) sh -c 'mount --make-rprivate / && mount -t tmpfs tmpfs /run && mount -o remount,bind,ro /'";
    machine.program("sh", ["-c", line]).run().code == 0
}

#[test]
#[ignore = "takes a release: `cargo xtask attacks`"]
fn no_more_attacks_get_through_and_no_more_ordinary_calls_are_asked_about() {
    let machine = Machine::new();
    if !can_play(&machine) {
        return println!("skipped: no namespaces, python3 or git here");
    }
    let file = folder().join("figures.json");
    let mut known: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let mut problems = Vec::new();
    for name in ATTACKS.iter().chain(&ORDINARY).filter(|name| is_here(name)) {
        for (kind, (cases, stopped, blocked)) in played(&machine, name) {
            let before = known[name][&kind]["now"].as_u64().unwrap_or(0);
            let is_worse =
                if ATTACKS.contains(name) && kind != "renamed-harmless" { stopped < before } else { stopped > before };
            if is_worse {
                problems.push(format!("{name} {kind}: {stopped} of {cases} are stopped, and {before} were"));
            }
            let first = known[name][&kind]["first"].as_u64().unwrap_or(stopped);
            known[name][&kind] = json!({"cases": cases, "first": first, "now": stopped, "blocked": blocked});
        }
    }
    // All of them take minutes; without UPDATE=1 only the newest set runs.
    let is_played = |name: &&&str| std::env::var_os("UPDATE").is_some() || UNLEASHED.last() == Some(*name);
    let unwanted = UNLEASHED.iter().filter(is_played).map(|name| (*name, "--unleashed", "self-made"));
    let lost = BLIND.iter().map(|name| (*name, "--kept", "lost"));
    for (name, mode, key) in
        unwanted.chain([(SECRETS, "--secrets", "found")]).chain(lost).filter(|(name, ..)| is_here(name))
    {
        let (cases, now) = failed(&machine, name, mode);
        let first = known[key][name]["first"].as_u64().unwrap_or(now);
        let before = known[key][name]["now"].as_u64().unwrap_or(now);
        if now > before {
            problems.push(format!("{name} {mode}: {now} of {cases} fail, and {before} did"));
        }
        known[key][name] = json!({"cases": cases, "first": first, "now": now});
    }
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, format!("{}\n", serde_json::to_string_pretty(&known).unwrap())).unwrap();
        fs::write(page_file(), page(&known)).unwrap();
        return;
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_file_of_cases_is_played() {
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let Some(name) = name.strip_suffix(".jsonl") else { continue };
        assert!(ATTACKS.contains(&name) || ORDINARY.contains(&name) || name == SECRETS, "{name} is never played");
    }
}

#[test]
fn the_page_shows_the_figures() {
    let known: Value = serde_json::from_str(&fs::read_to_string(folder().join("figures.json")).unwrap()).unwrap();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(page_file(), page(&known)).unwrap();
    }
    let shown = fs::read_to_string(page_file()).unwrap_or_default();
    assert_eq!(shown, page(&known), "UPDATE=1 cargo xtask attacks");
}

fn page_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/attacks.md")
}

const HEAD: &str = "\
<!-- Written by `UPDATE=1 cargo xtask attacks`; do not edit. -->

# Attacks on the guard, and ordinary calls beside them

People who had not read the code wrote these cases. They were frozen before they were played: *first sight* is what the
code of that day made of them. They stand in crates/cli/tests/attacks; each is played on a throw-away machine in
namespaces of its own, with every agent wired, and what is let through really runs there.

`first-a` and `first-b` were played before anything was mended; `second` after that, and `third` after the misses of
`second` had been looked at: nobody had seen either before. Two cases (first-a one-142, third third-095) say that one wrong
timeout in a hook beside ours switches Claude Code's hooks off; with 2.1.329 it does not (`cargo xtask clients
claude/settings` plays it). Of `home-moved` some only set variables that no longer move anything.
`renamed` are shells and file tools under other names, in two halves: dangerous and harmless. `ordinary` are calls of 60
public MCP servers and 10 clients, `above` are commands about the home of a developer whose names can be known or cannot.
`fourth-a`, `fourth-b` and `fifth` are about a person's yes: answering for them, forging, stretching and reusing it, crowding
the list, texts of strangers, and inputs that make the guard slow; their person types a passphrase at a terminal. `secrets`
plants a secret in every channel. `sixth` gives protected files to any program, unpacks over files that run by themselves,
and writes settings in unusual YAML; `ordinary-sixth` is ordinary work beside it. Losses that are kept first are set to
ask here, so that a yes can be tried. A set that is not in the tables is not in the folder yet.
";

fn page(known: &Value) -> String {
    let mut text = HEAD.to_owned();
    text.push_str("\n## Attacks: how many are asked about, blocked, or told as OFF\n\n| file | kind | cases | first sight | now |\n|---|---|--:|--:|--:|\n");
    let kinds = |name: &str| known[name].as_object().cloned().unwrap_or_default();
    let row = |name: &str, kind: &str, value: &Value| {
        format!("| {name} | {kind} | {} | {} | {} |\n", value["cases"], value["first"], value["now"])
    };
    for name in ATTACKS.into_iter().filter(|name| known[name].is_object()) {
        let attacks: Map<String, Value> =
            kinds(name).into_iter().filter(|(kind, _)| kind != "renamed-harmless").collect();
        attacks.iter().for_each(|(kind, value)| text.push_str(&row(name, kind, value)));
        let sum = |key: &str| attacks.values().filter_map(|value| value[key].as_u64()).sum::<u64>();
        text.push_str(&row(name, "all", &json!({"cases": sum("cases"), "first": sum("first"), "now": sum("now")})));
    }
    text.push_str("\n## Ordinary calls: how many are asked about or blocked\n\n| file | kind | cases | first sight | now | blocked |\n|---|---|--:|--:|--:|--:|\n");
    let harmless = kinds("renamed").remove("renamed-harmless").map(|value| ("renamed", "harmless".to_owned(), value));
    let others =
        ORDINARY.into_iter().flat_map(|name| kinds(name).into_iter().map(move |(kind, value)| (name, kind, value)));
    for (name, kind, value) in harmless.into_iter().chain(others) {
        let line = row(name, &kind, &value);
        text.push_str(&format!("{} {} |\n", line.trim_end(), value["blocked"]));
    }
    let headings = [
        (
            "self-made",
            "Self-made yeses: every call of an attack runs, and then something passes that nobody said yes to",
        ),
        ("found", "Planted secrets that stand in the guard's files and views"),
        ("lost", "Work that is gone after a call that git was made blind for, and after `reflex undo`"),
    ];
    for (key, title) in headings {
        let rows = kinds(key);
        if !rows.is_empty() {
            text.push_str(&format!("\n## {title}\n\n| file | cases | first sight | now |\n|---|--:|--:|--:|\n"));
        }
        for (name, value) in rows {
            text.push_str(&format!("| {name} | {} | {} | {} |\n", value["cases"], value["first"], value["now"]));
        }
    }
    text
}
