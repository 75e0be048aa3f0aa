//! Judges the programs that an agent's processes start, on the same path as the calls that an agent reports.

use super::causes::{Calls, MAX_ABOVE};
use super::host::Host;
use super::naming::{command, has, unversioned};
use crate::store::approvals::Hold;
use crate::store::redact::Kept;
use crate::system::os;
use crate::system::random;
use crate::world::TEMPORARY;
use reflex_agents::{Payload, supervisor};
use reflex_engine::{Event, WordList, is_within};
use reflex_supervise::{Answer, Judge, Stage, Start, parent, program, since};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum number of processes whose starts are remembered before the ended ones are dropped.
const MAX_PROCESSES: usize = 8192;

/// Judges the starts of one run.
pub struct Starts {
    host: Host,
    agent: String,
    session: String,
    workspace: String,
    /// The calls that the agent's hooks report during the run; `None` if the program has no known hooks.
    calls: Option<Calls>,
    /// Whether the run's own program is a shell, which prints the text of a refusal.
    is_shell: bool,
    /// Seconds and nanoseconds since 1970.
    begun: (i64, i64),
    /// The variables of this process, as `NAME=VALUE`.
    environment: HashSet<OsString>,
    /// Number of starts that ran although their record could not be written.
    unrecorded: AtomicUsize,
    processes: Mutex<Processes>,
    /// The record of the start that a thread has just let run. It is written once the program runs.
    later: Mutex<HashMap<ThreadId, Kept>>,
}

/// The newest start of each process.
#[derive(Default)]
struct Processes {
    /// The first start: the program that the person asked for.
    first: Option<Start>,
    starts: HashMap<u32, Known>,
}

/// The newest start of a process.
struct Known {
    /// When the process began.
    since: u64,
    /// Its record and those of its causes, the nearest first. Empty for the program that the person asked for.
    records: Vec<Arc<str>>,
    /// The interpreter of a script with its words; otherwise empty.
    interpreted: Vec<OsString>,
}

impl Starts {
    /// Judges the starts below an agent that a person starts in this folder. Every start is recorded with this name.
    pub fn new(host: Host, agent: &str, folder: &str) -> Starts {
        let event = Event { cwd: folder.into(), ..Event::default() };
        let workspace = host.settled(event).workspace;
        let is_shell = has(WordList::Shells, agent);
        let calls = reflex_agents::find(agent).map(|agent| Calls::of(agent.name));
        let (agent, session) = (agent.into(), random::uuid());
        let begun = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let environment = std::env::vars_os().map(|(mut pair, value)| {
            pair.push("=");
            pair.push(value);
            pair
        });
        Starts {
            host,
            agent,
            session,
            workspace,
            calls,
            is_shell,
            begun: (i64::try_from(begun.as_secs()).unwrap_or(0), begun.subsec_nanos().into()),
            environment: environment.collect(),
            unrecorded: AtomicUsize::new(0),
            processes: Mutex::default(),
            later: Mutex::default(),
        }
    }

    /// Number of starts that ran although their record could not be written.
    pub fn unrecorded(&self) -> usize {
        self.unrecorded.load(Ordering::Relaxed)
    }

    /// The variables that this process lacks, or has with another value.
    fn changed_variables(&self, environment: &[OsString]) -> Map<String, Value> {
        let changed = environment.iter().filter(|pair| !self.environment.contains(*pair));
        let pairs = changed.filter_map(|pair| pair.to_str()?.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.into())).collect()
    }

    /// Whether an agent's own program starts itself as a helper. Starts by that helper are judged. An interpreter or a
    /// program that is several in one does not count: it can be anything.
    fn is_helper(&self, start: &Start) -> bool {
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(first) = processes.first.as_ref().filter(|_| has(WordList::AgentPrograms, &self.agent)) else {
            return false;
        };
        let lists = [WordList::ScriptInterpreters, WordList::CombinedPrograms];
        let may_be_anything = lists.iter().any(|list| has(*list, unversioned(first.file.as_os_str())));
        let is_itself = start.file == first.file && !first.file.as_os_str().is_empty() && !may_be_anything;
        is_itself && start.stage == Stage::Requested && program(start.process) == first.file
    }

    /// The start without the words that the person gave to the run's own program, if it starts that program once more:
    /// an interpreter with its script, or an agent's program to which a script of the same name hands the words. The
    /// person asked for these words, and what the program starts counts as started by the agent itself.
    fn once_more(&self, start: &Start) -> Option<Start> {
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let first = processes.first.as_ref()?;
        let before = start.argv.strip_suffix(first.argv.get(1..)?)?;
        let is_it = match before {
            [_] => {
                let name = start.file.file_name();
                let is_agent = has(WordList::AgentPrograms, name.and_then(OsStr::to_str).unwrap_or_default());
                is_agent && name == first.path.file_name() && self.is_installed(&start.file)
            }
            [_, .., script] if has(WordList::ScriptInterpreters, unversioned(start.file.as_os_str())) => {
                start.cwd.join(script).canonicalize().is_ok_and(|script| script == first.file)
            }
            [] | [_, _, ..] => false,
        };
        is_it.then(|| Start { argv: before.to_vec(), ..start.clone() })
    }

    /// Whether a file was there before the run, outside of the project and of folders for temporary files. The time of
    /// its last change of any kind cannot be set by its owner.
    fn is_installed(&self, file: &Path) -> bool {
        let text = file.to_string_lossy();
        let is_elsewhere =
            !is_within(&text, &self.workspace) && TEMPORARY.iter().all(|folder| !is_within(&text, folder));
        is_elsewhere && fs::symlink_metadata(file).is_ok_and(|data| os::stat_of(&data).changed < self.begun)
    }

    fn command(&self, start: &Start) -> String {
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let agent = processes.first.as_ref().map(|first| first.file.as_path());
        command(start, agent.unwrap_or_else(|| Path::new("")), &|file| self.is_installed(file))
    }

    fn payload(&self, start: &Start, id: &str, causes: &[Arc<str>]) -> Map<String, Value> {
        let cwd = start.cwd.to_string_lossy().into_owned();
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| drop(fields.insert(key.into(), value));
        put("id", id.into());
        put("causes", causes.iter().map(|cause| Value::from(&**cause)).collect());
        put("process", start.process.into());
        put("session", self.session.as_str().into());
        put("agent", self.agent.as_str().into());
        put("command", self.command(start).into());
        put("workspace", self.workspace.as_str().into());
        put("cwd", cwd.into());
        put("person", (self.calls.is_none() && io::stderr().is_terminal()).into());
        put("environment", Value::Object(self.changed_variables(&start.environment)));
        fields
    }
}

impl Judge for Starts {
    fn judge(&self, start: &Start) -> Answer {
        let found = self.processes.lock().unwrap_or_else(PoisonError::into_inner).causes(start);
        let Some((mut causes, goes_on)) = found else { return Answer::Run };
        let is_top = causes.is_empty();
        if is_top && self.is_helper(start) {
            return Answer::Run;
        }
        // The `env` of a `#!` line starts the interpreter of a script that was judged. `#!/usr/bin/env rm` names none.
        let is_named = start.argv.first().is_some_and(|name| start.file.file_name() == Some(name));
        let reads_scripts = has(WordList::ScriptInterpreters, unversioned(start.file.as_os_str()));
        if goes_on && is_named && reads_scripts && self.is_installed(&start.file) {
            return Answer::Run;
        }
        let calls = self.calls.as_ref().filter(|_| is_top);
        causes.extend(calls.and_then(|calls| calls.of_start(&self.host, start)).map(Arc::from));
        let id = random::uuid();
        let again = if is_top { self.once_more(start) } else { None };
        let fields = self.payload(again.as_ref().unwrap_or(start), &id, &causes);
        let payload = Payload { fields: &fields, event_name: None, variable: &|_| None };
        let mut replied = self.host.answer(&supervisor::AGENT, &payload);
        if let Some(record) = replied.take_later() {
            let mut waiting = self.later.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.insert(thread::current().id(), record);
        }
        let reply = replied.reply;
        if reply.code != 0 {
            return if is_top && !self.is_shell { Answer::End(reply.stderr) } else { Answer::Refuse(reply.stderr) };
        }
        replied.hold.into_iter().for_each(Hold::finish);
        let records = [Arc::from(id)].into_iter().chain(causes).take(MAX_ABOVE);
        let records = if again.is_some() { Vec::new() } else { records.collect() };
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).note(start, records);
        Answer::Run
    }

    fn done(&self) {
        let mut waiting = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(record) = waiting.remove(&thread::current().id()) else { return };
        drop(waiting);
        if self.host.store().record(&record, false).is_err() {
            self.unrecorded.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Processes {
    /// The records of the starts that this one comes from, the nearest first, and whether it has the words of that
    /// start's interpreter. `None` for the first one, which the person asked for.
    fn causes(&mut self, start: &Start) -> Option<(Vec<Arc<str>>, bool)> {
        if self.first.is_none() {
            self.first = Some(start.clone());
            self.note(start, Vec::new());
            return None;
        }
        let known = |(process, since): (u32, u64)| self.starts.get(&process).filter(|known| known.since == since);
        if let Some(known) = known((start.process, start.since)) {
            let goes_on = known.interpreted.get(1..) == Some(start.argv.as_slice());
            return Some((known.records.clone(), goes_on));
        }
        let mut above = (start.parent, since(start.parent));
        for _ in 0..MAX_ABOVE {
            if let Some(known) = known(above) {
                return Some((known.records.clone(), false));
            }
            let Some(parent) = parent(above.0) else { break };
            above = parent;
        }
        Some((Vec::new(), false))
    }

    fn note(&mut self, start: &Start, records: Vec<Arc<str>>) {
        if self.starts.len() >= MAX_PROCESSES {
            self.starts.retain(|process, _| parent(*process).is_some());
        }
        let interpreted = start.interpreted.clone();
        self.starts.insert(start.process, Known { since: start.since, records, interpreted });
    }
}
