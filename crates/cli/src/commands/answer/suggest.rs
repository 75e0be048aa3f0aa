//! `reflex suggest`: turns repeated approvals into narrow entries of a policy.

use super::policy_line::{self, Line, Section, WRITTEN, report};
use super::proposal::{Key, OPEN_ENDED, Proposal, key_and_command};
use crate::commands::history::record::field;
use crate::exit_code;
use crate::terminal::confirm::answer;
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::person::person;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::person::at_terminal;
use reflex_host::store::Store;
use reflex_host::{Context, Mode};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of approvals for a suggestion.
const OFTEN: usize = 5;

/// Calls about which a person was asked, equal except for their last words.
#[derive(Default)]
struct Habit {
    commands: BTreeSet<String>,
    asked: usize,
    approved: usize,
}

/// `reflex suggest`: shows the suggestions, and at a terminal writes those that the person wants.
pub(in crate::commands) fn suggest(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let store = host.store();
    let habits = match habits(&store) {
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
        return exit_code::OK;
    }
    if often.is_empty() {
        print(&format!("no call was approved {OFTEN} times; nothing to suggest"));
    }
    for (number, (key, habit)) in (1..).zip(&often) {
        show(number, key, habit);
    }
    if often.is_empty() || at_terminal().is_err() {
        return exit_code::OK;
    }
    let Some(person) = person(&store, "suggest", "") else { return exit_code::FOUND };
    while let Some(written) = answer("Write which one into your policy? (a number; Enter ends) ") {
        let chosen = written.trim().parse::<usize>().ok().and_then(|number| often.get(number.checked_sub(1)?));
        let Some((key, habit)) = chosen else { break };
        let line = Line::new(Section::Allow, &proposal(key, habit).yaml(), &key.1, (key.0.clone(), false));
        report(policy_line::add(&host, &line, &person), WRITTEN);
    }
    exit_code::OK
}

fn show(number: usize, key: &Key, habit: &Habit) {
    let proposal = proposal(key, habit);
    print(&visible(&format!("{number}  asked {} times, approved {} times", habit.asked, habit.approved)));
    print(&visible(&format!("   allow {}", proposal.sentence())));
    proposal.yaml().lines().for_each(|line| print(&format!("     {}", visible(line))));
    if let Some(why) = broad(&proposal.argv) {
        print(&format!("   careful, this is broad: {why}"));
    }
}

fn as_json(key: &Key, habit: &Habit) -> Value {
    let proposal = proposal(key, habit);
    json!({
        "workspace": key.0, "rule": key.1, "approved": habit.approved, "asked": habit.asked,
        "saves": habit.asked.saturating_sub(1), "broad": broad(&proposal.argv),
        "allow": {"argv": proposal.argv, "rule": proposal.rule, "in": proposal.within, "reason": proposal.reason},
    })
}

/// Returns the entry for a habit: the longest common prefix of its commands, in its project.
fn proposal((workspace, rule, _): &Key, habit: &Habit) -> Proposal {
    let mut commands = habit.commands.iter().map(|command| command.split_whitespace().collect::<Vec<_>>());
    let first = commands.next().unwrap_or_default();
    let common = commands.fold(first, |common, command| {
        common.into_iter().zip(command).take_while(|(one, other)| one == other).map(|(one, _)| one).collect()
    });
    let reason = format!("approved {} times", habit.approved);
    Proposal { within: workspace.clone(), reason, ..Proposal::exact(&common.join(" "), rule) }
}

/// Returns the reason if an entry would cover more than a person has seen.
fn broad(words: &[String]) -> Option<&'static str> {
    match words {
        [] | [_] => Some("it covers whatever this program does"),
        [program, ..] if OPEN_ENDED.contains(&program.as_str()) => Some("this program runs whatever it is given"),
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
            "call" => drop(key_and_command(&record).ok().map(|call| calls.insert(field("id"), call))),
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
