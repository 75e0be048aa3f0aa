//! `pending`, `approve`, `deny`, `grants`, `off`: what a person says about calls. Nothing here works for an agent.

use super::{ago, complain, print, text};
use crate::paint::Paint;
use crate::status;
use clap::ArgMatches;
use reflex_host::person::{Person, at_terminal};
use reflex_host::store::Store;
use reflex_host::store::approvals::{Grant, Pending, Scope};
use reflex_host::store::life::{LONGEST_PAUSE, Pause};
use reflex_host::{Host, Mode, duration, now, timestamp};
use serde_json::{Value, json};
use std::io::Write;

/// A yes holds so long if nothing else is said.
const USUAL: u64 = 15 * 60_000;

/// A yes holds at most so long.
const LONGEST: u64 = 30 * 86_400_000;

fn store() -> Store {
    Host::new(Mode::default()).store()
}

/// `reflex pending`: the calls that were refused or asked about.
pub(super) fn pending(matches: &ArgMatches) -> u8 {
    let all = store().pending();
    if matches.get_flag("json") {
        let rows: Vec<Value> = all.iter().map(Pending::json).collect();
        print(&json!({"schema": "reflex/pending-list-v1", "pending": rows}).to_string());
        return status::OK;
    }
    if all.is_empty() {
        print("no call waits for you");
    }
    for call in all {
        let first = call.text.lines().next().unwrap_or("");
        print(&format!(
            "{}  {:>8}  {:5}  {}: {}",
            call.id,
            ago(call.time),
            call.decision,
            visible(&call.client),
            visible(first)
        ));
    }
    status::OK
}

/// `reflex approve ID`: one yes, to exactly one call.
pub(super) fn approve(matches: &ArgMatches) -> u8 {
    let store = store();
    let Some((call, person)) = answerable(&store, matches, "approve") else { return status::FOUND };
    match granted(&call, matches, &person).and_then(|grant| preview_and_give(&store, &call, &grant)) {
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
        format!("unknown scope `{word}`; there are {}", all.join(", "))
    })?;
    let reason = text(matches, "reason");
    if scope != Scope::Once && reason.trim().is_empty() {
        return Err("a yes that holds more than once needs --reason".into());
    }
    if scope != Scope::Once && call.core {
        return Err("this call touches the core of the rules: it can be approved once, not as a habit".into());
    }
    let within = match scope {
        Scope::Once => String::new(),
        Scope::Session => call.session.clone(),
        Scope::Task => call.task.clone(),
        Scope::Repository => call.workspace.clone(),
    };
    if scope != Scope::Once && within.is_empty() {
        return Err(format!("this call belongs to no {}", scope.name()));
    }
    let length = match matches.get_one::<String>("for") {
        Some(written) => duration(written).ok_or_else(|| format!("`{written}` is no duration such as 10m or 2h"))?,
        None => USUAL,
    };
    let time = now();
    Ok(Grant {
        id: call.id.clone(),
        allow: true,
        exact: call.exact.clone(),
        scope,
        within,
        time,
        expires: time + length.min(LONGEST),
        uses: 0,
        by: person.name.clone(),
        reason: reason.into(),
        text: call.text.clone(),
    })
}

fn preview_and_give(store: &Store, call: &Pending, grant: &Grant) -> Result<bool, String> {
    show(call);
    let holds = match grant.scope {
        Scope::Once => "the next time, once".to_owned(),
        Scope::Session | Scope::Task | Scope::Repository => {
            format!("in this {} ({})", grant.scope.name(), visible(&grant.within))
        }
    };
    print(&format!("A yes lets exactly this run {holds}, until {}.", timestamp(grant.expires)));
    if !confirmed("Let it run? [y/N] ") {
        return Ok(false);
    }
    let fields = json!({"pending": grant.id, "of": call.record, "scope": grant.scope.name(), "expires": grant.expires,
        "by": grant.by, "reason": grant.reason});
    record(store, "approval", fields)?;
    store.grant(grant).map_err(|error| format!("the approval cannot be written: {error}"))?;
    print("approved; tell the agent to try the same again");
    Ok(true)
}

/// What is covered, part by part.
pub(super) fn show(call: &Pending) {
    let paint = Paint::of_stdout();
    let (id, client) = (paint.bold(&visible(&call.id)), visible(&call.client));
    print(&format!("{id} by {client} {}, in {}", ago(call.time), visible(&call.cwd)));
    // The bar stands in front of every line of the call: none of them can pass for a line of ours.
    for line in call.text.split('\n') {
        print(&format!("  | {}", visible(line)));
    }
    let lists = [("parts", &call.parts), ("would", &call.effects), ("why", &call.reasons)];
    for (title, items) in lists {
        for (index, item) in items.iter().enumerate() {
            print(&format!("{:>7}  {}", if index == 0 { title } else { "" }, visible(item)));
        }
    }
}

/// `reflex deny ID`: it stays refused, and is off the list.
pub(super) fn deny(matches: &ArgMatches) -> u8 {
    let store = store();
    let Some((call, person)) = answerable(&store, matches, "deny") else { return status::FOUND };
    let fields = json!({"pending": call.id, "of": call.record, "by": person.name, "reason": text(matches, "reason")});
    let done = record(&store, "denial", fields)
        .and_then(|()| store.revoke(&call.id).and(store.forget_pending(&call.id)).map_err(|error| error.to_string()));
    finish(done, "it stays refused")
}

/// `reflex grants`: what was approved; `revoke` takes it back.
pub(super) fn grants(matches: &ArgMatches) -> u8 {
    let store = store();
    if let Some(id) = matches.get_one::<String>("revoke") {
        let person = match person(&store, "revoke", id) {
            Some(person) => person,
            None => return status::FOUND,
        };
        return match store.revoke(id) {
            Ok(true) => {
                finish(record(&store, "revocation", json!({"pending": id, "by": person.name})), "it is taken back")
            }
            Ok(false) => {
                complain(&format!("there is no approval `{}`", visible(id)));
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
        let done = store.set_pause(None).map_err(|error| error.to_string());
        return finish(done.and_then(|()| record(&store, "on", json!({}))), "the guard is on");
    }
    let Some(person) = person(&store, "off", "") else { return status::FOUND };
    let written = text(matches, "for");
    let Some(length) = duration(written).filter(|length| (1..=LONGEST_PAUSE).contains(length)) else {
        complain(&format!("`{}` is no duration such as 10m, or longer than 8h", visible(written)));
        return status::USAGE;
    };
    let reason = text(matches, "reason").trim().to_owned();
    if reason.is_empty() {
        complain("say why with --reason");
        return status::USAGE;
    }
    let pause = Pause { until: now() + length, reason, by: person.name };
    print(&format!("Until {} every call of every agent runs, whatever it would do.", timestamp(pause.until)));
    if !confirmed("Switch the guard off? [y/N] ") {
        print("the guard stays on");
        return status::FOUND;
    }
    let fields = json!({"until": pause.until, "by": pause.by, "reason": pause.reason});
    let done =
        record(&store, "off", fields).and_then(|()| store.set_pause(Some(&pause)).map_err(|error| error.to_string()));
    finish(done, "the guard is off; `reflex off --end` switches it on again")
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
        complain(&format!("no call `{}` waits; `reflex pending` lists them", visible(id)));
    }
    Some((call?, person))
}

/// The person at the terminal; an attempt of anybody else is recorded.
pub(super) fn person(store: &Store, what: &str, id: &str) -> Option<Person> {
    match at_terminal() {
        Ok(person) => Some(person),
        Err(why) => {
            complain(&format!("only a person at a terminal can do this: {why}"));
            let _ = record(store, "attempt", json!({"what": what, "pending": id, "why": why}));
            None
        }
    }
}

fn record(store: &Store, kind: &str, fields: Value) -> Result<(), String> {
    store.note(kind, fields).map_err(|error| format!("this cannot be recorded, so it is not done: {error}"))
}

/// The person's answer at the terminal itself, whatever stands on standard input.
fn confirmed(question: &str) -> bool {
    let Ok(mut terminal) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty") else { return false };
    let _ = terminal.write_all(question.as_bytes());
    let mut answer = String::new();
    let _ = std::io::BufRead::read_line(&mut std::io::BufReader::new(terminal), &mut answer);
    matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Letters that turn the direction, break the line, join with others or are not seen at all.
const UNSEEN: [std::ops::RangeInclusive<char>; 14] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Text of an agent as a person may see it: what steers the terminal is shown, not obeyed.
pub(super) fn visible(text: &str) -> String {
    let shown = |letter: char| {
        let hidden = letter.is_control() || UNSEEN.iter().any(|unseen| unseen.contains(&letter));
        if hidden { letter.escape_unicode().to_string() } else { letter.to_string() }
    };
    text.chars().map(shown).collect()
}
