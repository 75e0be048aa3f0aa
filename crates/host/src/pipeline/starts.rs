//! Judges the programs that an agent's processes start, on the same path as the calls that an agent reports.

use super::host::Host;
use crate::store::approvals::settle;
use crate::store::redact::Kept;
use crate::store::{Search, Store};
use crate::system::os;
use crate::system::random;
use crate::world::TEMPORARY;
use reflex_agents::{Payload, supervisor};
use reflex_engine::shell::{Language, quoted};
use reflex_engine::{Action, Event, Judgement, WordList, is_within};
use reflex_supervise::{Answer, Judge, Start, parent, since};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum number of processes whose starts are remembered before the ended ones are dropped.
const MAX_PROCESSES: usize = 8192;

/// Maximum number of processes between a start and the one that it comes from.
const MAX_ABOVE: usize = 64;

thread_local! {
    /// The record of the start that this thread has just let run. It is written once the program runs.
    static RECORD: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// Writes the record of a call. That of a start that runs waits until [`Judge::done`], unless it has to survive a crash
/// or the call may not run without it.
pub(super) fn record(store: &Store, event: &Event, record: Kept, (durable, needed): (bool, bool)) -> io::Result<()> {
    if event.started.is_none() || durable || needed {
        return store.record(&record, durable);
    }
    RECORD.set(Some(record));
    Ok(())
}

/// Judges the starts of one run.
pub struct Starts {
    host: Host,
    agent: String,
    session: String,
    workspace: String,
    /// Whether the run's own program is a shell, which prints the text of a refusal.
    is_shell: bool,
    /// Seconds and nanoseconds since 1970.
    begun: (i64, i64),
    /// The variables of this process, as `NAME=VALUE`.
    environment: HashSet<OsString>,
    /// Number of starts that ran although their record could not be written.
    unrecorded: AtomicUsize,
    processes: Mutex<Processes>,
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
    /// The record of the start.
    id: String,
    /// The interpreter of a script with its words; otherwise empty.
    interpreted: Vec<OsString>,
}

impl Starts {
    /// Judges the starts below an agent that a person starts in this folder. Every start is recorded with this name.
    pub fn new(host: Host, agent: &str, folder: &str) -> Starts {
        let event = Event { cwd: folder.into(), ..Event::default() };
        let workspace = host.settled(event).workspace;
        let is_shell = has(WordList::Shells, agent);
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
            is_shell,
            begun: (i64::try_from(begun.as_secs()).unwrap_or(0), begun.subsec_nanos().into()),
            environment: environment.collect(),
            unrecorded: AtomicUsize::new(0),
            processes: Mutex::default(),
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
        let Some(first) = &processes.first else { return false };
        let lists = [WordList::ScriptInterpreters, WordList::CombinedPrograms];
        let may_be_anything = lists.iter().any(|list| has(*list, unversioned(first.file.as_os_str())));
        let is_itself = start.caller == first.file && start.file == first.file && !first.file.as_os_str().is_empty();
        has(WordList::AgentPrograms, &self.agent) && is_itself && !may_be_anything
    }

    /// The start without the words that the person gave to the run's own program, if that is a script which its
    /// interpreter starts again: the person asked for these words.
    fn without_given_words(&self, start: &Start) -> Option<Start> {
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let first = processes.first.as_ref()?;
        let words = first.argv.get(1..).filter(|words| !words.is_empty())?;
        let before = start.argv.strip_suffix(words)?;
        let script = start.cwd.join(before.get(1..)?.last()?).canonicalize().ok()?;
        (script == first.file).then(|| Start { argv: before.to_vec(), ..start.clone() })
    }

    /// Whether a file was there before the run, outside of the project and of folders for temporary files. The time of
    /// its last change of any kind cannot be set by its owner.
    fn is_installed(&self, file: &Path) -> bool {
        let text = file.to_string_lossy();
        let is_elsewhere =
            !is_within(&text, &self.workspace) && TEMPORARY.iter().all(|folder| !is_within(&text, folder));
        is_elsewhere && fs::symlink_metadata(file).is_ok_and(|data| os::stat_of(&data).changed < self.begun)
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
        put("command", command(start, &|file| self.is_installed(file)).into());
        put("workspace", self.workspace.as_str().into());
        put("cwd", cwd.into());
        put("environment", Value::Object(self.changed_variables(&start.environment)));
        fields
    }
}

impl Judge for Starts {
    fn judge(&self, start: &Start) -> Answer {
        let cause = self.processes.lock().unwrap_or_else(PoisonError::into_inner).cause(start);
        let Some((by, goes_on)) = cause else { return Answer::Run };
        if by.is_empty() && self.is_helper(start) {
            return Answer::Run;
        }
        // The `env` of a `#!` line starts the interpreter of a script that was judged. `#!/usr/bin/env rm` names none.
        let is_named = start.argv.first().is_some_and(|name| start.file.file_name() == Some(name));
        let reads_scripts = has(WordList::ScriptInterpreters, unversioned(start.file.as_os_str()));
        if goes_on && is_named && reads_scripts && self.is_installed(&start.file) {
            return Answer::Run;
        }
        let id = random::uuid();
        let again = if by.is_empty() { self.without_given_words(start) } else { None };
        let fields = self.payload(again.as_ref().unwrap_or(start), (&id, &by));
        let payload = Payload { fields: &fields, event_name: None, variable: &|_| None };
        let reply = self.host.answer(&supervisor::AGENT, &payload);
        if reply.code != 0 {
            let by_agent = by.is_empty() && !self.is_shell;
            return if by_agent { Answer::End(reply.stderr) } else { Answer::Refuse(reply.stderr) };
        }
        settle();
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).note(start, id);
        Answer::Run
    }

    fn done(&self) {
        let Some(record) = RECORD.take() else { return };
        if self.host.store().record(&record, false).is_err() {
            self.unrecorded.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Host {
    /// The approval of a start above this one, if its text contains this command: a person has then seen it. Returns
    /// the approval's id and the reason.
    pub(super) fn approved_above(&self, event: &Event, judgement: &Judgement) -> Option<(String, String)> {
        let mut by = event.started.as_ref()?.by.clone();
        let own = commands_of(judgement).next()?;
        let store = self.store();
        for _ in 0..MAX_ABOVE {
            if by.is_empty() {
                return None;
            }
            let search = Search { fields: vec![("id".into(), by.clone())], ..Search::default() };
            let record = store.log().search(&search, 1).ok()?.pop()?;
            let texts = record.get("actions").and_then(Value::as_array).into_iter().flatten();
            let texts = texts.filter_map(|action| action.get("command")?.as_str());
            let contains = |text: &str| {
                let actions = vec![Action::Shell { command: text.into(), language: Language::default() }];
                let judgement = self.judge(&Event { actions, ..event.clone() });
                commands_of(&judgement).any(|command| command == own)
            };
            let grant = record.get("grant").and_then(Value::as_str);
            if let Some(grant) = grant.filter(|_| texts.into_iter().any(contains)) {
                return Some((grant.to_owned(), format!("it is a part of the start that was approved as {grant}")));
            }
            by = record.get("start").and_then(|start| start.get("by")?.as_str()).unwrap_or_default().to_owned();
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

impl Processes {
    /// The record of the start that this one comes from, and whether it has the words of that start's interpreter.
    /// `None` for the first one, which the person asked for.
    fn cause(&mut self, start: &Start) -> Option<(String, bool)> {
        if self.first.is_none() {
            self.first = Some(start.clone());
            self.note(start, String::new());
            return None;
        }
        let known = |(process, since): (u32, u64)| self.starts.get(&process).filter(|known| known.since == since);
        if let Some(known) = known((start.process, start.since)) {
            let goes_on = known.interpreted.get(1..) == Some(start.argv.as_slice());
            return Some((known.id.clone(), goes_on));
        }
        let first = (start.parent, since(start.parent));
        let mut above = std::iter::successors(Some(first), |(process, _)| parent(*process)).take(MAX_ABOVE);
        Some((above.find_map(known).map(|known| known.id.clone()).unwrap_or_default(), false))
    }

    fn note(&mut self, start: &Start, id: String) {
        if self.starts.len() >= MAX_PROCESSES {
            self.starts.retain(|process, _| parent(*process).is_some());
        }
        let interpreted = start.interpreted.clone();
        self.starts.insert(start.process, Known { since: start.since, id, interpreted });
    }
}

/// The command line by which a start is judged.
///
/// An installed program has the name under which it was found, `cc` and not `gcc-12`, unless that is a link that is not
/// installed, such as `./tidy` to `/bin/rm`. Any other program has its path, so that a script is read. The first
/// argument counts only for programs that choose by it what they are. A script stands for itself, as its interpreter
/// reads it; an interpreter that reads no scripts is judged with the words that the kernel gives it.
fn command(start: &Start, is_installed: &dyn Fn(&Path) -> bool) -> String {
    if let Some((interpreter, words)) = start.interpreted.split_first()
        && (!has(WordList::ScriptInterpreters, unversioned(interpreter))
            || (has(WordList::Shells, unversioned(interpreter)) && !is_installed(&start.file)))
    {
        return line([interpreter.as_os_str()].into_iter().chain(words.iter().map(OsString::as_os_str)));
    }
    let found = start.cwd.join(&start.path);
    let name = match (found.file_name(), start.file.file_name()) {
        (Some(name), Some(_)) if is_installed(&found) && is_installed(&start.file) => name,
        (_, Some(name)) if is_installed(&start.file) => name,
        _ if start.path.as_os_str().is_empty() => start.file.as_os_str(),
        _ => found.as_os_str(),
    };
    let given = start.argv.first().and_then(|name| Path::new(name).file_name());
    let is_combined = |file: &&OsStr| file.to_str().is_some_and(|file| has(WordList::CombinedPrograms, file));
    let chooses = start.file.file_name().filter(is_combined);
    let rest = start.argv.iter().skip(1).map(OsString::as_os_str);
    match (chooses, given) {
        (Some(file), Some(given)) if file != given => line([file, given].into_iter().chain(rest)),
        _ => line([name].into_iter().chain(rest)),
    }
}

fn has(list: WordList, word: &str) -> bool {
    list.read(reflex_library::tables()).has(word)
}

/// The name of a program without its folder and version: `python` for `/usr/bin/python3.11`.
fn unversioned(program: &OsStr) -> &str {
    let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.trim_end_matches(|ch: char| ch.is_ascii_digit() || ch == '.')
}

fn line<'w>(words: impl Iterator<Item = &'w OsStr>) -> String {
    words.map(|word| shown(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// A word as a person would write it: quoted only if a shell would read it otherwise.
fn shown(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) { word.to_owned() } else { quoted(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(path: &str, file: &str, argv: &[&str], interpreted: &[&str]) -> Start {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect();
        Start {
            cwd: "/repo".into(),
            path: path.into(),
            file: file.into(),
            argv: words(argv),
            interpreted: words(interpreted),
            ..Start::default()
        }
    }

    fn installed(file: &Path) -> bool {
        !file.starts_with("/repo")
    }

    #[test]
    fn a_program_is_judged_by_the_name_under_which_it_was_found() {
        for (path, file, argv, expected) in [
            ("/usr/bin/cc", "/usr/bin/x86_64-linux-gnu-gcc-12", ["cc", "-c"], "cc -c"),
            ("./tidy", "/usr/bin/rm", ["./tidy", "x y"], "rm 'x y'"),
            ("/usr/bin/stat", "/usr/bin/stat", ["echo", "f"], "stat f"),
            ("/bin/busybox", "/bin/busybox", ["rm", "f"], "busybox rm f"),
            ("/bin/rm", "/bin/busybox", ["rm", "f"], "busybox rm f"),
            ("/bin/busybox", "/bin/busybox", ["busybox", "rm"], "busybox rm"),
            ("/home/u/.cargo/bin/cargo", "/home/u/.cargo/bin/rustup", ["cargo", "test"], "cargo test"),
            ("build/tool", "/repo/build/tool", ["tool", "x"], "/repo/build/tool x"),
            ("", "", ["x", "y"], "'' y"),
        ] {
            assert_eq!(command(&start(path, file, &argv, &[]), &installed), expected, "{path}");
        }
    }

    #[test]
    fn a_script_stands_for_itself_unless_its_interpreter_reads_none() {
        let npm = ["/usr/bin/env", "node", "/usr/local/bin/npm", "ci"];
        let file = "/usr/local/lib/node_modules/npm/bin/npm-cli.js";
        assert_eq!(command(&start("/usr/local/bin/npm", file, &["npm", "ci"], &npm), &installed), "npm ci");
        let script = ["/usr/bin/python3.11", "./a", "x"];
        assert_eq!(command(&start("./a", "/repo/a", &["./a", "x"], &script), &installed), "/repo/./a x");
        let echo = ["/bin/rm", "-rf", "./a", "x"];
        assert_eq!(command(&start("./a", "/repo/a", &["./a", "x"], &echo), &installed), "/bin/rm -rf ./a x");
        let shell = ["/bin/sh", "./a", "x"];
        assert_eq!(command(&start("./a", "/repo/a", &["./a", "x"], &shell), &installed), "/bin/sh ./a x");
    }
}
