//! `pending`, `approve`, `deny`, `grants`, `off`: what a person says about calls. Nothing here works for an agent.

use crate::commands::waiting::waiting;
use crate::status;
use crate::terminal::age::ago;
use crate::terminal::arguments::text;
use crate::terminal::confirm::{answer, confirmed};
use crate::terminal::consent::Consent;
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::paint::Paint;
use crate::terminal::person::{person, record};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_engine::Event;
use reflex_host::person::Person;
use reflex_host::store::Store;
use reflex_host::store::approvals::{Grant, Pending, Scope};
use reflex_host::store::life::{LONGEST_PAUSE, Pause};
use reflex_host::{Host, Mode, duration, now, timestamp};
use serde_json::{Value, json};

/// A yes holds so long if nothing else is said.
const USUAL: u64 = 15 * 60_000;

/// A yes holds at most 30 days.
const LONGEST: u64 = 30 * 86_400_000;

fn store() -> Store {
    Host::new(Mode::default()).store()
}

/// `reflex pending`: the calls that wait for a person.
pub(super) fn pending(matches: &ArgMatches) -> u8 {
    if matches.get_flag("answer") {
        return answer_all(&store());
    }
    let all = waiting(&store());
    if matches.get_flag("json") {
        let rows: Vec<Value> = all.iter().map(Pending::json).collect();
        print_json(&json!({"schema": "reflex/pending-list-v1", "pending": rows}).to_string());
        return status::OK;
    }
    if all.is_empty() {
        print("no pending calls");
    }
    all.iter().for_each(list);
    status::OK
}

fn list(call: &Pending) {
    let first = call.text.lines().next().unwrap_or("");
    print(&format!(
        "{}  {:>8}  {:5}  {}: {}",
        call.id,
        ago(call.time),
        call.decision,
        visible(&call.client),
        visible(first)
    ));
    for appeal in &call.appeals {
        print(&format!("           {} asks, because: {}", visible(&appeal.by), visible(&appeal.because)));
    }
}

/// `reflex pending --answer`: one call after another. The key stays unlocked in this process alone, and ends with it.
fn answer_all(store: &Store) -> u8 {
    let Some(person) = person(store, "pending --answer", "") else { return status::FOUND };
    let mut consent = match Consent::held(store) {
        Ok(Some(consent)) => consent,
        Ok(None) => return status::FOUND,
        Err(problem) => {
            complain(&visible(&problem));
            return status::FOUND;
        }
    };
    loop {
        let all = waiting(store);
        all.iter().for_each(list);
        let waits = if all.is_empty() { "no pending calls" } else { "which one?" };
        let Some(word) = answer(&format!("{waits} (its id; Enter looks again, q ends) ")) else { return status::OK };
        let id = match word.trim() {
            "q" => return status::OK,
            "" if word.is_empty() => return status::OK,
            "" => continue,
            id => id,
        };
        let Some(call) = all.iter().find(|call| call.id == id) else {
            complain(&format!("no call `{}` waits", visible(id)));
            continue;
        };
        match preview_and_give(store, (call, &once(call, &person, "")), View::Full, &mut consent) {
            Ok(true) => {}
            Ok(false) if confirmed("Remove it from the list? [y/N] ") => {
                let fields = json!({"pending": call.id, "of": call.record, "by": person.name});
                let done = record(store, "denial", fields)
                    .and_then(|()| store.forget_pending(&call.id).map_err(|error| error.to_string()));
                finish(done, "it stays blocked");
            }
            Ok(false) => {}
            Err(problem) => complain(&visible(&problem)),
        }
    }
}

/// `reflex approve ID`: one yes, to exactly one call.
pub(super) fn approve(matches: &ArgMatches) -> u8 {
    let store = store();
    let Some((call, person)) = answerable(&store, matches, "approve") else { return status::FOUND };
    let view = if matches.get_flag("full") { View::Full } else { View::Short };
    let mut consent = Consent::each(&store);
    let grant = granted(&call, matches, &person);
    match grant.and_then(|grant| preview_and_give(&store, (&call, &grant), view, &mut consent)) {
        Ok(true) => status::OK,
        Ok(false) => {
            print("nothing is approved");
            status::FOUND
        }
        Err(problem) => {
            complain(&problem);
            status::USAGE
        }
    }
}

fn granted(call: &Pending, matches: &ArgMatches, person: &Person) -> Result<Grant, String> {
    let word = text(matches, "scope");
    let scope = Scope::named(word).ok_or_else(|| {
        let all: Vec<&str> = Scope::ALL.iter().map(|(_, name)| *name).collect();
        format!("unknown scope `{word}`; known: {}", all.join(", "))
    })?;
    let reason = text(matches, "reason");
    if scope != Scope::Once && reason.trim().is_empty() {
        return Err("an approval for more than one call needs --reason".into());
    }
    if scope != Scope::Once && call.core {
        return Err("a core rule stopped this call: it can only be approved once".into());
    }
    let within = match scope {
        Scope::Once | Scope::Session => call.holder(),
        Scope::Task => call.task.clone(),
        Scope::Repository => call.workspace.clone(),
    };
    if scope != Scope::Once && within.is_empty() {
        return Err(format!("this call belongs to no {}", scope.name()));
    }
    let length = length(matches)?;
    let time = now();
    let once = once(call, person, reason);
    let exact = call.mark(scope).to_owned();
    Ok(Grant { scope, exact, within, time, expires: time + length, ..once })
}

/// How long a yes holds.
pub(super) fn length(matches: &ArgMatches) -> Result<u64, String> {
    match matches.get_one::<String>("for") {
        Some(written) => duration(written)
            .filter(|length| (1..=LONGEST).contains(length))
            .ok_or_else(|| format!("invalid duration `{}` (e.g. 10m, 2h; max 30d)", visible(written))),
        None => Ok(USUAL),
    }
}

/// A yes to this call, the next time it comes.
pub(super) fn once(call: &Pending, person: &Person, reason: &str) -> Grant {
    let time = now();
    Grant {
        id: call.id.clone(),
        allow: true,
        exact: call.exact.clone(),
        scope: Scope::Once,
        within: call.holder(),
        time,
        expires: time + USUAL,
        uses: 0,
        used_for: String::new(),
        used: 0,
        by: person.name.clone(),
        reason: reason.into(),
        text: call.text.clone(),
        vouched: true,
    }
}

pub(super) fn preview_and_give(
    store: &Store,
    (call, grant): (&Pending, &Grant),
    view: View,
    consent: &mut Consent<'_>,
) -> Result<bool, String> {
    if !show(call, view) {
        let id = visible(&call.id);
        print(&format!("To approve it, view it in full first: reflex approve {id} --full"));
        return Ok(false);
    }
    if !call.whole {
        return Err("this call is too long to be kept in full: run it yourself if you want it".into());
    }
    if let Some(loose) = call.bound.iter().find(|bound| !bound.firm) {
        return Err(format!(
            "nobody could tell a change of what this call does ({}): run it yourself",
            visible(&loose.shown)
        ));
    }
    if let Some(other) = call.bound.iter().find(|bound| !bound.still_holds()) {
        let path = visible(&other.path);
        return Err(format!(
            "{path} has changed since this call was blocked, so an approval would not hold: let the agent try again"
        ));
    }
    let holds = match grant.scope {
        Scope::Once => format!("the next time, once, for {}", visible(&grant.within)),
        Scope::Session | Scope::Task | Scope::Repository => {
            format!("in this {} ({})", grant.scope.name(), visible(&grant.within))
        }
    };
    print(&format!("A yes lets exactly this run {holds}, until {}.", timestamp(grant.expires)));
    let Some(signer) = consent.ask("Let it run?")? else { return Ok(false) };
    let fields = json!({"pending": grant.id, "of": call.record, "scope": grant.scope.name(), "expires": grant.expires,
        "by": grant.by, "reason": grant.reason,
        "bound": call.bound.iter().map(|bound| &bound.shown).collect::<Vec<_>>()});
    record(store, "approval", fields)?;
    store.forget_old_grants();
    store.grant(grant, signer).map_err(|error| format!("the approval cannot be written: {error}"))?;
    print("approved; tell the agent to try again");
    Ok(true)
}

/// How much of a call is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// What fits on a few pages.
    Short,
    /// All of it.
    Full,
}

/// So much of a text or list is shown without `--full`: what nobody reads hides the rest.
const MAX_LINES: usize = 60;

/// So many bytes of a line are shown without `--full`.
const MAX_BYTES: usize = 4096;

/// What is covered, part by part; whether that is all that is kept of it.
fn show(call: &Pending, view: View) -> bool {
    let paint = Paint::of_stdout();
    let (id, client) = (paint.bold(&visible(&call.id)), visible(&call.client));
    print(&format!("{id} by {client} {}, in {}", ago(call.time), visible(&call.cwd)));
    // The bar stands in front of every line of the call: none of them can pass for a line of ours.
    let lines: Vec<&str> = call.text.split('\n').collect();
    let mut all = show_some(&lines, view, |_| "  | ");
    let bound: Vec<String> = call.bound.iter().map(|bound| bound.shown.clone()).collect();
    let lists = [("parts", &call.parts), ("would", &call.effects), ("bound", &bound), ("why", &call.reasons)];
    for (title, items) in lists {
        let title = format!("{title:>7}  ");
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        all &= show_some(&items, view, |index| if index == 0 { &title } else { "         " });
    }
    all
}

/// The lines, each with what stands before it; whether none was cut or left out.
fn show_some<'t>(lines: &[&str], view: View, before: impl Fn(usize) -> &'t str) -> bool {
    let (most, bytes) = match view {
        View::Short => (MAX_LINES, MAX_BYTES),
        View::Full => (usize::MAX, usize::MAX),
    };
    let mut all = true;
    for (index, line) in lines.iter().enumerate().take(most) {
        let end = (0..=bytes.min(line.len())).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
        let shown = visible(line.get(..end).unwrap_or(""));
        let cut = if end < line.len() { format!("… {} more bytes", line.len() - end) } else { String::new() };
        all &= cut.is_empty();
        print(&format!("{}{shown}{cut}", before(index)));
    }
    if lines.len() > most {
        print(&format!("{}… {} more", before(most), lines.len() - most));
    }
    all && lines.len() <= most
}

/// `reflex deny ID`: it stays blocked, and is off the list.
pub(super) fn deny(matches: &ArgMatches) -> u8 {
    let store = store();
    let Some((call, person)) = answerable(&store, matches, "deny") else { return status::FOUND };
    let fields = json!({"pending": call.id, "of": call.record, "by": person.name, "reason": text(matches, "reason")});
    let done = record(&store, "denial", fields)
        .and_then(|()| store.revoke(&call.id).and(store.forget_pending(&call.id)).map_err(|error| error.to_string()));
    finish(done, "it stays blocked")
}

/// `reflex grants`: what was approved; `revoke` takes it back.
pub(super) fn grants(matches: &ArgMatches) -> u8 {
    let store = store();
    if matches.get_flag("suggest") {
        return super::suggest::run(&store, matches);
    }
    if let Some(id) = matches.get_one::<String>("revoke") {
        let person = match person(&store, "revoke", id) {
            Some(person) => person,
            None => return status::FOUND,
        };
        return match store.revoke(id) {
            Ok(true) => finish(record(&store, "revocation", json!({"pending": id, "by": person.name})), "revoked"),
            Ok(false) => {
                complain(&format!("no approval `{}`", visible(id)));
                status::FOUND
            }
            Err(error) => finish(Err::<(), _>(error.to_string()), ""),
        };
    }
    let all = store.grants();
    if matches.get_flag("json") {
        print(
            &json!({"schema": "reflex/grants-v1", "grants": all.iter().map(Grant::json).collect::<Vec<_>>()})
                .to_string(),
        );
        return status::OK;
    }
    if all.is_empty() {
        print("nothing is approved");
    }
    for grant in all {
        let state = match (now() < grant.expires, grant.scope == Scope::Once && grant.uses > 0) {
            _ if !grant.vouched => "void",
            (_, true) => "used",
            (false, _) => "over",
            (true, false) => "holds",
        };
        let first = grant.text.lines().next().unwrap_or("");
        print(&format!(
            "{}  {state:5}  {}  used {}  until {}  {}",
            grant.id,
            grant.scope.name(),
            grant.uses,
            timestamp(grant.expires),
            visible(first)
        ));
    }
    status::OK
}

/// `reflex off --for 10m --reason …`: no call is refused for a while; it ends by itself.
pub(super) fn off(matches: &ArgMatches) -> u8 {
    let store = store();
    if matches.get_flag("end") {
        // Ending it makes things safer: anybody may.
        let done = store.end_pause().map_err(|error| error.to_string());
        return finish(done.and_then(|()| record(&store, "on", json!({}))), "the guard is on");
    }
    let Some(person) = person(&store, "off", "") else { return status::FOUND };
    let written = text(matches, "for");
    let Some(length) = duration(written).filter(|length| (1..=LONGEST_PAUSE).contains(length)) else {
        complain(&format!("invalid duration `{}` (e.g. 10m; max 8h)", visible(written)));
        return status::USAGE;
    };
    let reason = text(matches, "reason").trim().to_owned();
    if reason.is_empty() {
        complain("say why with --reason");
        return status::USAGE;
    }
    let within = if matches.get_flag("here") { project_here() } else { String::new() };
    let pause = Pause { until: now() + length, reason, by: person.name, within };
    print(&format!(
        "Until {} every call of every agent{} runs, whatever it would do.",
        timestamp(pause.until),
        visible(&pause.place())
    ));
    let mut consent = Consent::each(&store);
    let signer = match consent.ask("Turn the guard off?") {
        Ok(Some(signer)) => signer,
        Ok(None) => {
            print("the guard stays on");
            return status::FOUND;
        }
        Err(problem) => return finish(Err::<(), _>(problem), ""),
    };
    let fields = json!({"until": pause.until, "by": pause.by, "reason": pause.reason, "within": pause.within});
    let done = record(&store, "off", fields)
        .and_then(|()| store.begin_pause(&pause, signer).map_err(|error| error.to_string()));
    finish(done, "the guard is off; `reflex off --end` turns it back on")
}

/// The root of the project here, as the calls of an agent in it have it.
fn project_here() -> String {
    let here = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    Host::new(Mode::default()).placed(Event { cwd: here, ..Event::default() }).workspace
}

fn finish(done: Result<impl Sized, String>, said: &str) -> u8 {
    match done {
        Ok(_) => {
            print(said);
            status::OK
        }
        Err(problem) => {
            complain(&problem);
            status::INTERNAL
        }
    }
}

/// The call of this id and the person who may answer it.
fn answerable(store: &Store, matches: &ArgMatches, what: &str) -> Option<(Pending, Person)> {
    let id = text(matches, "id");
    let person = person(store, what, id)?;
    let call = store.pending_call(id);
    if call.is_none() {
        complain(&format!("no pending call `{}` (see `reflex pending`)", visible(id)));
    }
    Some((call?, person))
}
