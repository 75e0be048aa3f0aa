//! `reflex status`: is the guard alive, and is there something a person should know?

use super::{ago, print};
use crate::status;
use clap::ArgMatches;
use reflex_host::person::at_terminal;
use reflex_host::store::Store;
use reflex_host::{Host, Mode, Wiring, timestamp};
use serde_json::{Value, json};

pub(super) fn run(matches: &ArgMatches) -> u8 {
    let store = Host::new(Mode::default()).store();
    let alarms = store.alarms();
    if matches.get_flag("json") {
        print(&as_json(&store).to_string());
    } else {
        show(&store);
    }
    if !alarms.is_empty() && !matches.get_flag("json") && at_terminal().is_ok() {
        // A person has seen them now; they stay in the audit log.
        store.acknowledge();
    }
    if alarms.is_empty() { status::OK } else { status::FOUND }
}

/// Whether the agent's settings start Reflex, as far as its own file tells.
fn wired(wiring: &Wiring) -> &'static str {
    match wiring.install() {
        Ok(change) if change.before.is_some() && change.before == change.after => "wired",
        Ok(_) => "not wired",
        Err(_) => "unreadable settings",
    }
}

/// The agents that are used here; where none is, the first that is known.
fn shown() -> Vec<Wiring> {
    let mut wirings = super::wire::chosen(None);
    wirings.retain(|wiring| !wiring.is_written_by_agent());
    wirings
}

fn as_json(store: &Store) -> Value {
    let blind = |wiring: &Wiring| -> Vec<Value> {
        wiring.limits().iter().map(|limit| json!({"what": limit.what, "instead": limit.instead})).collect()
    };
    let agent = |wiring: &Wiring| {
        let settings = wiring.file().display().to_string();
        json!({"agent": wiring.agent(), "settings": settings, "state": wired(wiring), "blind": blind(wiring)})
    };
    let agents: Vec<Value> = shown().iter().map(agent).collect();
    let beats: Vec<Value> = store
        .heartbeats()
        .iter()
        .map(|beat| json!({"agent": beat.agent, "surface": beat.surface, "time": timestamp(beat.time)}))
        .collect();
    let alarms: Vec<Value> = store
        .alarms()
        .iter()
        .map(|alarm| json!({"record": alarm.record, "time": timestamp(alarm.time), "text": alarm.text}))
        .collect();
    let off =
        store.pause().map(|pause| json!({"until": timestamp(pause.until), "by": pause.by, "reason": pause.reason}));
    json!({
        "schema": "reflex/status-v1", "version": env!("CARGO_PKG_VERSION"), "agents": agents, "heartbeats": beats,
        "off": off, "alarms": alarms, "pending": store.pending().len(), "audit": store.log().folder().display().to_string(),
    })
}

fn show(store: &Store) {
    match store.pause() {
        Some(pause) => {
            print(&format!("the guard is OFF until {} ({}): {}", timestamp(pause.until), pause.by, pause.reason))
        }
        None => print("the guard is on"),
    }
    let beats = store.heartbeats();
    for wiring in shown() {
        let last = beats.iter().filter(|beat| beat.agent == wiring.agent()).map(|beat| beat.time).max();
        let last = last.map_or("no call yet".to_owned(), |time| format!("last call {}", ago(time)));
        print(&format!("{}: {} in {}, {last}", wiring.agent(), wired(&wiring), wiring.file().display()));
        let blind = wiring.limits().iter().filter(|_| wired(&wiring) == "wired");
        blind.for_each(|limit| print(&format!("  BLIND: {}. What helps: {}", limit.what, limit.instead)));
    }
    for alarm in store.alarms() {
        print(&format!("ALARM {}: {}", timestamp(alarm.time), crate::visible::visible(&alarm.text)));
    }
    print(&format!(
        "{} calls wait or were refused (`reflex pending`); the log is in {}",
        store.pending().len(),
        store.log().folder().display()
    ));
}
