//! `pending`, `approve`, `deny`, `grants`, `off`: a person's answers to calls. None of them works for an agent.

use crate::commands::answer::list;
use crate::error::Error;
use crate::exit_code;
use crate::terminal::age::{ago, until};
use crate::terminal::arguments::text;
use crate::terminal::consent::Consent;
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::paint::Paint;
use crate::terminal::person::person;
use crate::terminal::screen::Screen;
use crate::terminal::table::print_table;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_engine::Event;
use reflex_host::answers::record;
use reflex_host::answers::waiting;
use reflex_host::answers::{
    AnswerError, awaited, clear, counts, covers, give, obstacle, once, refuse, reject, scoped, usual_length,
    written_length,
};
use reflex_host::person::{Person, at_terminal};
use reflex_host::store::Store;
use reflex_host::store::approvals::{Grant, Pending, Scope};
use reflex_host::store::pause::{MAX_PAUSE, Pause};
use reflex_host::{Context, Mode, duration, local, now};
use serde_json::{Value, json};

/// `reflex pending`: the calls that wait for a person.
pub(in crate::commands) fn pending(context: &Context, matches: &ArgMatches) -> u8 {
    let store = context.store();
    if matches.get_flag("clear") {
        return clear_all(&store);
    }
    if !matches.get_flag("json") && Screen::is_possible() {
        // An agent may read the list but cannot answer.
        if let Ok(person) = at_terminal() {
            return list::open(context, &person);
        }
    }
    let all = waiting(&store);
    if matches.get_flag("json") {
        let rows: Vec<Value> = all.iter().map(Pending::json).collect();
        let (now, earlier) = counts(&all);
        let list = json!({
            "schema": "reflex/pending-list-v1", "waiting_now": now, "stopped_earlier": earlier, "pending": rows,
        });
        print_json(&list.to_string());
    } else {
        print_rows(&all);
    }
    end_of_list(&store)
}

/// The exit status of a list of calls, which lacks those whose files are damaged.
fn end_of_list(store: &Store) -> u8 {
    let damaged = store.damaged_calls();
    damaged.into_iter().fold(exit_code::OK, |_, file| Error::DamagedCall(file).report())
}

/// `reflex pending --clear`: removes the calls that no hook waits for.
fn clear_all(store: &Store) -> u8 {
    let Some(person) = person(store, "pending --clear", "") else { return exit_code::FOUND };
    match clear(store, &person) {
        Ok(0) => print("no call was stopped earlier"),
        Ok(1) => print("1 call cleared; it stays blocked"),
        Ok(count) => print(&format!("{count} calls cleared; they stay blocked")),
        Err(problem) => return Error::from(problem).report(),
    }
    exit_code::OK
}

/// Prints the calls whose hook waits now, then those that were stopped earlier.
fn print_rows(calls: &[Pending]) {
    let (now, earlier): (Vec<&Pending>, Vec<&Pending>) = calls.iter().partition(|call| call.waits());
    if now.is_empty() {
        print("nothing waits now");
    } else {
        print("waiting now");
        print_group(&now);
    }
    if !earlier.is_empty() {
        print("stopped earlier: a yes lets it run when the agent tries again");
        print_group(&earlier);
    }
}

fn print_group(calls: &[&Pending]) {
    let mut table = Vec::new();
    for call in calls {
        let first = visible(call.text.lines().next().unwrap_or(""));
        let time = if call.waits() { until(call.until) } else { ago(call.time) };
        table.push(vec![call.id.clone(), time, call.decision.clone(), visible(&call.client), first]);
        for appeal in &call.appeals {
            let asks = format!("{} asks, because: {}", visible(&appeal.by), visible(&appeal.because));
            table.push(vec![String::new(), String::new(), String::new(), String::new(), asks]);
        }
    }
    print_table(2, &table);
}

/// `reflex approve ID`: one yes, to exactly one call.
pub(in crate::commands) fn approve(context: &Context, matches: &ArgMatches) -> u8 {
    let store = context.store();
    let Some((call, person)) = answerable(&store, matches, "approve") else { return exit_code::FOUND };
    // Without an id, the person must see the selected call in full.
    let is_full = matches.get_flag("full") || !matches.contains_id("id");
    let view = if is_full { View::Full } else { View::Short };
    let mut consent = Consent::each(&store);
    let grant = granted(&call, matches, &person);
    match grant.and_then(|grant| preview_and_give(&store, (&call, &grant), view, &mut consent)) {
        Ok(true) => exit_code::OK,
        Ok(false) => {
            print("not approved");
            exit_code::FOUND
        }
        Err(problem) => problem.report(),
    }
}

fn granted(call: &Pending, matches: &ArgMatches, person: &Person) -> Result<Grant, Error> {
    let word = text(matches, "scope");
    let scope = Scope::named(word).ok_or_else(|| {
        let all: Vec<&str> = Scope::ALL.iter().map(|(_, name)| *name).collect();
        Error::Scope { word: word.to_owned(), known: all.join(", ") }
    })?;
    let reason = text(matches, "reason");
    Ok(scoped(once(call, person, reason), call, scope, length(matches, scope)?)?)
}

/// Returns the duration of a yes, in milliseconds.
pub(in crate::commands) fn length(matches: &ArgMatches, scope: Scope) -> Result<u64, Error> {
    let written = matches.get_one::<String>("for");
    Ok(written.map_or(Ok(usual_length(scope)), |written| written_length(written))?)
}

pub(in crate::commands) fn preview_and_give(
    store: &Store,
    (call, grant): (&Pending, &Grant),
    view: View,
    consent: &mut Consent<'_>,
) -> Result<bool, Error> {
    if !show(call, view) {
        let id = visible(&call.id);
        print(&format!("To approve it, view it in full first: reflex approve {id} --full"));
        return Ok(false);
    }
    if let Some(problem) = obstacle(call) {
        return Err(AnswerError::Obstacle(problem).into());
    }
    print(&visible(&covers(grant)));
    store.extend_wait(&call.id);
    let Some(signer) = consent.ask("Let it run?")? else { return Ok(false) };
    let reaches = give(store, (call, grant), signer)?;
    print(reaches.approved());
    Ok(true)
}

/// Extent to which a call is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum View {
    /// As much as fits on a few pages.
    Short,
    /// The full call.
    Full,
}

/// Maximum number of lines of a text or list without `--full`: longer output hides the rest from its reader.
const MAX_LINES: usize = 60;

/// Maximum number of bytes of a line without `--full`.
const MAX_BYTES: usize = 4096;

/// Shows everything that a yes would cover, part by part; returns whether it was shown in full.
fn show(call: &Pending, view: View) -> bool {
    let paint = Paint::of_stdout();
    let (id, heading) = (paint.bold(&visible(&call.id)), visible(&call.heading()));
    print(&format!("{id} {heading} {}, in {}", ago(call.time), visible(&call.cwd)));
    // Every line of the call has a bar in front, so no line can pass for Reflex's own output.
    let mut all = show_some(&call.lines(), view, |_| "  | ");
    let kept: Vec<String> = call.keeping().into_iter().collect();
    let bound: Vec<String> = call.bound.iter().map(|bound| bound.shown.clone()).collect();
    let lists =
        [("parts", &call.parts), ("would", &call.effects), ("kept", &kept), ("bound", &bound), ("why", &call.reasons)];
    for (title, items) in lists {
        let title = format!("{title:>7}  ");
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        all &= show_some(&items, view, |index| if index == 0 { &title } else { "         " });
    }
    all
}

/// Shows lines, each with its prefix; returns whether none was cut or left out.
fn show_some<'t>(lines: &[&str], view: View, before: impl Fn(usize) -> &'t str) -> bool {
    let (max_lines, bytes) = match view {
        View::Short => (MAX_LINES, MAX_BYTES),
        View::Full => (usize::MAX, usize::MAX),
    };
    let mut all = true;
    for (index, line) in lines.iter().enumerate().take(max_lines) {
        let end = (0..=bytes.min(line.len())).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
        let shown = visible(line.get(..end).unwrap_or(""));
        let cut = if end < line.len() { format!("… {} more bytes", line.len() - end) } else { String::new() };
        all &= cut.is_empty();
        print(&format!("{}{shown}{cut}", before(index)));
    }
    if lines.len() > max_lines {
        print(&format!("{}… {} more", before(max_lines), lines.len() - max_lines));
    }
    all && lines.len() <= max_lines
}

/// `reflex deny ID`: the call stays blocked and leaves the list.
pub(in crate::commands) fn deny(context: &Context, matches: &ArgMatches) -> u8 {
    let store = context.store();
    let Some((call, person)) = answerable(&store, matches, "deny") else { return exit_code::FOUND };
    let message = text(matches, "message").trim();
    let done = match message {
        "" => reject(&store, &call, &person, text(matches, "reason"))
            .map(|()| "denied; it stays blocked")
            .map_err(Error::from),
        message => refuse_with(&store, &call, &person, message),
    };
    match done {
        Ok(said) => {
            print(said);
            exit_code::OK
        }
        Err(problem) => problem.report(),
    }
}

/// Refuses a call with a message to its agent; returns the result in words.
fn refuse_with(store: &Store, call: &Pending, person: &Person, message: &str) -> Result<&'static str, Error> {
    let signer = Consent::sign(store, "Tell the agent that?")?.ok_or(Error::NoMessage)?;
    Ok(refuse(store, (call, person), message, &signer)?.refused())
}

/// `reflex grants`: lists approvals; `revoke` takes one back.
pub(in crate::commands) fn grants(context: &Context, matches: &ArgMatches) -> u8 {
    let store = context.store();
    if let Some(id) = matches.get_one::<String>("revoke") {
        let person = match person(&store, "revoke", id) {
            Some(person) => person,
            None => return exit_code::FOUND,
        };
        return match store.revoke(id) {
            Ok(true) => {
                let noted = record(&store, "revocation", json!({"pending": id, "by": person.name}));
                finish(noted.map_err(Error::from), "revoked")
            }
            Ok(false) => {
                complain(&format!("no approval `{}`", visible(id)));
                exit_code::FOUND
            }
            Err(error) => Error::State(error).report(),
        };
    }
    let all = store.grants();
    if matches.get_flag("json") {
        print(
            &json!({"schema": "reflex/grants-v1", "grants": all.iter().map(Grant::json).collect::<Vec<_>>()})
                .to_string(),
        );
        return end_of_list(&store);
    }
    if all.is_empty() {
        print("no approvals and no denials");
        return end_of_list(&store);
    }
    let head = ["ID", "answer", "state", "scope", "used", "ends", "call"];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for grant in all {
        let state = match (now() < grant.expires, grant.scope == Scope::Once && grant.uses > 0) {
            _ if !grant.vouched => "void",
            (_, true) => "used",
            (false, _) => "over",
            (true, false) => "holds",
        };
        let first = grant.text.lines().next().unwrap_or("");
        let uses = if grant.allow { grant.uses.to_string() } else { String::new() };
        let answer = if grant.allow { "yes" } else { "no" };
        let end = if state == "holds" { until(grant.expires) } else { local(grant.expires) };
        let cells = [grant.id.as_str(), answer, state, grant.scope.name(), &uses, &end, &visible(first)];
        table.push(cells.map(str::to_owned).to_vec());
    }
    print_table(0, &table);
    end_of_list(&store)
}

/// `reflex off --for 10m --reason …`: refuses no call for a while, then turns on again.
pub(in crate::commands) fn off(context: &Context, matches: &ArgMatches) -> u8 {
    let store = context.store();
    if matches.get_flag("end") {
        // Ending the pause only makes things safer, so anyone may do it.
        let done = store.end_pause().map_err(Error::State);
        return finish(done.and_then(|()| Ok(record(&store, "on", json!({}))?)), "the guard is on");
    }
    let written = text(matches, "for");
    let Some(length) = duration(written).filter(|length| (1..=MAX_PAUSE).contains(length)) else {
        complain(&format!("invalid duration `{}` (e.g. 10m; max 8h)", visible(written)));
        return exit_code::USAGE;
    };
    let reason = text(matches, "reason").trim().to_owned();
    if reason.is_empty() {
        complain("say why with --reason");
        return exit_code::USAGE;
    }
    let Some(person) = person(&store, "off", "") else { return exit_code::FOUND };
    let within = if matches.get_flag("here") { project_here(context) } else { String::new() };
    let pause = Pause { until: now() + length, reason, by: person.name, within };
    print(&format!(
        "For {} every call of every agent{} runs, whatever it would do.",
        until(pause.until),
        visible(&pause.place())
    ));
    let mut consent = Consent::each(&store);
    let signer = match consent.ask("Turn the guard off?") {
        Ok(Some(signer)) => signer,
        Ok(None) => {
            print("the guard stays on");
            return exit_code::FOUND;
        }
        Err(problem) => return problem.report(),
    };
    let fields = json!({"until": pause.until, "by": pause.by, "reason": pause.reason, "within": pause.within});
    let done = record(&store, "off", fields)
        .map_err(Error::from)
        .and_then(|()| store.begin_pause(&pause, signer).map_err(Error::State));
    finish(done, "the guard is off; `reflex off --end` turns it back on")
}

/// Returns the root of the project here, as an agent's calls in it report it.
pub(in crate::commands) fn project_here(context: &Context) -> String {
    let here = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    context.host(Mode::default()).placed(Event { cwd: here, ..Event::default() }).workspace
}

fn finish(done: Result<(), Error>, message: &str) -> u8 {
    match done {
        Ok(()) => {
            print(message);
            exit_code::OK
        }
        Err(problem) => problem.report(),
    }
}

/// Returns the call with this id, or the newest call whose hook waits, and the person who may answer it.
fn answerable(store: &Store, matches: &ArgMatches, what: &str) -> Option<(Pending, Person)> {
    let requested = matches.get_one::<String>("id");
    let person = person(store, what, requested.map_or("", String::as_str))?;
    let call = match requested {
        Some(id) => store.pending_call(id).map(|call| awaited(store, call)),
        None => waiting(store).into_iter().find(Pending::waits),
    };
    match requested {
        _ if call.is_some() => {}
        Some(id) => complain(&format!("no pending call `{}` (see `reflex pending`)", visible(id))),
        None => complain("no call waits now; name one that was stopped earlier by its id (see `reflex pending`)"),
    }
    Some((call?, person))
}
