//! `reflex status` without `--all`: a headline, one row for each agent, and the items that need a person.

use crate::commands::setup::mode;
use crate::commands::setup::selection::has_hook;
use crate::commands::setup::status_facts::{
    Evidence, evidence, places, policy_problems, reflex_problems, shown, truth,
};
use crate::terminal::age::{ago, until};
use crate::terminal::output::print;
use crate::terminal::paint::Paint;
use crate::terminal::table::print_table;
use crate::terminal::visible::visible;
use crate::terminal::wrap::{columns, width};
use reflex_engine::Event;
use reflex_host::answers::{counts, waiting};
use reflex_host::assurance::{Assurance, assurance};
use reflex_host::client::{client_version, fails_open};
use reflex_host::matrix::Row;
use reflex_host::notices::desktop_trouble;
use reflex_host::signing::InForce;
use reflex_host::state_folder::obstacle;
use reflex_host::store::Store;
use reflex_host::{Context, Mode, Wiring, local};

pub(in crate::commands) fn show(context: &Context, store: &Store) {
    let paint = Paint::of_stdout();
    let beats = store.heartbeats();
    let agents: Vec<(Wiring, Row)> = shown(context)
        .into_iter()
        .map(|wiring| {
            let row = truth(&wiring, &beats, store);
            (wiring, row)
        })
        .collect();
    if let Some(absent) = absent(store, &agents) {
        print(&paint.decision_as("block", &absent));
        modes(context, store, paint);
        alarms(store, paint);
        reflexes(context);
        policies(context);
        return;
    }
    let rows: Vec<&Row> = agents.iter().map(|(_, row)| row).collect();
    let (text, is_on) = headline(store, &rows);
    let painted = if is_on { paint.decision_as("allow", &text) } else { paint.decision_as("block", &text) };
    let facts = facts(context, store);
    match columns().filter(|columns| width(&text) + width(&facts) + 2 <= *columns) {
        Some(columns) => {
            let columns = columns.min(96);
            let gap = columns.saturating_sub(width(&text) + width(&facts)).max(2);
            print(&format!("{painted}{}{}", " ".repeat(gap), paint.faint(&facts)));
        }
        None => {
            print(&painted);
            print(&paint.faint(&facts));
        }
    }
    modes(context, store, paint);
    let table: Vec<Vec<String>> = agents.iter().map(|(wiring, row)| agent(wiring, row, store, paint)).collect();
    print_table(2, &table);
    alarms(store, paint);
    let key = store.key_in_force();
    if let Some(problem) = key.problem() {
        print(&format!("! NO APPROVAL COUNTS: {problem}: run `{}`", key.remedy()));
    }
    let open = agents.iter().filter(|(_, row)| row.broken.is_none()).filter_map(|(wiring, _)| fails_open(wiring));
    open.for_each(|trouble| print(&format!("! {}: {}", visible(&trouble.what), visible(&trouble.fix))));
    reflexes(context);
    let host = context.host(Mode::default());
    if let Some(trouble) = Some(host.folders()).filter(|folders| folders.state.exists()).and_then(obstacle) {
        print(&format!("! {}: {}", visible(&trouble.what), visible(&trouble.fix)));
    }
    let loaded = host.layers(&host.placed(Event::default()).workspace);
    if let Some(trouble) = desktop_trouble(&loaded) {
        print(&format!("! {}: {}", visible(&trouble.what), visible(&trouble.fix)));
    }
    policies(context);
    places(context).iter().for_each(|line| print(&format!("! {}", visible(line))));
    print(&paint.faint("Details and gaps: reflex status --all"));
}

/// Returns the one sentence that matters if no agent here has the hook.
fn absent(store: &Store, agents: &[(Wiring, Row)]) -> Option<String> {
    let is_absent =
        |(wiring, row): &(Wiring, Row)| row.broken.is_some() && !has_hook(wiring) && !wiring.was_installed();
    if store.pause().is_some() || !agents.iter().all(is_absent) {
        return None;
    }
    Some(match store.key_in_force() {
        InForce::Detached => "Reflex is not installed; a passphrase from before is kept".to_owned(),
        InForce::Unprotected | InForce::Key(_) | InForce::Disputed(_) => {
            "Reflex is not installed; `reflex init` installs it".to_owned()
        }
    })
}

/// Prints what keeps modules from running.
fn reflexes(context: &Context) {
    for (problem, remedy) in reflex_problems(context) {
        print(&format!("! {} Remedy: {}", visible(&problem), visible(&remedy)));
    }
}

/// Prints what keeps policies from counting.
fn policies(context: &Context) {
    policy_problems(context).iter().for_each(|line| print(&format!("! {}", visible(line))));
}

fn modes(context: &Context, store: &Store, paint: Paint) {
    if let Some(modes) = mode::for_person(context, store) {
        print(&paint.decision_as("warn", &format!("mode {modes}")));
    }
}

fn alarms(store: &Store, paint: Paint) {
    for alarm in store.alarms() {
        let alarm = format!("ALARM {}: {}", local(alarm.time), visible(&alarm.text));
        print(&paint.decision_as("block", &alarm));
    }
}

/// Returns a sentence on whether the guard is on for the agents that are used here, and whether it is on for all.
pub(in crate::commands) fn headline(store: &Store, rows: &[&Row]) -> (String, bool) {
    if let Some(pause) = store.pause() {
        let (end, place) = (until(pause.until), pause.place());
        return (format!("Reflex is OFF{place} for {end} ({}): {}", pause.by, visible(&pause.reason)), false);
    }
    let off: Vec<&str> = rows.iter().filter(|row| row.broken.is_some()).map(|row| row.agent.title).collect();
    match off.as_slice() {
        [] => ("Reflex is on".to_owned(), true),
        all if all.len() == rows.len() => ("Reflex is OFF: no agent here uses it".to_owned(), false),
        some => (format!("Reflex is OFF for {}", some.join(", ")), false),
    }
}

/// Describes the passphrase, the waiting calls and the backups.
fn facts(context: &Context, store: &Store) -> String {
    let key = match store.key_in_force() {
        InForce::Unprotected => "no passphrase (reflex pin)",
        InForce::Key(_) => "passphrase set",
        InForce::Disputed(_) | InForce::Detached => "passphrase disputed",
    };
    let backups = context.host(Mode::default()).backups().listed().len();
    let backups = if backups == 1 { "1 backup".to_owned() } else { format!("{backups} backups") };
    format!("{key} · {} waiting · {backups}", counts(&waiting(store)).0)
}

fn agent(wiring: &Wiring, row: &Row, store: &Store, paint: Paint) -> Vec<String> {
    let title = row.agent.title.to_owned();
    let version = visible(&client_version(wiring).unwrap_or_default());
    if let Some(problem) = &row.broken {
        return vec![title, version, paint.decision_as("block", "OFF"), visible(problem)];
    }
    let (mark, proof) = match evidence(row, store) {
        Some(evidence) => (paint.decision_as("allow", "ok"), proof(evidence)),
        None if row.lapsed.is_some() => (paint.decision_as("warn", "?"), "changed, not proven since".to_owned()),
        None => (paint.decision_as("warn", "?"), "no call seen yet".to_owned()),
    };
    let gaps = row.agent.limits.len();
    let gaps = if gaps == 1 { "1 known gap".to_owned() } else { format!("{gaps} known gaps") };
    // The usual level says nothing.
    let level = match assurance(wiring) {
        Assurance::User(_) => String::new(),
        level @ Assurance::Managed => level.name().to_owned(),
    };
    vec![title, version, mark, proof, gaps, level]
}

/// Describes the evidence that the client calls the hook, with its age.
fn proof(evidence: Evidence) -> String {
    match evidence {
        Evidence::Proven(time) => format!("proven {}", ago(time)),
        Evidence::Called(time) => format!("called {}", ago(time)),
    }
}

/// Whether a script should stop: the guard is off for an agent that is used here, or paused.
pub(in crate::commands) fn is_guard_off(context: &Context, store: &Store) -> bool {
    let beats = store.heartbeats();
    store.pause().is_some() || shown(context).iter().any(|wiring| truth(wiring, &beats, store).broken.is_some())
}
