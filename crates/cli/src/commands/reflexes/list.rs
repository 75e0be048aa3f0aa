//! `reflexes list`: what is listed for a folder, and whether it is what was added.

use super::{Here, failed};
use crate::commands::print;
use crate::status;
use crate::visible::visible;
use clap::ArgMatches;
use reflex_host::catalog::{Entry, Home, Locked, Origin, Package, name_of};
use serde_json::{Value, json};

/// One listed reflex.
struct Row {
    name: String,
    source: String,
    whose: &'static str,
    version: String,
    answers: String,
    state: String,
    with: Option<Value>,
}

pub(super) fn run(matches: &ArgMatches) -> u8 {
    let here = Here::new();
    let mut rows = Vec::new();
    let homes = [("project", Home::of_workspace(&here.workspace)), ("user", here.of_user())];
    for (whose, home) in &homes {
        match home.entries() {
            Ok(entries) => rows.extend(entries.into_iter().map(|entry| row(home, whose, entry))),
            Err(problem) => return failed(&problem),
        }
    }
    if matches.get_flag("json") {
        let rows: Vec<Value> = rows.iter().map(as_json).collect();
        print(&json!({"schema": "reflex/reflexes-v1", "reflexes": rows}).to_string());
        return status::OK;
    }
    if rows.is_empty() {
        print("no reflex is listed here; `reflex reflexes catalog search` prints those that ship");
    }
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    for row in rows {
        let padding = " ".repeat(width.saturating_sub(row.name.chars().count()));
        let (name, answers) = (visible(&row.name), visible(&row.answers));
        print(&format!(
            "{name}{padding}  {:7}  {:8}  {answers:10}  {}",
            row.whose,
            visible(&row.version),
            visible(&row.state)
        ));
    }
    status::OK
}

fn row(home: &Home, whose: &'static str, entry: Entry) -> Row {
    let name = name_of(&entry.source).to_owned();
    let locked = home.locked().into_iter().find(|locked| locked.entry == entry.source);
    let package = Origin::named(&entry.source, &home.folder, None).and_then(|origin| origin.fetch());
    let (version, answers, state) = match &package {
        Err(problem) => (String::new(), String::new(), problem.clone()),
        Ok(package) => {
            let answers = package.capability("decisions").unwrap_or_default().join(" ");
            let mut state = state(locked.as_ref(), &package.digest()).to_owned();
            let is_added = locked.as_ref().is_some_and(|locked| locked.digest == package.digest());
            if whose == "user" && !is_added && asks(package) {
                // In a project the grant is the trust in all that lies there.
                state.push_str("; what it may touch was not granted, `reflex reflexes add --user` asks for it");
            }
            (package.text("version").to_owned(), answers, state)
        }
    };
    Row { name, source: entry.source, whose, version, answers, state, with: entry.with }
}

/// Whether it wants something of the machine.
fn asks(package: &Package) -> bool {
    let powers = ["files", "writes", "network", "environment"];
    powers.iter().any(|key| package.capability(key).is_some_and(|list| !list.is_empty()))
}

fn state(locked: Option<&Locked>, digest: &str) -> &'static str {
    match locked {
        Some(locked) if locked.digest == digest => "as it was added",
        Some(_) => "changed since it was added",
        None => "written into the list by hand",
    }
}

fn as_json(row: &Row) -> Value {
    json!({
        "name": row.name, "source": row.source, "layer": row.whose, "version": row.version, "decisions": row.answers,
        "state": row.state, "with": row.with,
    })
}
