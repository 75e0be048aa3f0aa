//! `reflex grants --suggest`: turns repeated approvals into one narrow entry of a policy.

use crate::commands::history::record::field;
use crate::exit_code;
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::store::Store;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of approvals for a suggestion.
const OFTEN: usize = 5;

/// Programs whose first words do not determine their effect.
const OPEN_ENDED: [&str; 19] = [
    "sh", "bash", "zsh", "dash", "fish", "python", "python3", "node", "ruby", "perl", "php", "ssh", "sudo", "env",
    "xargs", "eval", "make", "npx", "docker",
];

/// Calls about which a person was asked, equal except for their last words.
#[derive(Default)]
struct Habit {
    commands: BTreeSet<String>,
    asked: usize,
    approved: usize,
}

/// Workspace, finding and first two words of a habit.
pub(in crate::commands) type Key = (String, String, String);

pub(in crate::commands) fn run(store: &Store, matches: &ArgMatches) -> u8 {
    let habits = match habits(store) {
        Ok(habits) => habits,
        Err(error) => {
            complain(&format!("the audit log: {error}"));
            return exit_code::INTERNAL;
        }
    };
    let often: Vec<(&Key, &Habit)> = habits.iter().filter(|(_, habit)| habit.approved >= OFTEN).collect();
    if matches.get_flag("json") {
        let rows: Vec<Value> = often.iter().map(|(key, habit)| as_json(key, habit)).collect();
        print_json(&json!({"schema": "reflex/suggestions-v1", "suggestions": rows}).to_string());
    } else if often.is_empty() {
        print(&format!("no call was approved {OFTEN} times; nothing to suggest"));
    } else {
        often.iter().for_each(|(key, habit)| show(key, habit));
    }
    exit_code::OK
}

fn show((workspace, rule, _): &Key, habit: &Habit) {
    let entry = entry(rule, habit);
    let saved = habit.asked.saturating_sub(1);
    print(&format!("approved {} times in {}: {}", habit.approved, visible(workspace), visible(rule)));
    print(&format!(
        "  one narrow rule would have saved {saved} questions; put it into {}/.reflex/policy.yaml",
        visible(workspace)
    ));
    print("  and accept that file with `reflex trust`:");
    print("    allow:");
    print(&format!("      - {}", visible(&entry.to_string())));
    if let Some(why) = broad(&words(habit)) {
        print(&format!("  careful, this is broad: {why}"));
    }
}

fn as_json((workspace, rule, _): &Key, habit: &Habit) -> Value {
    json!({
        "workspace": workspace, "rule": rule, "approved": habit.approved, "asked": habit.asked,
        "saves": habit.asked.saturating_sub(1), "allow": entry(rule, habit), "broad": broad(&words(habit)),
    })
}

/// Returns the entry as JSON: JSON is also YAML and needs no manual quoting.
fn entry(rule: &str, habit: &Habit) -> Value {
    json!({"argv": words(habit), "rule": rule, "reason": format!("approved {} times", habit.approved)})
}

/// Returns the longest common prefix of a habit's commands, in words.
fn words(habit: &Habit) -> Vec<&str> {
    let mut commands = habit.commands.iter().map(|command| command.split_whitespace().collect::<Vec<_>>());
    let first = commands.next().unwrap_or_default();
    commands.fold(first, |common, command| {
        common.into_iter().zip(command).take_while(|(one, other)| one == other).map(|(one, _)| one).collect()
    })
}

/// Returns the reason if an entry would cover more than a person has seen.
fn broad(words: &[&str]) -> Option<&'static str> {
    match words {
        [] | [_] => Some("it covers whatever this program does"),
        [program, ..] if OPEN_ENDED.contains(program) => Some("this program runs whatever it is given"),
        [_, option] if option.starts_with('-') => Some("it covers whatever follows this option"),
        _ => None,
    }
}

/// Groups all calls about which a person was asked by habit. Core findings are excluded: their approval holds once and
/// not as a habit.
fn habits(store: &Store) -> std::io::Result<BTreeMap<Key, Habit>> {
    let (mut calls, mut approved) = (BTreeMap::new(), BTreeSet::new());
    store.log().each(&mut |line| {
        let counts = ["\"kind\":\"approval\"", "\"kind\":\"outcome\"", "\"kind\":\"call\""];
        if !counts.iter().any(|kind| line.contains(kind)) || line.contains("\"decision\":\"pass\"") {
            return Ok(true);
        }
        let Ok(record) = serde_json::from_str::<Map<String, Value>>(line) else { return Ok(true) };
        let field = |key: &str| field(&record, key).to_owned();
        match field("kind").as_str() {
            "call" => drop(key_and_command(&record).map(|call| calls.insert(field("id"), call))),
            "approval" => drop(approved.insert(field("of"))),
            "outcome" if field("answered").starts_with("a person at") => drop(approved.insert(field("of"))),
            _ => {}
        }
        Ok(true)
    })?;
    let mut habits: BTreeMap<Key, Habit> = BTreeMap::new();
    for (id, (key, command)) in calls {
        let habit = habits.entry(key).or_default();
        habit.asked += 1;
        if approved.contains(&id) {
            habit.approved += 1;
            habit.commands.insert(command);
        }
    }
    Ok(habits)
}

/// Returns the habit of a call and its command. Only a plain command qualifies: else the approved part is unclear.
pub(in crate::commands) fn key_and_command(record: &Map<String, Value>) -> Option<(Key, String)> {
    let findings = record.get("findings")?.as_array()?;
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let of_call = findings.iter().filter(|finding| text(finding, "detector") != "loopbreaker");
    let [finding] = of_call.collect::<Vec<_>>()[..] else { return None };
    let [action] = record.get("actions")?.as_array()?.as_slice() else { return None };
    let command = text(action, "command");
    let plain =
        !command.is_empty() && !command.contains(['\'', '"', '\\', '$', '`', ';', '|', '&', '<', '>', '(', '\n', '[']);
    if text(finding, "tier") == "core" || !plain {
        return None;
    }
    let first = command.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    Some(((field(record, "workspace").to_owned(), text(finding, "id"), first), command))
}
