//! `reflex mode`: a person lets agents run under another policy for a limited time.

use crate::commands::answer::approve::project_here;
use crate::commands::history::record::{Record, field};
use crate::commands::setup::judge;
use crate::error::Error;
use crate::exit_code;
use crate::terminal::age::until;
use crate::terminal::arguments::{flag, option, text};
use crate::terminal::consent::{Consent, may_weaken};
use crate::terminal::output::{complain, print};
use crate::terminal::person::person;
use crate::terminal::visible::visible;
use clap::{Arg, ArgMatches, Command};
use reflex_host::answers::record;
use reflex_host::person::no_agent_above;
use reflex_host::rules::nearest;
use reflex_host::store::Store;
use reflex_host::store::modes::{ALLOW_ALL, AUTO_PILOT, LONGEST, MAX_RUN, PASSED_BY_MODE, SessionMode};
use reflex_host::{Context, Mode, duration, now};
use serde_json::{Value, json};

/// Name that ends all modes.
const OFF: &str = "off";

/// Modes that may be stricter than the policy.
const TIGHTER: [&str; 4] = ["unattended", "never-ask", "read-only", "strict"];

pub(in crate::commands) fn grammar() -> Command {
    Command::new("mode")
        .about("Let agents run under another policy for a while")
        .arg(Arg::new("name").value_name("NAME").help("allow-all, strict, read-only, …, or off (default: show)"))
        .arg(option("for", "DURATION", "Duration, e.g. 30m or 2h (max 24h)").default_value("2h"))
        .arg(flag("here", "Only in this project"))
        .after_help(
            "`reflex policy presets` lists the names. `reflex run --allow-all -- AGENT` sets one for one agent.",
        )
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let store = context.store();
    match matches.get_one::<String>("name").map(String::as_str) {
        None => show(&store),
        Some(OFF) => end(&store),
        Some(name) => set(context, &store, name, matches),
    }
}

fn show(store: &Store) -> u8 {
    if person(store, "mode", "").is_none() {
        return exit_code::FOUND;
    }
    let modes = store.modes();
    if modes.is_empty() {
        print("no mode is set; your policy decides");
    }
    modes.iter().for_each(|mode| print(&format!("{} {}", mode.name, describe(mode))));
    exit_code::OK
}

/// Ends all modes. Ending a stricter mode loosens the guard, so it requires the passphrase, like removing the guard.
fn end(store: &Store) -> u8 {
    let modes = store.modes();
    let Some(person) = person(store, "mode off", "") else { return exit_code::FOUND };
    if modes.iter().any(|mode| TIGHTER.contains(&mode.name.as_str())) && !may_weaken(store, "mode off") {
        return exit_code::FOUND;
    }
    let names: Vec<&str> = modes.iter().map(|mode| mode.name.as_str()).collect();
    let fields = json!({"mode": OFF, "ended": names, "by": person.name});
    let recorded = record(store, "mode", fields).map_err(Error::from);
    let ended = recorded.and_then(|()| store.end_modes(|_| true).map_err(Error::State));
    match ended {
        Ok(()) => {
            print("no mode is set any more; your policy decides");
            exit_code::OK
        }
        Err(problem) => problem.report(),
    }
}

fn set(context: &Context, store: &Store, name: &str, matches: &ArgMatches) -> u8 {
    if Mode::named(name).is_none() {
        complain(&unknown(name));
        return exit_code::USAGE;
    }
    let written = text(matches, "for");
    let Some(length) = duration(written).filter(|length| (1..=LONGEST).contains(length)) else {
        complain(&format!("invalid duration `{}` (e.g. 30m or 2h; max 24h)", visible(written)));
        return exit_code::USAGE;
    };
    let within = if matches.get_flag("here") { project_here(context) } else { String::new() };
    let mode = SessionMode { name: name.to_owned(), by: String::new(), until: now() + length, within, below: None };
    match begin(context, store, mode) {
        Ok(Some(mode)) => {
            print(&format!("{} is set {}; `reflex mode off` ends it", mode.name, describe(&mode)));
            exit_code::OK
        }
        Ok(None) => exit_code::FOUND,
        Err(problem) => problem.report(),
    }
}

/// Reports that no mode has this name.
fn unknown(name: &str) -> String {
    let mut known = Mode::names();
    known.push(OFF);
    let near = nearest(name, &known).map_or(String::new(), |near| format!(", did you mean `{near}`?"));
    format!("unknown mode `{}`{near}; known: {}", visible(name), known.join(", "))
}

/// Sets a mode for the processes started below this process; it ends with this process.
pub(in crate::commands) fn begin_for_run(
    context: &Context,
    store: &Store,
    name: &str,
) -> Result<Option<SessionMode>, Error> {
    let below = Some(std::process::id());
    let until = now() + MAX_RUN;
    begin(context, store, SessionMode { name: name.to_owned(), by: String::new(), until, within: String::new(), below })
}

/// Asks the person and sets the mode. `None` if the person declines or the caller is not a person.
fn begin(context: &Context, store: &Store, mode: SessionMode) -> Result<Option<SessionMode>, Error> {
    let host = context.host(Mode::default());
    let model = judge::config(&host).filter(|_| mode.name == AUTO_PILOT);
    if mode.name == AUTO_PILOT && model.is_none() {
        complain(judge::NO_MODEL);
        return Ok(None);
    }
    let Some(person) = person(store, "mode", "") else { return Ok(None) };
    let mode = SessionMode { by: person.name, ..mode };
    print(&format!("{}: {}.", mode.name, means(&mode.name)));
    if let Some(model) = model {
        print(&format!("{}.", visible(&judge::destination(&model))));
        print(&format!("{}.", visible(&judge::known(&host, store))));
    }
    let mut consent = Consent::each(store);
    let signer = match consent.ask(&format!("Set it {}?", visible(&describe(&mode)))) {
        Ok(Some(signer)) => signer,
        Ok(None) => {
            print("no mode is set");
            return Ok(None);
        }
        Err(problem) => return Err(problem),
    };
    let fields = json!({
        "mode": mode.name, "until": mode.until, "by": mode.by, "within": mode.within, "below": mode.below,
    });
    record(store, "mode", fields)?;
    store.begin_mode(&mode, signer).map_err(Error::State)?;
    Ok(Some(mode))
}

/// Describes the effect of a mode on calls in a few words.
fn means(name: &str) -> String {
    if name == ALLOW_ALL {
        return "only core rules stop a call; every other call runs, and what it would lose is kept first".to_owned();
    }
    Mode::about(name).to_owned()
}

/// Describes the place and the end of a mode.
fn describe(mode: &SessionMode) -> String {
    match mode.below {
        Some(_) => format!("{}, until it ends", mode.place()),
        None => format!("{} for {}", mode.place(), until(mode.until)),
    }
}

/// Describes the modes in force, for a person: an agent does not learn of modes.
pub(in crate::commands) fn for_person(context: &Context, store: &Store) -> Option<String> {
    let modes = store.modes();
    if modes.is_empty() || no_agent_above().is_err() {
        return None;
    }
    let one = |mode: &SessionMode| match mode.name == AUTO_PILOT {
        true => format!("{} {} ({})", mode.name, describe(mode), judge::known(&context.host(Mode::default()), store)),
        false => format!("{} {}", mode.name, describe(mode)),
    };
    Some(visible(&modes.iter().map(one).collect::<Vec<_>>().join("; ")))
}

/// Whether the reader may see a record at all: records of modes are hidden from agents.
pub(in crate::commands) fn may_be_read(record: &Record) -> bool {
    field(record, "kind") != "mode" || no_agent_above().is_ok()
}

/// Returns a record of the log without its modes, unless the reader is a person.
pub(in crate::commands) fn without_modes(mut record: Record) -> Record {
    let is_by_mode = field(&record, "policy") == ALLOW_ALL || record.contains_key("judge");
    if is_by_mode && no_agent_above().is_err() {
        ["policy", "grant", "judge"].iter().for_each(|key| drop(record.shift_remove(*key)));
        if let Some(chain) = record.get_mut("chain").and_then(Value::as_array_mut) {
            let is_of_mode = |step: &str| step.starts_with(PASSED_BY_MODE) || step.starts_with(AUTO_PILOT);
            chain.retain(|step| !step.as_str().is_some_and(is_of_mode));
        }
    }
    record
}
