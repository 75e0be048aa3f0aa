//! `reflex rules test DIR event.json`: evaluates rules on one event, with the output of the command of the package
//! `@fozikio/reflex`.

use crate::error::{Error, RulesError};
use crate::exit_code;
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::rules::{Rule, RuleEngine, core_rules, load_rule_directory, load_rule_file};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Maximum size of an event file, in bytes.
const MAX_BYTES: u64 = 8 << 20;

/// Options that set fields of an event: dashes replace the underscores of the field.
pub(in crate::commands) const FIELDS: [(&str, &str); 9] = [
    ("command", "The event's command"),
    ("file-path", "The event's file_path"),
    ("content", "The event's content"),
    ("prompt", "The event's prompt"),
    ("tool-name", "The event's tool_name"),
    ("output", "The event's output"),
    ("url", "The event's url"),
    ("cwd", "The event's cwd"),
    ("workspace", "The event's workspace"),
];

/// Whether the command line names an event, by a file or by its fields.
pub(in crate::commands) fn is_meant(matches: &ArgMatches) -> bool {
    matches.contains_id("event") || event_file(matches).is_some()
}

pub(in crate::commands) fn run(matches: &ArgMatches) -> u8 {
    match evaluate(matches) {
        Ok(code) => code,
        Err(error) => error.report(),
    }
}

fn evaluate(matches: &ArgMatches) -> Result<u8, Error> {
    let event = event(matches)?;
    let name = event.get("event").and_then(Value::as_str).ok_or(RulesError::NoEvent)?.to_owned();
    let mut engine = RuleEngine::new(variables(matches)?);
    let mut problems = Vec::new();
    if !matches.get_flag("no-core") {
        problems.extend(engine.add_rules(core_rules()).err().map(|error| error.to_string()));
    }
    for path in paths(matches) {
        let (rules, wrong) = rules_at(&path);
        problems.extend(wrong);
        problems.extend(engine.add_rules(rules).err().map(|error| error.to_string()));
    }
    let results = engine.evaluate(&event);
    let blocked = results.iter().any(|result| result.action == "block");
    if matches.get_flag("json") {
        let results = results.iter().map(|result| {
            json!({
                "rule": result.rule.name, "action": result.action, "severity": result.severity.name(),
                "message": result.message, "matched_conditions": result.matched_conditions,
            })
        });
        let results: Vec<Value> = results.collect();
        print_json(&json!({"event": name, "blocked": blocked, "results": results, "problems": problems}).to_string());
    } else {
        problems.iter().for_each(|problem| complain(&visible(problem)));
        for result in &results {
            let message = visible(&result.message);
            print(&format!(
                "{:5} {} ({}): {message}",
                result.action,
                visible(&result.rule.name),
                result.severity.name()
            ));
            result.matched_conditions.iter().for_each(|one| print(&format!("      {}", visible(one))));
        }
        if results.is_empty() {
            print(&format!("no rule fires on this {}", visible(&name)));
        }
    }
    Ok(match (blocked, problems.is_empty()) {
        (true, _) => exit_code::BLOCK,
        (false, false) => exit_code::FOUND,
        (false, true) => exit_code::OK,
    })
}

/// Returns the last path, if it is an event file.
fn event_file(matches: &ArgMatches) -> Option<PathBuf> {
    let last = matches.get_many::<String>("path")?.next_back()?;
    last.ends_with(".json").then(|| PathBuf::from(last))
}

fn paths(matches: &ArgMatches) -> Vec<PathBuf> {
    let arguments = matches.get_many::<String>("path").into_iter().flatten();
    arguments.filter(|path| !path.ends_with(".json")).map(PathBuf::from).collect()
}

fn event(matches: &ArgMatches) -> Result<Map<String, Value>, Error> {
    let mut event = match event_file(matches) {
        None => Map::new(),
        Some(file) => read(file)?,
    };
    let mut put = |key: &str, value: &str| drop(event.insert(key.to_owned(), value.into()));
    if let Some(name) = matches.get_one::<String>("event") {
        put("event", name);
    }
    for (option, _) in FIELDS {
        if let Some(value) = matches.get_one::<String>(option) {
            put(&option.replace('-', "_"), value);
        }
    }
    for pair in matches.get_many::<String>("field").into_iter().flatten() {
        let (key, value) = split_pair("field", pair)?;
        put(key, value);
    }
    Ok(event)
}

/// Reads an event from a file.
fn read(file: PathBuf) -> Result<Map<String, Value>, Error> {
    if file.metadata().is_ok_and(|data| data.len() > MAX_BYTES) {
        return Err(RulesError::EventTooLarge { file, max_mib: MAX_BYTES >> 20 }.into());
    }
    match std::fs::read_to_string(&file) {
        Ok(text) => Ok(serde_json::from_str(&text).map_err(|source| RulesError::EventNotJson { file, source })?),
        Err(source) => Err(Error::Input { file, source }),
    }
}

/// Splits a pair such as `NAME=VALUE` that an option takes.
fn split_pair<'p>(option: &'static str, pair: &'p str) -> Result<(&'p str, &'p str), RulesError> {
    pair.split_once('=').ok_or_else(|| RulesError::Pair { option, given: pair.to_owned() })
}

/// Parses variables such as `--var allowed_roots=/srv/a,/srv/b`.
fn variables(matches: &ArgMatches) -> Result<Vec<(String, Vec<String>)>, RulesError> {
    let pairs = matches.get_many::<String>("var").into_iter().flatten();
    let variable = |pair: &String| {
        let (key, value) = split_pair("var", pair)?;
        Ok((key.to_owned(), value.split(',').map(|one| one.trim().to_owned()).collect()))
    };
    pairs.map(variable).collect()
}

fn rules_at(path: &Path) -> (Vec<Rule>, Vec<String>) {
    if path.is_dir() {
        let (rules, problems) = load_rule_directory(path, None);
        return (rules, problems.iter().map(|problem| problem.message.clone()).collect());
    }
    match load_rule_file(path) {
        Ok(rules) => (rules, Vec::new()),
        Err(problems) => (Vec::new(), problems.iter().map(|problem| problem.message.clone()).collect()),
    }
}
