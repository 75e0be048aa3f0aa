//! `reflexes test`: runs the examples of reflexes, or asks one about a call of any agent.

use super::here::Here;
use crate::error::{Error, ReflexError};
use crate::exit_code;
use crate::terminal::arguments::{flag, json, option, text};
use crate::terminal::output::print;
use crate::terminal::visible::visible;
use clap::{Arg, ArgMatches, Command};
use reflex_host::Context;
use reflex_host::catalog::{Example, Home, Origin, Package, Played, difference, examples, name_of, play};
use serde_json::{Map, Value, json};
use std::io::Read;
use std::path::Path;

/// Maximum length of a call on standard input, in bytes.
const MAX_INPUT: u64 = 16 * 1024 * 1024;

pub(super) fn grammar() -> Command {
    Command::new("test")
        .about("Run the examples of reflexes, or judge one call with --call")
        .arg(
            Arg::new("reflex")
                .num_args(0..)
                .value_name("NAME|PATH")
                .help("Names, directories or modules (default: all in force here)"),
        )
        .arg(option("call", "CALL", "A command, or a universal event as JSON; `-` reads it from standard input"))
        .arg(option("agent", "NAME", "The agent that calls").default_value("claude"))
        .arg(option("event", "EVENT", "onToolCall, onToolResult or any word of a universal event"))
        .arg(option("with", "JSON", "Its options"))
        .arg(flag("context", "Also print what the reflex sees of the call"))
        .arg(json())
}

pub(super) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let here = Here::new(context);
    let packages = match meant(matches, &here) {
        Ok(packages) => packages,
        Err(error) => return error.report(),
    };
    match matches.get_one::<String>("call") {
        None => play_all(matches, &packages),
        Some(call) => match made_up(matches, call) {
            Ok(example) => ask_all(matches, &packages, &example),
            Err(error) => Error::from(error).report(),
        },
    }
}

/// Returns the reflexes named on the command line, else those listed here.
fn meant(matches: &ArgMatches, here: &Here) -> Result<Vec<Package>, Error> {
    let homes = [Home::of_workspace(&here.workspace), here.of_user()];
    let words: Vec<&String> = matches.get_many::<String>("reflex").into_iter().flatten().collect();
    if words.is_empty() {
        let mut packages = Vec::new();
        for home in &homes {
            for entry in home.entries()? {
                let package = home.installed(&entry.source);
                packages.push(package.map_err(|error| Error::about(&entry.source, error))?);
            }
        }
        return if packages.is_empty() { Err(ReflexError::NoneListed.into()) } else { Ok(packages) };
    }
    words.iter().map(|word| one(word, &homes, &here.cwd)).collect()
}

/// Finds a reflex: a listed one, a draft in this folder, an official one, or a path.
fn one(word: &str, homes: &[Home; 2], cwd: &Path) -> Result<Package, Error> {
    for home in homes {
        let listed = home.entries()?.into_iter().find(|entry| name_of(&entry.source) == word);
        if let Some(entry) = listed {
            return Ok(home.installed(&entry.source)?);
        }
        if let Some(begun) = home.begun(word) {
            return Ok(Package::of_folder(&begun)?);
        }
    }
    // A test does not fetch anything.
    Ok(Origin::named(word, cwd)?.here()?)
}

fn play_all(matches: &ArgMatches, packages: &[Package]) -> u8 {
    let (mut played, mut wrong) = (0, Vec::new());
    for package in packages {
        let all = match examples(package) {
            Ok(all) => all,
            Err(error) => {
                wrong.push((package.name.clone(), String::new(), error.to_string()));
                continue;
            }
        };
        if all.is_empty() {
            print(&format!("{} has no examples", visible(&package.name)));
        }
        played += all.len();
        wrong.extend(all.iter().filter_map(|example| {
            let problem = match play(package, example) {
                Ok(played) => difference(example, &played)?,
                Err(error) => error.to_string(),
            };
            Some((package.name.clone(), example.call.to_string(), problem))
        }));
    }
    if matches.get_flag("json") {
        let row = |(name, call, problem): &(String, String, String)| json!({"reflex": name, "call": call, "problem": problem});
        let rows: Vec<Value> = wrong.iter().map(row).collect();
        print(&json!({"schema": "reflex/examples-v1", "played": played, "wrong": rows}).to_string());
    } else {
        for (name, call, problem) in &wrong {
            print(&format!("{}: {}: {}", visible(name), visible(call), visible(problem)));
        }
        print(&format!("{played} examples run, {} failed", wrong.len()));
    }
    if wrong.is_empty() { exit_code::OK } else { exit_code::FOUND }
}

/// Builds the call that the command line describes.
fn made_up(matches: &ArgMatches, call: &str) -> Result<Example, ReflexError> {
    let call = if call == "-" { read_input()? } else { call.to_owned() };
    let is_object = call.trim_start().starts_with('{');
    let mut call =
        if is_object { serde_json::from_str(&call).map_err(ReflexError::Call)? } else { Value::String(call) };
    if let Some(event) = matches.get_one::<String>("event") {
        call = with_event(call, event);
    }
    let with = match matches.get_one::<String>("with") {
        None => None,
        Some(with) => Some(serde_json::from_str(with).map_err(ReflexError::OptionsOfTest)?),
    };
    Ok(Example { call, with, agent: Some(text(matches, "agent").to_owned()), ..Example::default() })
}

fn with_event(call: Value, event: &str) -> Value {
    let mut fields = match call {
        Value::Object(fields) => fields,
        command @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            Map::from_iter([("command".to_owned(), command)])
        }
    };
    fields.insert("event".into(), event.into());
    if event.contains("esult") || event.starts_with("post") {
        fields.entry("output").or_insert_with(|| "".into());
    }
    Value::Object(fields)
}

fn read_input() -> Result<String, ReflexError> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_INPUT).read_to_string(&mut text);
    read.map(|_| text).map_err(ReflexError::Input)
}

/// Prints the answer of each reflex; the exit status is that of the strictest answer.
fn ask_all(matches: &ArgMatches, packages: &[Package], example: &Example) -> u8 {
    let mut worst = exit_code::OK;
    let mut rows = Vec::new();
    for package in packages {
        let played = match play(package, example) {
            Ok(played) => played,
            Err(error) => return Error::about(&package.name, error).report(),
        };
        worst = worst.max(weight(&played));
        if matches.get_flag("json") {
            rows.push(row(package, &played));
        } else {
            report(matches, package, &played);
        }
    }
    if matches.get_flag("json") {
        print(&json!({"schema": "reflex/asked-v1", "reflexes": rows}).to_string());
    }
    // A deny outweighs an ask, although its exit status is the smaller number.
    match worst {
        3 => exit_code::BLOCK,
        2 => exit_code::ASK,
        other => other,
    }
}

fn weight(played: &Played) -> u8 {
    match (played.problem.is_some(), played.says) {
        (true, _) => 1,
        (_, "deny" | "modify") => 3,
        (_, "ask") => 2,
        _ => 0,
    }
}

fn report(matches: &ArgMatches, package: &Package, played: &Played) {
    let reason = if played.reason.is_empty() { String::new() } else { format!(": {}", visible(&played.reason)) };
    print(&format!("{} says {}{reason}", visible(&package.name), played.says));
    if let Some(args) = &played.args {
        print(&format!("  changes {}", visible(&args.to_string())));
    }
    if let Some(problem) = &played.problem {
        print(&format!("  it gave no decision: {}", visible(problem)));
    }
    played.printed.iter().for_each(|line| print(&format!("  printed | {}", visible(line))));
    played.writes.keys().for_each(|path| print(&format!("  would write {}", visible(path))));
    if matches.get_flag("context") {
        for line in format!("{:#}", played.context).lines() {
            print(&format!("  {}", visible(line)));
        }
    }
}

fn row(package: &Package, played: &Played) -> Value {
    json!({
        "reflex": package.name, "says": played.says, "reason": played.reason, "args": played.args,
        "problem": played.problem, "printed": played.printed, "writes": played.writes, "context": played.context,
    })
}
