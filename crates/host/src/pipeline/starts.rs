//! Judges the programs that an agent's processes start, on the same path as the calls that an agent reports.

use super::host::Host;
use crate::system::random;
use reflex_agents::{Payload, supervisor};
use reflex_engine::shell::quoted;
use reflex_supervise::{Answer, Judge, Stage, Start, parent};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Folders of programs that the system provides: there, a program is known by its name.
const OF_SYSTEM: [&str; 6] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/libexec"];

/// Maximum number of processes whose starts are remembered before the ended ones are dropped.
const MAX_PROCESSES: usize = 8192;

/// Maximum number of processes between a start and the one that it comes from.
const MAX_ABOVE: usize = 64;

/// Judges the starts of one run.
pub struct Starts {
    host: Host,
    agent: String,
    session: String,
    workspace: String,
    processes: Mutex<Processes>,
}

/// The newest start of each process.
#[derive(Default)]
struct Processes {
    /// Whether the first program has started: the one that the person asked for.
    begun: bool,
    /// By process: when it began, and the record of its start.
    starts: HashMap<u32, (u64, String)>,
}

impl Starts {
    /// Judges the starts below an agent that a person starts in this folder. Every start is recorded with this name.
    pub fn new(host: Host, agent: &str, folder: &str) -> Starts {
        let event = reflex_engine::Event { cwd: folder.into(), ..reflex_engine::Event::default() };
        let workspace = host.settled(event).workspace;
        Starts { host, agent: agent.into(), session: random::uuid(), workspace, processes: Mutex::default() }
    }

    fn payload(&self, start: &Start, (id, by): (&str, &str)) -> Map<String, Value> {
        let cwd = start.cwd.to_string_lossy().into_owned();
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| drop(fields.insert(key.into(), value));
        put("id", id.into());
        put("by", by.into());
        put("process", start.process.into());
        put("session", self.session.as_str().into());
        put("agent", self.agent.as_str().into());
        put("commands", commands(start).into());
        put("workspace", self.workspace.as_str().into());
        put("cwd", cwd.into());
        put("environment", Value::Object(changed_variables(&start.environment)));
        fields
    }
}

impl Judge for Starts {
    fn judge(&self, start: &Start) -> Answer {
        let Some(by) = self.processes.lock().unwrap_or_else(PoisonError::into_inner).cause(start) else {
            return Answer::Run;
        };
        let id = random::uuid();
        let fields = self.payload(start, (&id, &by));
        let payload = Payload { fields: &fields, event_name: None, variable: &|_| None };
        let reply = self.host.answer(&supervisor::AGENT, &payload);
        if reply.code != 0 {
            return Answer::Refuse(reply.stderr);
        }
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).note(start, id);
        Answer::Run
    }
}

impl Processes {
    /// The record of the start that this one comes from; `None` for the first one, which the person asked for.
    fn cause(&mut self, start: &Start) -> Option<String> {
        if !self.begun {
            self.begun = start.stage == Stage::Requested;
            self.note(start, String::new());
            return None;
        }
        let known = |process: u32, since: u64| {
            self.starts.get(&process).filter(|(begun, _)| *begun == since).map(|(_, id)| id.clone())
        };
        let mut above = (start.process, start.since);
        for _ in 0..MAX_ABOVE {
            if let Some(id) = known(above.0, above.1) {
                return Some(id);
            }
            let Some(parent) = parent(above.0) else { break };
            above = parent;
        }
        Some(String::new())
    }

    fn note(&mut self, start: &Start, id: String) {
        if self.starts.len() >= MAX_PROCESSES {
            self.starts.retain(|process, _| parent(*process).is_some());
        }
        self.starts.insert(start.process, (start.since, id));
    }
}

/// The command lines by which a start is judged: by the name that the caller gives, by the file that runs, and by the
/// interpreter that the kernel puts before a script.
fn commands(start: &Start) -> Vec<String> {
    let name = start.argv.first().map(OsString::as_os_str).unwrap_or_default();
    let base = Path::new(name).file_name().unwrap_or(name);
    let is_of_system = start.file.parent().is_some_and(|folder| OF_SYSTEM.iter().any(|one| folder == Path::new(one)));
    let file = match start.file.file_name() {
        Some(file) if is_of_system => file,
        _ => start.file.as_os_str(),
    };
    let is_same = start.file.file_name() == Some(base);
    let mut found = Vec::new();
    if !is_same || is_of_system || start.file.as_os_str().is_empty() {
        found.push(line(base, start.argv.iter().skip(1)));
    }
    if !file.is_empty() && (!is_same || !is_of_system) {
        found.push(line(file, start.argv.iter().skip(1)));
    }
    if let Some((interpreter, rest)) = start.interpreted.split_first() {
        found.push(line(interpreter, rest.iter()));
    }
    found
}

fn line<'w>(name: &'w OsStr, words: impl Iterator<Item = &'w OsString>) -> String {
    let words = [name].into_iter().chain(words.map(OsString::as_os_str));
    words.map(|word| shown(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// A word as a person would write it: quoted only if a shell would read it otherwise.
fn shown(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) { word.to_owned() } else { quoted(word) }
}

/// The variables that this process does not have, or has with another value.
fn changed_variables(environment: &[OsString]) -> Map<String, Value> {
    let pairs = environment.iter().filter_map(|pair| pair.to_str()?.split_once('='));
    let changed = pairs.filter(|(name, value)| std::env::var_os(name).as_deref() != Some(OsStr::new(value)));
    changed.map(|(name, value)| (name.to_owned(), value.into())).collect()
}
