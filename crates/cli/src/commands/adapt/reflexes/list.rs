//! `reflexes list`: lists the reflexes of a folder, and whether each still matches the added version.

use super::here::Here;
use crate::error::Error;
use crate::exit_code;
use crate::terminal::output::print;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_engine::Authority;
use reflex_host::Context;
use reflex_host::catalog::{Entry, Home, Locked, Origin, name_of};
use reflex_host::reflexes::{ReflexFolder, reflex_folders};
use serde_json::{Value, json};
use std::path::Path;

/// One listed reflex.
struct Row {
    name: String,
    source: String,
    layer: &'static str,
    version: String,
    answers: String,
    state: String,
    with: Option<Value>,
}

pub(super) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let here = Here::new(context);
    let mut rows = Vec::new();
    let known = reflex_folders(here.host.folders(), (&here.workspace, &here.cwd), &here.host.store());
    let below = known.iter().filter(|one| one.authority == Authority::Project);
    let mut homes: Vec<(&str, Home)> =
        below.map(|one| ("project", Home::below(&here.workspace, &one.folder))).collect();
    homes.push(("user", here.of_user()));
    for (layer, home) in &homes {
        let of_folder = known.iter().find(|one| one.folder == home.folder);
        match home.entries() {
            Ok(entries) => {
                rows.extend(entries.into_iter().map(|entry| row((&here, home), layer, (entry, of_folder))));
            }
            Err(error) => return Error::from(error).report(),
        }
    }
    if matches.get_flag("json") {
        let rows: Vec<Value> = rows.iter().map(as_json).collect();
        print(&json!({"schema": "reflex/reflexes-v1", "reflexes": rows}).to_string());
        return exit_code::OK;
    }
    if rows.is_empty() {
        print("no reflexes here; `reflex reflexes catalog search` lists those that ship");
    }
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    for row in rows {
        let padding = " ".repeat(width.saturating_sub(row.name.chars().count()));
        let (name, answers) = (visible(&row.name), visible(&row.answers));
        print(&format!(
            "{name}{padding}  {:7}  {:8}  {answers:10}  {}",
            row.layer,
            visible(&row.version),
            visible(&row.state)
        ));
    }
    for (what, instead) in known.iter().filter_map(ReflexFolder::problem) {
        print(&visible(&format!("{what} What helps: {instead}")));
    }
    exit_code::OK
}

fn row((here, home): (&Here, &Home), layer: &'static str, (entry, of_folder): (Entry, Option<&ReflexFolder>)) -> Row {
    let name = name_of(&entry.source).to_owned();
    let locked = home.locked().into_iter().find(|locked| locked.entry == entry.source);
    let entry_origin = Origin::named(&entry.source, &home.folder);
    let package = home.installed(&entry.source);
    let (version, answers, state) = match &package {
        Err(problem) => (String::new(), String::new(), problem.to_string()),
        Ok(package) => {
            let answers = package.capability("decisions").unwrap_or_default().join(" ");
            let mut state = state(locked.as_ref(), &package.digest()).to_owned();
            if of_folder.is_some_and(|one| one.untrusted.is_some() && !matches!(entry_origin, Ok(Origin::Official(_))))
            {
                state.push_str("; not in force");
            } else if of_folder.is_some_and(|one| one.ungranted.contains(&package.name)) {
                state.push_str("; what it may touch was not granted");
            }
            (package.text("version").to_owned(), answers, state)
        }
    };
    let folder = home.folder.strip_prefix(&here.workspace).ok().filter(|below| *below != Path::new(".reflex"));
    let state =
        folder.filter(|_| layer == "project").map_or(state.clone(), |below| format!("{state}; in {}", below.display()));
    Row { name, source: entry.source, layer, version, answers, state, with: entry.with }
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
        "name": row.name, "source": row.source, "layer": row.layer, "version": row.version, "decisions": row.answers,
        "state": row.state, "with": row.with,
    })
}
