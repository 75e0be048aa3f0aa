//! `reflexes catalog`: searches the reflexes that ship.

use crate::exit_code;
use crate::terminal::output::{complain, print};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::catalog::{Listed, official};
use serde_json::{Value, json};

pub(super) fn run(matches: &ArgMatches) -> u8 {
    match matches.subcommand() {
        Some(("search", matches)) => find(matches),
        _ => exit_code::USAGE,
    }
}

fn find(matches: &ArgMatches) -> u8 {
    let mut all = official();
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

fn row(listed: &Listed) -> Value {
    json!({
        "name": listed.name, "title": listed.title, "description": listed.description, "version": listed.version,
        "tags": listed.tags, "decisions": listed.decisions,
    })
}
