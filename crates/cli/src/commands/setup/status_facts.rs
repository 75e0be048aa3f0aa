//! Facts shared by the forms of `reflex status`.

use crate::commands::setup::selection::{self, wired_in_project};
use crate::terminal::age::ago;
use reflex_engine::Event;
use reflex_host::live::Outcome;
use reflex_host::matrix::{Coverage, Row, row};
use reflex_host::reflexes::{ReflexFolder, reflex_folders};
use reflex_host::store::heartbeat::Heartbeat;
use reflex_host::store::{Search, Store};
use reflex_host::{Context, Mode, Wiring, now, timestamp};
use serde_json::Value;
use std::path::Path;

/// Number of days for which calls of unknown tools are counted.
pub(in crate::commands) const DAYS: u64 = 7;

/// Returns the agents that are used here, or the first known agent if none is used.
pub(in crate::commands) fn shown(context: &Context) -> Vec<Wiring> {
    let mut wirings = selection::chosen(context, None);
    wirings.retain(|wiring| !wiring.is_written_by_agent());
    // An agent with the hook only in this project is guarded as well.
    for of_project in wired_in_project(context) {
        match wirings.iter_mut().find(|wiring| wiring.agent() == of_project.agent()) {
            Some(of_user) if row(of_user, &[]).broken.is_some() => *of_user = of_project,
            Some(_) => {}
            None => wirings.push(of_project),
        }
    }
    wirings
}

/// Returns the row of an agent. If its client was seen to run refused calls, further calls prove nothing.
pub(in crate::commands) fn truth(wiring: &Wiring, beats: &[Heartbeat], store: &Store) -> Row {
    let mut row = row(wiring, beats);
    let ignored = store.proof(wiring.agent()).filter(|proof| proof.outcome == Outcome::Ignored.name());
    if let Some(proof) = ignored {
        let why = format!("{} its client ran what the hook had refused", ago(proof.time));
        let fix = format!("another version of it, then reflex verify --live --agent {}", wiring.agent());
        row.cells.iter_mut().for_each(|cell| cell.sight = Coverage::Off(why.clone(), fix.clone()));
        row.broken = row.broken.or(Some(why));
    }
    row
}

/// The strongest evidence that a client calls the hook, with its time in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Evidence {
    /// The real client was started with a canary.
    Proven(u64),
    /// The client made a call.
    Called(u64),
}

/// Returns the evidence for the hook as it is now; `None` also if its settings changed since.
pub(in crate::commands) fn evidence(row: &Row, store: &Store) -> Option<Evidence> {
    if row.lapsed.is_some() {
        return None;
    }
    let live = store.proof(row.agent.name).filter(|proof| proof.state == Outcome::Proven.word());
    match (live.map(|proof| proof.time), last_call(row)) {
        (Some(live), called) if called.is_none_or(|called| called <= live) => Some(Evidence::Proven(live)),
        (_, Some(called)) => Some(Evidence::Called(called)),
        (Some(_), None) | (None, None) => None,
    }
}

/// Returns the time of the last call that proves the hook.
pub(in crate::commands) fn last_call(row: &Row) -> Option<u64> {
    let called = row.cells.iter().filter_map(|cell| match cell.sight {
        Coverage::Proven(time) => Some(time),
        Coverage::Configured | Coverage::Blind(..) | Coverage::Off(..) => None,
    });
    called.max()
}

/// Describes the home of the guard's files, if the environment points elsewhere or is its only source.
pub(in crate::commands) fn places(context: &Context) -> Vec<String> {
    let host = context.host(Mode::default());
    let folders = host.folders();
    let state = folders.state.display();
    let elsewhere: Vec<String> = folders.elsewhere.iter().map(|folder| folder.display().to_string()).collect();
    let moved = (!elsewhere.is_empty()).then(|| {
        format!("HOME or XDG_* of this environment lead to {}; Reflex keeps to {state}", elsewhere.join(", "))
    });
    let unproven = folders.may_only_tighten().then(|| {
        format!("No user database and no `--home` names your home: the files in {state} may only tighten, and no approval counts")
    });
    moved.into_iter().chain(unproven).collect()
}

/// Returns the errors in people's rules and policies that are in force here.
pub(in crate::commands) fn policy_problems(context: &Context) -> Vec<String> {
    let host = context.host(Mode::default());
    let workspace = host.placed(Event::default()).workspace;
    let layers = host.layers(&workspace);
    let problems = layers.iter().flat_map(|one| &one.layer.problems);
    problems.map(|problem| format!("{problem}: run `reflex rules validate`")).collect()
}

/// Returns the problems of the reflexes that are listed for this folder, each with its remedy.
pub(in crate::commands) fn reflex_problems(context: &Context) -> Vec<(String, String)> {
    let host = context.host(Mode::default());
    let here = host.placed(Event::default());
    let place = (Path::new(&here.workspace), Path::new(&here.cwd));
    let lists = reflex_folders(host.folders(), place, &host.store());
    let missing = lists.iter().flat_map(ReflexFolder::missing_problems);
    lists.iter().filter_map(ReflexFolder::problem).chain(missing).chain(missed(&host.store())).collect()
}

/// Returns the words that reflexes recently requested but may not see, each once.
fn missed(store: &Store) -> Vec<(String, String)> {
    const MAX_MISSED: usize = 200;
    let since = Some(timestamp(now().saturating_sub(DAYS * 24 * 60 * 60 * 1000)));
    let search = Search { since, texts: vec!["missed".into()], ..Search::default() };
    let records = store.log().search(&search, MAX_MISSED).unwrap_or_default();
    let reports = records.iter().filter_map(|record| record.get("reflexes")?.as_array()).flatten();
    let mut problems: Vec<(String, String)> = Vec::new();
    for report in reports {
        let name = report.get("name").and_then(Value::as_str).unwrap_or("");
        let words = report.get("missed").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for word in words {
            let what = format!("The reflex `{name}` looked for `{word}`, which it may not see.");
            if problems.len() < MAX_MISSED && problems.iter().all(|(known, _)| *known != what) {
                problems
                    .push((what, format!("name it under `capabilities` in the manifest of `{name}`, and accept it")));
            }
        }
    }
    problems
}
