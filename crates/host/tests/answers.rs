//! What people and agents read: the full answer to the first example of each rule, rewritten with UPDATE=1 and read by
//! a person; how messages and remedies are worded; and whether a remedy works.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]

mod examples;

use examples::{entries, judged};
use reflex_tables::compile::Kind;
use serde_json::Value;
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
    verdict.reasons.iter().chain(&verdict.advice).map(|line| format!("  {line}\n")).collect()
}
