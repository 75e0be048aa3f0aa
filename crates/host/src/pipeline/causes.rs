//! The cause of a start: a call that the agent's hooks have reported, and the approval of a call or start above it.

use super::host::Host;
use super::naming::{has, line, unversioned};
use crate::store::Search;
use crate::system::clock;
use reflex_engine::shell::Language;
use reflex_engine::{Action, Event, Judgement, WordList};
use reflex_supervise::Start;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::sync::{Mutex, PoisonError};

/// Maximum number of processes between a start and the one that it comes from, and of causes that are remembered.
pub(super) const MAX_ABOVE: usize = 64;

/// Number of records, starts among them, in which the call is searched: the agent starts its program at once.
const MAX_SEARCHED: usize = 256;

/// The calls that the hooks of an agent report during a run.
pub(super) struct Calls {
    agent: &'static str,
    /// The time at which the run began, as in records.
    since: String,
    /// The records of the calls that have started a program. One call starts one.
    started: Mutex<HashSet<String>>,
}

impl Calls {
    pub(super) fn of(agent: &'static str) -> Calls {
        Calls { agent, since: clock::timestamp(clock::now()), started: Mutex::default() }
    }

    /// The record of the call by which the agent starts this program: the newest one whose text a shell gets, or that is
    /// the program with its arguments. Agents put their own commands around the text of a call.
    pub(super) fn of_start(&self, host: &Host, start: &Start) -> Option<String> {
        // Searching for fields or times would go through the whole log where there are few such records.
        let found = host.store().log().search(&Search::default(), MAX_SEARCHED).ok()?;
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |record: &&Map<String, Value>| {
            self.is_reported(record)
                && record.get("id").and_then(Value::as_str).is_some_and(|id| !started.contains(id))
                && commands(record).any(|command| starts(start, command))
        };
        let id = found.iter().rev().find(is_it)?.get("id")?.as_str()?.to_owned();
        started.insert(id.clone());
        Some(id)
    }

    /// The newest call that a hook has reported and let run: the id of its record and its text.
    pub(super) fn latest(&self, host: &Host) -> Option<(String, String)> {
        let found = host.store().log().search(&Search::default(), MAX_SEARCHED).ok()?;
        let record = found.iter().rev().find(|record| self.is_reported(record))?;
        let text = commands(record).next().or_else(|| record.get("tool").and_then(Value::as_str));
        Some((record.get("id")?.as_str()?.to_owned(), text.unwrap_or_default().to_owned()))
    }

    /// Whether a hook of this agent has made this record, during the run.
    fn is_reported(&self, record: &Map<String, Value>) -> bool {
        let text = |key| record.get(key).and_then(Value::as_str).unwrap_or_default();
        text("kind") == "call"
            && text("agent") == self.agent
            && text("time") >= self.since.as_str()
            && !record.contains_key("start")
    }
}

/// The commands of a recorded call.
fn commands(record: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let actions = record.get("actions").and_then(Value::as_array).into_iter().flatten();
    actions.filter_map(|action| action.get("command")?.as_str())
}

/// Whether this start is how an agent runs the command.
fn starts(start: &Start, command: &str) -> bool {
    if !has(WordList::Shells, unversioned(start.file.as_os_str())) {
        return line(start.argv.iter().map(OsString::as_os_str)) == command;
    }
    // The forms in which agents write it between single quotes, for `eval`.
    let quoted = [r#"'"'"'"#, r"'\''"].map(|quote| command.replace('\'', quote));
    let has_it = |word: &str| word.contains(command) || quoted.iter().any(|quoted| word.contains(quoted));
    !command.trim().is_empty() && start.argv.iter().skip(1).filter_map(|word| OsStr::to_str(word)).any(has_it)
}

impl Host {
    /// The approval of a start or call above this start, if its text contains this command: a person has then seen it.
    /// Returns the approval's id and the reason.
    ///
    /// A question at the agent's own prompt does not count: its answer is not known, and any program below the agent
    /// can call the hook about a command that is asked about.
    pub(super) fn approved_above(&self, event: &Event, judgement: &Judgement) -> Option<(String, String)> {
        let own = commands_of(judgement).next()?;
        let store = self.store();
        // The record of a start is written while it runs, unless a person has approved it.
        let recorded = |id: &String| {
            let search = Search { fields: vec![("id".into(), id.clone())], ..Search::default() };
            store.log().search(&search, 1).ok()?.pop()
        };
        for record in event.started.as_ref()?.causes.iter().filter_map(recorded) {
            let contains = |text: &str| {
                let actions = vec![Action::Shell { command: text.into(), language: Language::default() }];
                let judgement = self.judge(&Event { actions, ..event.clone() }, None);
                commands_of(&judgement).any(|command| command == own)
            };
            let grant = record.get("grant").and_then(Value::as_str);
            if let Some(grant) = grant.filter(|_| commands(&record).any(contains)) {
                return Some((grant.to_owned(), format!("it is a part of what was approved as {grant}")));
            }
        }
        None
    }
}

/// The words of each command, the program by its name alone.
fn commands_of(judgement: &Judgement) -> impl Iterator<Item = Vec<String>> {
    let commands = judgement.analysis.readings.iter().flat_map(|reading| &reading.commands);
    commands.map(|command| {
        let mut words: Vec<String> = command.words.iter().map(|word| word.shown()).collect();
        if let Some(name) = words.first_mut() {
            *name = name.rsplit('/').next().unwrap_or_default().to_owned();
        }
        words
    })
}
