//! `reflex status`: reports whether the guard works, which calls of each agent it sees, and what a person should know.

use crate::commands::history::record::field;
use crate::commands::history::undo::total;
use crate::commands::setup::mode;
use crate::commands::setup::status_facts::{DAYS, places, reflex_problems, shown, truth};
use crate::commands::setup::status_summary::{self, headline};
use crate::exit_code;
use crate::terminal::age::ago;
use crate::terminal::output::{print, print_json};
use crate::terminal::paint::Paint;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::answers::{counts, waiting};
use reflex_host::assurance::{Assurance, assurance};
use reflex_host::client::fails_open;
use reflex_host::matrix::{Cell, Coverage, Row};
use reflex_host::person::at_terminal;
use reflex_host::signing::InForce;
use reflex_host::store::canary::Kept;
use reflex_host::store::{Search, Store};
use reflex_host::{Context, Mode, Wiring, local, now, timestamp};
use reflex_supervise::is_below_supervisor;
use serde_json::{Map, Value, json};

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let store = context.store();
    let alarms = store.alarms();
    if matches.get_flag("json") {
        print_json(&as_json(context, &store).to_string());
    } else if matches.get_flag("all") {
        show(context, &store);
    } else {
        status_summary::show(context, &store);
    }
    if !alarms.is_empty() && !matches.get_flag("json") && at_terminal().is_ok() {
        // A person has seen the alarms now; they stay in the audit log.
        store.acknowledge();
    }
    if alarms.is_empty() && !status_summary::is_guard_off(context, &store) { exit_code::OK } else { exit_code::FOUND }
}

/// Returns the full status as JSON.
pub(in crate::commands) fn as_json(context: &Context, store: &Store) -> Value {
    let beats = store.heartbeats();
    let agents: Vec<Value> =
        shown(context).iter().map(|wiring| agent(wiring, &truth(wiring, &beats, store), store)).collect();
    let beats: Vec<Value> = beats
        .iter()
        .map(|beat| json!({"agent": beat.agent, "surface": beat.surface, "time": timestamp(beat.time)}))
        .collect();
    let alarms: Vec<Value> = store
        .alarms()
        .iter()
        .map(|alarm| json!({"record": alarm.record, "time": timestamp(alarm.time), "text": alarm.text}))
        .collect();
    let off =
        store.pause().map(|pause| json!({"until": timestamp(pause.until), "by": pause.by, "reason": pause.reason, "within": pause.within}));
    let reflexes: Vec<Value> =
        reflex_problems(context).iter().map(|(what, instead)| json!({"what": what, "instead": instead})).collect();
    let kept = context.host(Mode::default()).backups().listed();
    let kept = json!({"backups": kept.len(), "bytes": kept.iter().map(|known| known.stored()).sum::<u64>()});
    let (now, earlier) = counts(&waiting(store));
    json!({
        "mode": mode::for_person(context, store), "kept": kept, "reflexes": reflexes, "approvals": approvals(store),
        "schema": "reflex/status-v1", "version": env!("CARGO_PKG_VERSION"), "supervised": is_below_supervisor(), "agents": agents, "heartbeats": beats,
        "unjudged": {"days": DAYS, "calls": unjudged(store).len(), "tools": tools(&unjudged(store))},
        "off": off, "alarms": alarms, "places": places(context), "pending": now, "stopped_earlier": earlier, "audit": store.log().folder().display().to_string(),
    })
}

fn approvals(store: &Store) -> Value {
    match store.key_in_force() {
        InForce::Unprotected => json!({"state": "unprotected"}),
        InForce::Key(key) => json!({"state": "signed", "key": key.to_string()}),
        key @ (InForce::Disputed(_) | InForce::Detached) => json!({"state": "disputed", "why": key.problem()}),
    }
}

/// Describes the protection of a person's yes.
fn protection(store: &Store) -> String {
    match store.key_in_force() {
        InForce::Unprotected => "approvals are not protected: `reflex pin` sets a passphrase".into(),
        InForce::Key(key) => format!("approvals are signed with the key {}", key.short()),
        key @ (InForce::Disputed(_) | InForce::Detached) => {
            format!("NO APPROVAL COUNTS: {}; `{}` mends it", key.problem().unwrap_or_default(), key.remedy())
        }
    }
}

fn agent(wiring: &Wiring, row: &Row, store: &Store) -> Value {
    let live = store.proof(wiring.agent()).map(|proof| {
        json!({"state": proof.state, "outcome": proof.outcome, "time": timestamp(proof.time), "version": proof.version, "folder": proof.folder})
    });
    let limits = row.agent.limits.iter().map(|limit| json!({"what": limit.what, "instead": limit.instead}));
    let surfaces = row.cells.iter().map(|cell| (cell.surface.name().to_owned(), surface(cell)));
    json!({
        "agent": row.agent.name, "settings": wiring.file().display().to_string(),
        "state": if row.broken.is_none() { "wired" } else { "not wired" }, "problem": row.broken, "lapsed": row.lapsed,
        "live": live, "assurance": assurance(wiring).name(), "fails_open": fails_open(wiring).map(|trouble| trouble.what), "enforcement": row.agent.enforcement().name(), "banner": row.agent.banner(),
        "surfaces": surfaces.collect::<Map<String, Value>>(), "limits": limits.collect::<Vec<Value>>(),
    })
}

fn surface(cell: &Cell) -> Value {
    let except: Vec<Value> =
        cell.except.iter().map(|limit| json!({"what": limit.what, "instead": limit.instead})).collect();
    match &cell.sight {
        Coverage::Proven(time) => {
            let seconds = reflex_host::now().saturating_sub(*time) / 1000;
            json!({"state": "PROVEN", "last_call": timestamp(*time), "age_seconds": seconds, "except": except})
        }
        Coverage::Configured => json!({"state": "CONFIGURED", "except": except}),
        Coverage::Blind(why, instead) => json!({"state": "BLIND", "reason": why, "mitigation": instead}),
        Coverage::Off(why, instead) => json!({"state": "OFF", "reason": why, "mitigation": instead}),
    }
}

fn show(context: &Context, store: &Store) {
    let beats = store.heartbeats();
    let rows: Vec<Row> = shown(context).iter().map(|wiring| truth(wiring, &beats, store)).collect();
    print(&headline(store, &rows.iter().collect::<Vec<_>>()).0);
    mode::for_person(context, store).iter().for_each(|modes| print(&format!("mode {modes}")));
    for row in &rows {
        surfaces(row);
        store.proof(row.agent.name).iter().for_each(|proof| print(&format!("  *  {}", proven(proof))));
        remarks(row);
    }
    print("");
    for (what, instead) in reflex_problems(context) {
        print(&visible(&format!("{what} What helps: {instead}")));
    }
    for line in levels(context, &rows).into_iter().chain(places(context)) {
        print(&visible(&line));
    }
    if is_below_supervisor() {
        print("assurance supervised (this terminal): the run above judges every program that starts here");
    }
    print(&visible(&protection(store)));
    for alarm in store.alarms() {
        print(&format!("ALARM {}: {}", local(alarm.time), visible(&alarm.text)));
    }
    let unjudged = unjudged(store);
    if !unjudged.is_empty() {
        print(&visible(&format!(
            "{} calls of unknown tools in {DAYS} days: {} (`rules: {{tool/unjudged: ask}}` asks about them)",
            unjudged.len(),
            tools(&unjudged).join(", ")
        )));
    }
    print(&total(&context.host(Mode::default()).backups()));
    let (now, earlier) = counts(&waiting(store));
    print(&format!(
        "{now} waiting now, {earlier} stopped earlier (`reflex pending`); the log is in {}",
        store.log().folder().display()
    ));
}

/// Returns warnings about old clients, and the assurance level of each guarded agent.
fn levels(context: &Context, rows: &[Row]) -> Vec<String> {
    let guarded: Vec<Wiring> = shown(context).into_iter().filter(|wiring| is_guarded(wiring, rows)).collect();
    let open = guarded.iter().filter_map(fails_open);
    let open = open.map(|trouble| format!("{}. What helps: {}", trouble.what, trouble.fix));
    let mut lines: Vec<String> = open.collect();
    let levels: Vec<(&str, Assurance)> = guarded.iter().map(|wiring| (wiring.agent(), assurance(wiring))).collect();
    for level in ["managed", "user"] {
        let of: Vec<&(&str, Assurance)> = levels.iter().filter(|(_, reached)| reached.name() == level).collect();
        let Some((_, first)) = of.first() else { continue };
        let names: Vec<&str> = of.iter().map(|(name, _)| *name).collect();
        let means = match first {
            Assurance::Managed => "only root can remove the guard".to_owned(),
            Assurance::User(missing) => {
                format!("programs of yours that are not judged can remove the guard ({missing}; docs/wiring.md)")
            }
        };
        lines.push(format!("assurance {level} ({}): {means}", names.join(", ")));
    }
    lines
}

fn is_guarded(wiring: &Wiring, rows: &[Row]) -> bool {
    rows.iter().any(|row| row.agent.name == wiring.agent() && row.broken.is_none())
}

/// Returns the tool of each unjudged call. An unreadable log yields none: `reflex audit` reports the error.
fn unjudged(store: &Store) -> Vec<String> {
    let since = Some(timestamp(now().saturating_sub(DAYS * 24 * 60 * 60 * 1000)));
    let search = Search { since, fields: vec![("unjudged".into(), "true".into())], ..Search::default() };
    let records = store.log().search(&search, usize::MAX).unwrap_or_default();
    records.iter().map(|record| field(record, "tool").to_owned()).collect()
}

/// Returns each tool once, at most as many as fit on a line.
fn tools(calls: &[String]) -> Vec<&str> {
    const MAX_TOOLS: usize = 8;
    let mut tools: Vec<&str> = calls.iter().map(String::as_str).collect();
    tools.sort_unstable();
    tools.dedup();
    tools.truncate(MAX_TOOLS);
    tools
}

/// Describes the last result of `reflex verify --live`.
fn proven(proof: &Kept) -> String {
    let version = if proof.version.is_empty() { String::new() } else { format!(", version {}", proof.version) };
    let result = format!("{} live, {}{version}", proof.state, ago(proof.time));
    visible(&format!("{result}, in {}", proof.folder))
}

/// Prints the agent, and each surface with the strongest evidence that its calls are seen. A star marks a remark below.
fn surfaces(row: &Row) {
    let word = |cell: &Cell| {
        let mark = if cell.except.is_empty() { "" } else { "*" };
        let seen = match &cell.sight {
            Coverage::Proven(time) => format!("seen {}", ago(*time)),
            Coverage::Configured => "set up".to_owned(),
            Coverage::Blind(..) => "not seen".to_owned(),
            Coverage::Off(..) => "off".to_owned(),
        };
        format!("{}: {seen}{mark}", cell.surface.name())
    };
    let title = Paint::of_stdout().bold(row.agent.title);
    print(&format!("\n{title} ({})", row.agent.enforcement().name()));
    print(&format!("  {}", row.cells.iter().map(word).collect::<Vec<_>>().join(" · ")));
}

/// Prints each reason once, with the surfaces that it concerns.
fn remarks(row: &Row) {
    let mut reported: Vec<(String, Vec<&str>)> = Vec::new();
    for cell in &row.cells {
        let blind = match &cell.sight {
            Coverage::Blind(why, instead) => Some(format!("BLIND: {why}. What helps: {instead}")),
            Coverage::Off(why, instead) => Some(format!("OFF: {why}. What helps: {instead}")),
            Coverage::Proven(_) | Coverage::Configured => None,
        };
        let except = cell.except.iter().filter(|_| blind.is_none());
        let except = except.map(|limit| format!("not seen: {}. What helps: {}", limit.what, limit.instead));
        for remark in except.chain(blind.clone()) {
            match reported.iter_mut().find(|(known, _)| *known == remark) {
                Some((_, surfaces)) => surfaces.push(cell.surface.name()),
                None => reported.push((remark, vec![cell.surface.name()])),
            }
        }
    }
    for (remark, surfaces) in reported {
        print(&format!("  *  {}: {remark}", surfaces.join(", ")));
    }
    if let Some(why) = &row.lapsed {
        print(&format!("  *  set up, not proven: {why}. The next call proves it again"));
    }
    if !row.agent.was_driven() {
        print("  *  from its documents; no client was driven");
    }
    if row.broken.is_some() {
        return;
    }
    let switched = row.agent.limits.iter().filter(|limit| limit.extent == reflex_agents::Extent::IfSwitched);
    switched.for_each(|limit| print(&format!("  *  not seen: {}. What helps: {}", limit.what, limit.instead)));
}
