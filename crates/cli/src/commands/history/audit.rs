//! `reflex audit`: reads, verifies and purges the log of every decision.

use crate::commands::history::record::{action, changes, decision, field, time};
use crate::commands::history::search::{SearchError, Words, found};
use crate::commands::setup::mode;
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::consent::may_weaken;
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::person::person;
use crate::terminal::progress::Progress;
use crate::terminal::visible::{visible, visible_json};
use crate::terminal::wrap::{columns, rows};
use clap::ArgMatches;
use reflex_host::store::{Log, Search, Store};
use reflex_host::{Context, local, moment, timestamp};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let store = context.store();
    let log = store.log();
    let done = match matches.subcommand() {
        Some(("path", _)) => {
            print(&log.folder().display().to_string());
            Ok(exit_code::OK)
        }
        Some(("tail", matches)) => tail(&log, matches),
        Some(("search", matches)) => search(&log, matches),
        Some(("verify", matches)) => verify(&log, matches),
        Some(("export", matches)) => crate::commands::history::export::run(&store, matches),
        Some(("purge", matches)) => purge(&store, matches),
        Some(("texts", matches)) => texts(&store, text(matches, "keep") == "yes"),
        _ => Ok(exit_code::USAGE),
    };
    done.unwrap_or_else(|error| {
        if error.kind() == io::ErrorKind::BrokenPipe {
            // The reader closed the pipe.
            return exit_code::OK;
        }
        complain(&format!("the audit log: {error}"));
        exit_code::INTERNAL
    })
}

fn tail(log: &Log, matches: &ArgMatches) -> io::Result<u8> {
    let as_json = matches.get_flag("json");
    // Records that arrive while the newest are printed follow them.
    let follower = log.follower()?;
    let mut last = 0;
    for record in log.search(&Search::default(), count(matches))?.into_iter().filter(mode::may_be_read) {
        last = record.get("seq").and_then(Value::as_u64).unwrap_or(last);
        write_record(&record, as_json)?;
    }
    if matches.get_flag("follow") {
        follower.follow(last, &mut |line| {
            if let Some(record) = serde_json::from_str(line).ok().filter(mode::may_be_read) {
                write_record(&record, as_json)?;
            }
            Ok(true)
        })?;
    }
    Ok(exit_code::OK)
}

fn search(log: &Log, matches: &ArgMatches) -> io::Result<u8> {
    let words: Vec<String> = matches.get_many("text").into_iter().flatten().cloned().collect();
    let mut bounds = [None, None];
    for (name, bound) in ["since", "until"].into_iter().zip(&mut bounds) {
        let Some(written) = matches.get_one::<String>(name) else { continue };
        let Some(time) = time(written) else {
            complain(&format!("`{}` is not a time (e.g. 2h, 2026-11-21, 2026-11-21T10:00:00Z)", visible(written)));
            return Ok(exit_code::USAGE);
        };
        *bound = Some(timestamp(time));
    }
    let [since, until] = bounds;
    let found = match found(log, Words { words: &words, since, until }, count(matches)) {
        Ok(found) => found,
        Err(SearchError::Unreadable(error)) => return Err(error),
        Err(problem) => {
            complain(&problem.to_string());
            return Ok(exit_code::USAGE);
        }
    };
    for record in &found {
        write_record(record, matches.get_flag("json"))?;
    }
    if found.is_empty() {
        complain("no records match");
        return Ok(exit_code::FOUND);
    }
    Ok(exit_code::OK)
}

fn count(matches: &ArgMatches) -> usize {
    matches.get_one::<usize>("number").copied().unwrap_or(20)
}

fn write_record(record: &Map<String, Value>, as_json: bool) -> io::Result<()> {
    let shown = || Value::Object(mode::without_modes(record.clone())).to_string();
    let line = if as_json { visible_json(&shown()) } else { in_words(record) };
    match columns().filter(|_| !as_json) {
        Some(columns) => rows(&line, columns).iter().try_for_each(|row| writeln!(io::stdout(), "{row}")),
        None => writeln!(io::stdout(), "{line}"),
    }
}

/// Formats a record as one line: time, caller, decision, call.
fn in_words(record: &Map<String, Value>) -> String {
    let field = |key: &str| field(record, key);
    let ids: Vec<&str> = record
        .get("findings")
        .and_then(Value::as_array)
        .map(|findings| findings.iter().filter_map(|finding| finding.get("id")?.as_str()).collect())
        .unwrap_or_default();
    let actions =
        record.get("actions").and_then(Value::as_array).map(|actions| actions.iter().map(action).collect::<Vec<_>>());
    let about = match field("kind") {
        "call" if record.contains_key("probe") => "doctor or verify tried the hook".to_owned(),
        "call" => decided(record),
        "outcome" => ran(field("answered")),
        "changes" => format!("changed files: {}", changes(record)),
        kind => {
            let values = ["what", "mode", "pending", "task", "workspace", "verdict", "by", "reason", "because", "why"]
                .map(field);
            let values: Vec<&str> = values.into_iter().filter(|text| !text.is_empty()).collect();
            format!("{kind} {}", values.join(", "))
        }
    };
    let found = if ids.is_empty() { String::new() } else { format!("  [{}]", ids.join(", ")) };
    let text = actions.unwrap_or_default().join("; ");
    let text = visible(text.lines().next().unwrap_or(""));
    let time = moment_of(record).map_or_else(|| field("time").to_owned(), local);
    let [time, agent, about, found] = [&time, field("agent"), &about, &found].map(visible);
    format!("{time}  {agent:8}  {about}  {text}{found}")
}

/// Formats that a call ran, and who allowed it if a person did.
fn ran(answered: &str) -> String {
    if answered.is_empty() || answered == "nobody was asked" { "ran".to_owned() } else { format!("ran ({answered})") }
}

/// Returns the time of the record, in milliseconds since 1970.
fn moment_of(record: &Map<String, Value>) -> Option<u64> {
    moment(field(record, "time"))
}

/// Formats the decision, with the id for `reflex why` unless the call was plainly allowed.
fn decided(record: &Map<String, Value>) -> String {
    let decision = decision(record);
    let id = ["pending", "kept", "id"].map(|key| field(record, key)).into_iter().find(|id| !id.is_empty());
    id.filter(|_| decision != "allow").map_or(decision.to_owned(), |id| format!("{decision:5} {id}"))
}

fn verify(log: &Log, matches: &ArgMatches) -> io::Result<u8> {
    let mut progress = Progress::default();
    let checked = log.verify(&mut |records| {
        progress.at(records);
        true
    })?;
    drop(progress);
    if matches.get_flag("json") {
        let broken = checked.broken.as_ref().map(
            |broken| json!({"file": broken.file.display().to_string(), "line": broken.line, "problem": broken.problem.to_string()}),
        );
        let missing: Vec<Value> =
            checked.missing.iter().map(|missing| json!({"after": missing.after, "through": missing.through})).collect();
        let output = json!({"schema": "reflex/audit-check-v1", "records": checked.records, "purged": checked.purged, "broken": broken, "missing": missing});
        print_json(&output.to_string());
    } else if let Some(broken) = &checked.broken {
        print(&format!("broken: {}:{}: {}", broken.file.display(), broken.line, broken.problem));
    } else if checked.missing.is_empty() {
        print(&format!("complete: {} records, {} purged", checked.records, checked.purged));
    } else {
        checked.missing.iter().for_each(|missing| print(&format!("incomplete: {}", missing.description())));
        print(&format!("{} records, {} purged", checked.records, checked.purged));
    }
    let is_complete = checked.broken.is_none() && checked.missing.is_empty();
    Ok(if is_complete { exit_code::OK } else { exit_code::FOUND })
}

/// Switches texts in the log on or off. Omitting texts weakens the log, so only a person may do it, and it is logged.
fn texts(store: &Store, keep: bool) -> io::Result<u8> {
    if !keep && (person(store, "audit texts", "").is_none() || !may_weaken(store, "audit texts")) {
        return Ok(exit_code::FOUND);
    }
    store.note("texts", json!({"keep": keep}))?;
    store.keep_texts(keep).map(|()| exit_code::OK)
}

fn purge(store: &Store, matches: &ArgMatches) -> io::Result<u8> {
    let written = text(matches, "before");
    let Some(before) = time(written) else {
        complain(&format!("`{}` is not a time (e.g. 90d, 2026-11-21)", visible(written)));
        return Ok(exit_code::USAGE);
    };
    if person(store, "audit purge", "").is_none() || !may_weaken(store, "audit purge") {
        return Ok(exit_code::FOUND);
    }
    let mut progress = Progress::default();
    let reason = store.clean(text(matches, "reason"));
    let count = store.log().purge(before, &reason, &mut |records| progress.at(records))?;
    drop(progress);
    print(&format!("removed {count} records; the chain is intact"));
    Ok(exit_code::OK)
}
