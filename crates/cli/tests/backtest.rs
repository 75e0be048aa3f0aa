//! Tests a changed policy against recorded calls: every changed decision is reported, and nothing is modified.

use crate::support::{Machine, Ran, files};
use serde_json::Value;
use std::fs;
use std::path::Path;

const ALLOWS: &str = "allow:\n  - argv: [git, push, --force, origin, topic]\n    reason: my own branch\n";

fn recorded() -> Machine {
    let machine = Machine::new();
    let calls = ["git push --force origin topic", "git push --force origin topic", "npm test", "sudo ls", "rm -rf ~"];
    for command in calls {
        machine.bash(&machine.project(), command);
    }
    machine
}

fn backtest(machine: &Machine, policy: &str, more: &[&str]) -> Ran {
    let file = machine.root().join("new policy.yaml");
    fs::write(&file, policy).unwrap();
    let words = [&["policy", "backtest", file.to_str().unwrap()], more].concat();
    machine.reflex(words).folder(&machine.project()).run()
}

fn changes(machine: &Machine, policy: &str) -> Vec<(String, String, String, u64)> {
    let output = backtest(machine, policy, &["--json"]).json();
    let text = |change: &Value, key: &str| change[key].as_str().unwrap().to_owned();
    let rows = output["changes"].as_array().unwrap().iter();
    let row =
        |one: &Value| (text(one, "before"), text(one, "after"), text(one, "call"), one["count"].as_u64().unwrap());
    rows.map(row).collect()
}

#[test]
fn each_decision_that_changes_is_told_with_its_count() {
    let machine = recorded();
    let push = "git push --force origin topic".to_owned();
    assert_eq!(changes(&machine, ALLOWS), [("ask".into(), "allow".into(), push.clone(), 2)]);
    let strict = changes(&machine, "preset: strict\n");
    assert!(strict.contains(&("ask".into(), "block".into(), push, 2)), "{strict:?}");
    assert!(strict.iter().all(|(_, after, ..)| after == "block"), "stricter is never milder: {strict:?}");
    let output = backtest(&machine, ALLOWS, &[]);
    assert!(
        output.code == 0 && output.stdout.starts_with("5 recorded calls judged again\n2 ask -> allow\n"),
        "{output:?}"
    );
    assert_eq!(changes(&machine, "rules: {rm/home-or-root: 'off'}\n"), [], "the core is not weakened without a reason");
}

#[test]
fn what_is_in_force_stays_and_nothing_is_written() {
    let machine = recorded();
    let folder = machine.home().join(".config/reflex");
    fs::create_dir_all(folder.join("rules")).unwrap();
    fs::write(folder.join("policy.yaml"), ALLOWS).unwrap();
    let before = files(&folder);
    let log = |machine: &Machine| machine.reflex(["audit", "search", "--json"]).run().stdout;
    let recorded = log(&machine);
    let without = changes(&machine, "preset: balanced\n");
    assert_eq!(without.len(), 1, "{without:?}");
    assert_eq!((without[0].0.as_str(), without[0].1.as_str()), ("allow", "ask"), "without the entry it is asked about");
    assert_eq!(changes(&machine, ALLOWS), []);
    assert_eq!((files(&folder), log(&machine)), (before, recorded));
}

#[test]
fn a_policy_with_a_mistake_is_told_with_its_line() {
    let machine = recorded();
    for (policy, problem) in
        [("preset: [", "new policy.yaml:1:9"), ("presett: strict\n", "unknown key of a policy `presett`")]
    {
        let output = backtest(&machine, policy, &[]);
        assert!(output.code == 64 && output.stderr.contains(problem), "{output:?}");
    }
    let output = machine.reflex(["policy", "backtest", "nowhere.yaml"]).folder(Path::new("/")).run();
    assert!(output.code == 64 && output.stderr.contains("nowhere.yaml"), "{output:?}");
}
