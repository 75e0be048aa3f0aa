//! `reflexes catalog`: searches the bundled list or a registry; creates a registry.

use super::here::{Here, failed};
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::output::{complain, print};
use crate::terminal::person::person;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::catalog::{Listed, Registry, build, official, search};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn run(matches: &ArgMatches) -> u8 {
    match matches.subcommand() {
        Some(("search", matches)) => find(matches),
        Some(("build", matches)) => make(matches),
        _ => exit_code::USAGE,
    }
}

fn find(matches: &ArgMatches) -> u8 {
    let all = match matches.get_one::<String>("registry") {
        Some(word) => listed(word),
        None => Ok(official()),
    };
    let mut all = match all {
        Ok(all) => all,
        Err(problem) => return failed(&problem),
    };
    let words: Vec<&str> = matches.get_many::<String>("word").into_iter().flatten().map(String::as_str).collect();
    all.retain(|listed| listed.fits(&words));
    if matches.get_flag("json") {
        let rows: Vec<Value> = all.iter().map(row).collect();
        print(&json!({"schema": "reflex/catalog-v1", "reflexes": rows}).to_string());
    } else {
        let width = all.iter().map(|listed| listed.name.chars().count()).max().unwrap_or(0);
        for listed in &all {
            let padding = " ".repeat(width.saturating_sub(listed.name.chars().count()));
            let (name, description) = (visible(&listed.name), visible(&listed.description));
            print(&format!("{name}{padding}  {:10}  {description}", visible(&listed.decisions.join(" "))));
        }
    }
    if all.is_empty() {
        complain(&format!("no reflex matches `{}`", visible(&words.join(" "))));
        return exit_code::FOUND;
    }
    exit_code::OK
}

/// Returns the entries of a registry. Only a person queries another machine: the query itself discloses something.
fn listed(word: &str) -> Result<Vec<Listed>, String> {
    let here = Here::new();
    let registry = Registry::named(word, &here.cwd)?;
    if registry.is_remote() && person(&here.host.store(), "reflexes catalog", &registry.shown()).is_none() {
        return Err(format!("not fetching {}", registry.shown()));
    }
    search(&registry)
}

fn row(listed: &Listed) -> Value {
    json!({
        "name": listed.name, "title": listed.title, "description": listed.description, "version": listed.version,
        "tags": listed.tags, "decisions": listed.decisions, "official": listed.official,
    })
}

fn make(matches: &ArgMatches) -> u8 {
    let (folder, out) = (text(matches, "folder"), text(matches, "out"));
    match build(Path::new(folder), Path::new(out)) {
        Ok(count) => {
            print(&format!("{count} reflexes in {}", visible(out)));
            exit_code::OK
        }
        Err(problem) => failed(&problem),
    }
}
