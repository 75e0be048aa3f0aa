//! `reflex status --line`: prints one line for the status line of a client, of tmux or of a prompt.

use crate::commands::setup::selection::{self, has_hook, wired_in_project};
use crate::commands::setup::status_facts::{evidence, last_call};
use crate::exit_code;
use crate::terminal::age::ago;
use crate::terminal::output::{complain, print};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_engine::Event;
use reflex_host::live::Outcome;
use reflex_host::matrix::row;
use reflex_host::person::agent_variable;
use reflex_host::store::Store;
use reflex_host::store::canary::Kept;
use reflex_host::store::heartbeat::Heartbeat;
use reflex_host::{Context, Mode, Wiring, timestamp};
use serde_json::Value;
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Time to wait for the client's JSON. A client writes it before it starts this command, or never.
const PATIENCE: Duration = Duration::from_millis(100);

/// Maximum size of a client's JSON, in bytes.
const MAX_INPUT: u64 = 256 * 1024;

/// State of an agent, best first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Guarded,
    NotProven,
    Paused(String),
    /// Never installed, or removed with `reflex uninstall`. Entries removed by other means are `Off`.
    NotInstalled,
    Off(String),
}

/// Prints the line. Always succeeds: otherwise the client hides the output.
pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let input = read_input();
    let asked = matches.get_one::<String>("agent").map(String::as_str);
    // Claude Code is the client that sends JSON.
    let asked = asked.or(input.as_ref().map(|_| "claude"));
    if let Some(folder) = input.as_ref().and_then(folder)
        && let Err(error) = std::env::set_current_dir(&folder)
    {
        complain(&format!("{}: {error}", visible(&folder)));
    }
    let state = state(context, asked);
    print(&painted(&state, &format!("{}{}", shown(&state), modes(context)), input.is_some()));
    exit_code::OK
}

/// Returns the modes in force here. The client that shows the line is itself an agent; its tools have its variable.
fn modes(context: &Context) -> String {
    let host = context.host(Mode::default());
    let here = host.placed(Event::default()).workspace;
    let modes = if agent_variable().is_some() { Vec::new() } else { host.store().modes_in(&here) };
    modes.iter().map(|mode| format!(" · {}", visible(&mode.name))).collect()
}

/// Returns the worst state of the agents.
fn state(context: &Context, asked: Option<&str>) -> State {
    let host = context.host(Mode::default());
    let store = host.store();
    let here = host.placed(Event::default()).workspace;
    if let Some(pause) = store.pause().filter(|pause| pause.holds_in(&here)) {
        // `2026-11-22T14:05:00.000Z`: the hours and minutes.
        let until = timestamp(pause.until);
        return State::Paused(until.get(11..16).unwrap_or(&until).to_owned());
    }
    let beats = store.heartbeats();
    let wirings = wirings(context, asked);
    if wirings.is_empty() {
        return State::Off(format!("no settings are known for `{}`", visible(asked.unwrap_or(""))));
    }
    if !wirings.iter().any(|wiring| has_hook(wiring) || wiring.was_installed()) {
        return State::NotInstalled;
    }
    let name = |wiring: &Wiring| if wirings.len() > 1 { format!("{}: ", wiring.agent()) } else { String::new() };
    let of = |wiring: &Wiring| state_of(wiring, &name(wiring), (&beats, &store));
    wirings.iter().map(of).max().unwrap_or(State::NotProven)
}

/// Returns the files to check: the project's if the user's has no hook.
fn wirings(context: &Context, asked: Option<&str>) -> Vec<Wiring> {
    let mut wirings = selection::chosen(context, asked);
    wirings.retain(|wiring| !wiring.is_written_by_agent());
    for of_project in wired_in_project(context) {
        let without = |wiring: &&mut Wiring| wiring.agent() == of_project.agent() && !has_hook(wiring);
        if let Some(of_user) = wirings.iter_mut().find(without) {
            *of_user = of_project;
        }
    }
    wirings
}

/// Returns the state of an agent. `name` precedes the message if several agents are shown.
fn state_of(wiring: &Wiring, name: &str, (beats, store): (&[Heartbeat], &Store)) -> State {
    let row = row(wiring, beats);
    if let Some(why) = &row.broken {
        return State::Off(format!("{name}{}", visible(why)));
    }
    let last = last_call(&row);
    // If refusals are ignored, calls of the hook prove nothing; otherwise each later call is new proof.
    let counts = |proof: &Kept| {
        proof.outcome == Outcome::Ignored.name()
            || (proof.state == Outcome::Off.word() && last.is_none_or(|last| last <= proof.time))
    };
    if let Some(proof) = store.proof(wiring.agent()).filter(counts) {
        return State::Off(format!("{name}a canary was not stopped {}; reflex verify --live", ago(proof.time)));
    }
    if evidence(&row, store).is_some() { State::Guarded } else { State::NotProven }
}

fn shown(state: &State) -> String {
    match state {
        State::Guarded => "reflex: guarded".into(),
        State::NotProven => "reflex: not proven".into(),
        State::Paused(until) => format!("reflex: paused until {until} UTC"),
        State::NotInstalled => "reflex: not installed".into(),
        State::Off(why) => format!("reflex: OFF – {why}"),
    }
}

/// Colors the line. Claude Code and terminals support colors; a pipe to another program gets none.
fn painted(state: &State, line: &str, is_for_claude: bool) -> String {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if unwanted || !(is_for_claude || std::io::stdout().is_terminal()) {
        return line.to_owned();
    }
    let code = match state {
        State::Guarded => "32",
        State::NotProven | State::Paused(_) | State::NotInstalled => "33",
        State::Off(_) => "1;31",
    };
    format!("\u{1b}[{code}m{line}\u{1b}[0m")
}

/// Reads the JSON on standard input, if it arrives at once.
fn read_input() -> Option<Value> {
    if std::io::stdin().is_terminal() {
        return None;
    }
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(MAX_INPUT).read_to_string(&mut text);
        // The receiver may have timed out.
        let _ = send.send(read.is_ok().then_some(text));
    });
    let text = receive.recv_timeout(PATIENCE).ok().flatten()?;
    serde_json::from_str::<Value>(&text).ok().filter(Value::is_object)
}

/// Returns the folder that a client's JSON names.
fn folder(input: &Value) -> Option<String> {
    let named = input.pointer("/workspace/current_dir").or_else(|| input.get("cwd")).and_then(Value::as_str)?;
    Path::new(named).is_dir().then(|| named.to_owned())
}
