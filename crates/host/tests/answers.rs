//! What people and agents read: the full answer to the first example of each rule, rewritten with UPDATE=1 and read by
//! a person; how messages and remedies are worded; and whether a remedy works.

use crate::examples::{entries, judged, library, report, yaml_files};
use reflex_engine::{Decision, EffectKind};
use reflex_tables::compile::{Entry, Kind};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::Path;

#[test]
fn the_answer_to_the_first_example_of_each_rule_is_that_of_the_snapshot() {
    let mut found = String::new();
    for entry in entries(Kind::Rules) {
        let example = &entry.value["fires"][0];
        let call = example.as_str().map_or_else(|| example.to_string(), |command| command.replace('\n', "\n    "));
        found.push_str(&format!("{}\n    {call}\n{}\n", entry.name, answer(example)));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers.snap");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    let (found, expected): (Vec<&str>, Vec<&str>) = (found.split("\n\n").collect(), expected.split("\n\n").collect());
    let changed: Vec<&str> = found.iter().filter(|answer| !expected.contains(answer)).copied().collect();
    assert!(found == expected, "rewrite the snapshot with UPDATE=1 and read:\n{}", changed.join("\n\n"));
}

/// What an agent is told of a call, one line a finding.
fn answer(example: &Value) -> String {
    let verdict = judged(example).verdict;
    if verdict.reasons.is_empty() && verdict.advice.is_empty() {
        return "  (recorded, nothing is said)\n".into();
    }
    verdict.sentences().map(|reason| format!("  {}\n", reason.full)).collect()
}

/// Words and forms that a reader trips over, and what to write instead.
const NOT_ENGLISH: &[(&str, &str)] = &[
    ("Instead:", "the remedy is a sentence of its own"),
    ("no build makes again", "cannot be recreated"),
    ("nothing makes again", "cannot be recreated"),
    ("lies around", "stays, unmanaged"),
    ("lie around", "stay, unmanaged"),
    ("whoever", "anyone, any host"),
    ("of yours says", "name the file"),
    ("the way on", "what to do next"),
    ("put a version live", "deploy"),
    ("take away", "remove, delete"),
    ("takes away", "removes, deletes"),
    ("throw away", "delete, discard"),
    ("everybody", "everyone"),
    ("a person", "the user"),
    ("that is meant", "you mean"),
    ("nobody sees", "invisible, unnoticed"),
    ("from then on", "from now on"),
    ("From then on", "from now on"),
    ("cannot be told", "is unknown"),
    ("forget", "drop, delete"),
    ("mend", "fix"),
    ("unseen", "that nobody has read"),
];

/// Maximum length of a message or a remedy, in bytes.
const MAX_LENGTH: usize = 130;

#[test]
fn messages_and_remedies_are_plain_english() {
    let mut problems = Vec::new();
    for entry in entries(Kind::Rules) {
        let text = |key: &str| entry.value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (message, remedy) = (text("message"), text("remedy"));
        let plain = [&message, &remedy].map(|text| text.replace("{mend}", ""));
        for (words, better) in NOT_ENGLISH.iter().filter(|(words, _)| plain.iter().any(|text| text.contains(words))) {
            problems.push(format!("{}: not `{words}`, but: {better}", entry.name));
        }
        if !message.starts_with(|ch: char| ch.is_uppercase()) || !message.ends_with('.') {
            problems.push(format!("{}: a message is a sentence: {message}", entry.name));
        }
        if message.len() > MAX_LENGTH || remedy.len() > MAX_LENGTH {
            problems.push(format!("{}: longer than {MAX_LENGTH} bytes: {message} {remedy}", entry.name));
        }
        if !remedy.is_empty() && !is_imperative(&remedy) {
            problems.push(format!("{}: a remedy tells what to do: {remedy}", entry.name));
        }
    }
    report(problems);
}

/// Verbs that a remedy begins with.
const VERBS: &[&str] = &[
    "Add", "Allow", "Ask", "Bind", "Build", "Call", "Check", "Clone", "Close", "Commit", "Copy", "Count", "Create",
    "Decode", "Delete", "Disable", "Do", "Download", "Drop", "Find", "Give", "Grant", "Hide", "Ignore", "Install",
    "Keep", "Leave", "Let", "List", "Listen", "Look", "Make", "Mount", "Move", "Name", "Package", "Pass", "Preview",
    "Print", "Push", "Query", "Read", "Remove", "Rename", "Reset", "Restore", "Run", "Save", "Select", "Send", "Serve",
    "Set", "Share", "Show", "Sign", "Split", "Start", "Stop", "Tell", "Tie", "Trace", "Trust", "Try", "Unpack",
    "Update", "Use", "Work", "Write",
];

fn is_imperative(remedy: &str) -> bool {
    remedy.ends_with('.') && VERBS.contains(&remedy.split(' ').next().unwrap_or_default())
}

/// Columns of a line of the library.
const COLUMNS: usize = 120;

#[test]
fn lines_of_the_library_are_short() {
    let mut problems = Vec::new();
    let kinds = Kind::ALL.map(|(_, folder)| folder);
    for folder in kinds.into_iter().chain(["benign", "recommended"]) {
        for file in yaml_files(&library().join(folder)) {
            let text = std::fs::read_to_string(&file).unwrap();
            let long = text.lines().zip(1..).filter(|(line, _)| line.chars().count() > COLUMNS);
            problems.extend(long.map(|(_, number)| format!("{}:{number}", file.display())));
        }
    }
    report(problems);
}

/// What stands in backticks is a command, unless it is an option, a part of a text or a file.
fn commands(remedy: &str) -> Vec<String> {
    let quoted = remedy.split('`').skip(1).step_by(2);
    let is_command = |text: &&str| {
        let first = text.split(' ').next().unwrap_or_default();
        let program = first.chars().all(|ch| ch.is_ascii_lowercase() || "-_0123456789".contains(ch));
        program && !first.starts_with('-') && text.contains(' ')
    };
    quoted.filter(is_command).map(str::to_owned).collect()
}

/// The commands of a rule's remedy for a call that the rule finds.
fn remedies(rule: &str, call: &Value) -> Vec<String> {
    let findings = judged(call).verdict.findings;
    findings.iter().find(|finding| finding.id == rule).map(|finding| commands(&finding.remedy)).unwrap_or_default()
}

/// A call with other words, in the same world.
fn with_command(example: &Value, command: &str) -> Value {
    let mut call = json!({"run": command});
    if let Some(facts) = example.get("facts") {
        call["facts"] = facts.clone();
    }
    call
}

/// Who does what a remedy says is not stopped by the same rule again, and by no rule that blocks.
#[test]
fn a_remedy_can_be_followed() {
    let mut problems = Vec::new();
    let mut tried = 0;
    for entry in entries(Kind::Rules) {
        for example in entry.value["fires"].as_array().unwrap() {
            for command in remedies(&entry.name, example) {
                tried += 1;
                let verdict = judged(&with_command(example, &command)).verdict;
                let again = verdict.findings.iter().any(|finding| finding.id == entry.name);
                if again || verdict.decision == Decision::Deny {
                    let ids: Vec<_> = verdict.findings.iter().map(|finding| finding.id.as_str()).collect();
                    problems.push(format!("{}: `{command}` is stopped by {ids:?}", entry.name));
                }
            }
        }
    }
    assert!(tried >= 150, "only {tried} commands were tried");
    problems.dedup();
    report(problems);
}

/// A file that is there already may be the only copy of something: what a remedy writes has a name of its own, or the
/// command refuses to replace a file.
#[test]
fn a_remedy_overwrites_nothing() {
    let mut problems = Vec::new();
    for entry in entries(Kind::Rules) {
        for example in entry.value["fires"].as_array().unwrap() {
            for command in remedies(&entry.name, example) {
                let analysis = judged(&with_command(example, &command)).analysis;
                let replaces = |kind: EffectKind| {
                    matches!(
                        kind,
                        EffectKind::Overwrite | EffectKind::Populate | EffectKind::Truncate | EffectKind::Edit
                    )
                };
                let replaced = analysis.effects.iter().filter(|effect| replaces(effect.kind)).flat_map(|effect| {
                    effect.targets.iter().filter_map(|target| target.value.literal().map(Cow::into_owned))
                });
                problems.extend(replaced.map(|file| format!("{}: `{command}` may replace {file}", entry.name)));
            }
        }
    }
    problems.dedup();
    report(problems);
}

/// A command of a remedy that leaves out the host or context of the call would talk to another server.
#[test]
fn a_remedy_keeps_host_and_context() {
    const PLACE: &str = "shop-7";
    /// They read files of this machine only.
    const LOCAL: [&str; 2] = ["helm package", "dotnet ef migrations script"];
    let programs = entries(Kind::Programs);
    let mut problems = Vec::new();
    let mut tried = 0;
    for entry in entries(Kind::Rules) {
        for example in entry.value["fires"].as_array().unwrap() {
            let Some((program, rest)) = example.as_str().and_then(|text| text.split_once(' ')) else { continue };
            for flag in place_options(&programs, program) {
                let elsewhere = json!(format!("{program} {flag} {PLACE} {rest}"));
                for command in remedies(&entry.name, &elsewhere) {
                    let is_local = LOCAL.iter().any(|local| command.starts_with(local));
                    let is_client = !is_local && command.split(' ').next() == Some(program);
                    tried += usize::from(is_client);
                    if is_client && !command.contains(PLACE) {
                        problems.push(format!("{}: `{command}` leaves out `{flag} {PLACE}`", entry.name));
                    }
                }
            }
        }
    }
    assert!(tried >= 30, "only {tried} commands were tried");
    problems.dedup();
    report(problems);
}

/// The options by which a program of the library is sent to a host, context or account.
fn place_options(programs: &[Entry], program: &str) -> Vec<String> {
    let is_named = |entry: &&Entry| {
        let aliases = entry.value.get("aliases").and_then(Value::as_array).into_iter().flatten();
        entry.name == program || aliases.filter_map(Value::as_str).any(|alias| alias == program)
    };
    let found = programs.iter().find(is_named);
    let points = found.iter().flat_map(|entry| entry.value["points"].as_array().into_iter().flatten());
    points.filter_map(Value::as_str).filter(|word| word.starts_with('-')).map(str::to_owned).collect()
}
