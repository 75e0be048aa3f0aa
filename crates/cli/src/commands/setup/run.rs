//! `reflex run -- AGENT ARGS…`: starts an agent once it is certain that the agent will call the guard, and summarizes
//! the guard's decisions at the end.

use crate::commands::history::record::field;
use crate::commands::setup::mode;
use crate::commands::setup::selection::{agents, wired_in_project};
use crate::commands::setup::supervise::{self, Started, Supervisor};
use crate::error::Error;
use crate::exit_code;
use crate::foreground;
use crate::terminal::arguments::text;
use crate::terminal::output::complain;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_agents::{AGENTS, Agent};
use reflex_engine::shell::{Language, quoted};
use reflex_engine::{Action, Event, Moment};
use reflex_host::doctor::silencing;
use reflex_host::store::modes::{ALLOW_ALL, AUTO_PILOT};
use reflex_host::store::{Search, Store};
use reflex_host::{ChangedFiles, Context, Host, Mode, SESSION_MODE, Wiring, matrix, now, timestamp};
use std::path::Path;
use std::process::Command;

/// Maximum number of calls counted at the end.
const MAX_COUNTED: usize = 20_000;

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let words: Vec<String> = matches.get_many("command").into_iter().flatten().cloned().collect();
    let Some((program, arguments)) = words.split_first() else { return exit_code::USAGE };
    let host = context.host(Mode::default());
    let run = match Run::prepared(context, &host, matches, &words) {
        Ok(run) => run,
        Err(problem) => return problem.report(),
    };
    let banner = run.banner();
    if !banner.is_empty() {
        complain(&banner);
    }
    if matches.get_flag("check") {
        let why = if run.supervisor.is_some() { "this system can supervise it" } else { "its hooks are in place" };
        complain(&format!("{} would be started: {why}", run.title));
        return exit_code::OK;
    }
    let store = host.store();
    if let Err(code) = begin_mode(context, &store, matches, &run.title) {
        return code;
    }
    let begun = timestamp(now());
    let before = host.changed_files();
    let mut command = Command::new(program);
    // The hooks share the agent's environment. Removing this variable leaves the user's own policy in force.
    command.args(arguments).envs(run.tightened.map(|name| (SESSION_MODE, name)));
    let ended = match &run.supervisor {
        Some(supervisor) => {
            let started = Started { agent: run.agent, name: &run.name, words: &words, mode: run.tightened };
            supervisor.run(context, &mut command, &started)
        }
        None => foreground::through(&mut command, &foreground::plainly),
    };
    // A mode for a process that has ended has no effect; its file is useless.
    let _ = store.end_modes(|mode| mode.below == Some(std::process::id()));
    match ended {
        Ok(code) => {
            complain(&summary(&host, (&run.name, begun), before));
            code
        }
        Err(error) => {
            complain(&format!("{}: {error}", visible(program)));
            exit_code::INTERNAL
        }
    }
}

/// A program that may be started.
struct Run {
    agent: Option<&'static Agent>,
    /// The agent's name, or that of the program.
    name: String,
    title: String,
    supervisor: Option<Supervisor>,
    /// The mode that tightens this session, if one was named.
    tightened: Option<&'static str>,
}

impl Run {
    /// Checks that the program is an agent whose hooks are in place, or that it can be supervised.
    fn prepared(context: &Context, host: &Host, matches: &ArgMatches, words: &[String]) -> Result<Run, Error> {
        let program = words.first().map(String::as_str).unwrap_or_default();
        let supervisor = supervise::wanted(context, matches)?;
        let agent = agent_of(program);
        match agent {
            // A supervised program needs no hooks.
            Some(agent) if !supervisor.as_ref().is_some_and(Supervisor::judges) => {
                is_guarded(context, host, agent, words)?;
            }
            None if supervisor.is_none() => {
                return Err(Error::UnknownAgent(agents(|agent| agent.settings.is_some())));
            }
            Some(_) | None => {}
        }
        has_task(host, text(matches, "task"))?;
        let tightened = tightened(matches)?;
        let file = Path::new(program).file_name().map(|name| name.to_string_lossy().into_owned());
        let file = file.unwrap_or_else(|| program.to_owned());
        let (name, title) = match agent {
            Some(agent) => (agent.name.to_owned(), agent.title.to_owned()),
            None => (file.clone(), file),
        };
        Ok(Run { agent, name, title, supervisor, tightened })
    }

    /// The limits of enforcement in this run; empty if there are none worth a line.
    fn banner(&self) -> String {
        match &self.supervisor {
            Some(supervisor) => supervisor.banner(&self.title),
            None => self.agent.map(Agent::banner).unwrap_or_default(),
        }
    }
}

/// Begins the mode that a person asks for, for this run. The error is the exit code.
fn begin_mode(context: &Context, store: &Store, matches: &ArgMatches, title: &str) -> Result<(), u8> {
    let modes = [("allow-all", ALLOW_ALL), ("auto-pilot", AUTO_PILOT)];
    let Some((_, name)) = modes.into_iter().find(|(flag, _)| matches.get_flag(flag)) else { return Ok(()) };
    match mode::begin_for_run(context, store, name) {
        Ok(Some(mode)) => complain(&format!("{} {} until {title} ends", mode.name, mode.place())),
        Ok(None) => return Err(exit_code::FOUND),
        Err(problem) => return Err(problem.report()),
    }
    Ok(())
}

/// Returns the mode that tightens this session, if one was named.
fn tightened(matches: &ArgMatches) -> Result<Option<&'static str>, Error> {
    let name = text(matches, "mode");
    match Mode::named(name) {
        Some(mode) => Ok(Some(mode.name())),
        None if name.is_empty() => Ok(None),
        None => Err(Error::Mode { name: name.to_owned(), known: Mode::names().join(", ") }),
    }
}

/// Returns the agent whose program this is.
fn agent_of(program: &str) -> Option<&'static Agent> {
    let name = Path::new(program).file_name()?.to_str()?;
    let is_it = |agent: &&Agent| agent.settings.is_some_and(|settings| settings.programs.contains(&name));
    AGENTS.iter().find(is_it)
}

/// Checks that this start will call the guard: no argument switches hooks off, and the hook is in a file that the agent
/// reads. The error says why it will not.
fn is_guarded(context: &Context, host: &Host, agent: &Agent, words: &[String]) -> Result<(), Error> {
    let command = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let event = Event {
        moment: Moment::BeforeTool,
        actions: vec![Action::Shell { command, language: Language::Shell }],
        ..Event::default()
    };
    let verdict = host.judge(&host.placed(event), None).verdict;
    if let Some(finding) = verdict.findings.iter().find(|finding| finding.id == UNGUARDED) {
        return Err(Error::Unguarded(format!("{} Instead: {}", finding.message, finding.remedy)));
    }
    // By typing the command, the person has decided all other findings about the start.
    let beats = host.store().heartbeats();
    let of_agent = |wiring: &Wiring| wiring.agent() == agent.name && !wiring.is_written_by_agent();
    let of_user: Vec<Wiring> = Wiring::all(context).into_iter().filter(of_agent).collect();
    let of_project: Vec<Wiring> = wired_in_project(context).into_iter().filter(of_agent).collect();
    let mut broken = of_user.iter().chain(&of_project).map(|wiring| matrix::row(wiring, &beats).broken);
    let first = broken.next().flatten();
    match first {
        Some(why) if !broken.any(|other| other.is_none()) => {
            let silencing = of_user.iter().chain(&of_project).find_map(|wiring| silencing(wiring).pop());
            let (why, fix) = match silencing {
                Some(trouble) => (trouble.what, trouble.fix),
                None => (why, format!("reflex init --agent {}", agent.name)),
            };
            Err(Error::Unguarded(format!("{} would not ask Reflex: {why}; fix: {fix}", agent.title)))
        }
        _ => Ok(()),
    }
}

/// The rule about starting an agent without the guard.
const UNGUARDED: &str = "guard/unguarded-agent";

/// Whether the task is the one that a person declared here.
fn has_task(host: &Host, id: &str) -> Result<(), Error> {
    let workspace = host.placed(Event::default()).workspace;
    let declared = host.store().task(&workspace).map(|task| task.id);
    if id.is_empty() || declared.as_deref() == Some(id) {
        return Ok(());
    }
    Err(Error::UndeclaredTask(id.to_owned()))
}

/// Summarizes the guard's decisions since a time, and what has changed in the project, on one line. `before` are the
/// files that differed from the last commit at the start.
fn summary(host: &Host, (agent, since): (&str, String), before: Option<ChangedFiles>) -> String {
    let fields = [("kind", "call"), ("agent", agent)].map(|(key, text)| (key.to_owned(), text.to_owned()));
    let search = Search { fields: fields.into(), since: Some(since), ..Search::default() };
    let calls = host.store().log().search(&search, MAX_COUNTED).unwrap_or_default();
    let decided = |word: &str| calls.iter().filter(|call| field(call, "decision") == word).count();
    let has = |key: &str| calls.iter().filter(|call| !field(call, key).is_empty()).count();
    let (stopped, asked, kept) = (decided("deny"), decided("ask"), has("kept"));
    let after = before.zip(host.changed_files());
    let files = match after.map(|(before, after)| after.since(&before)) {
        Some(1) => "; 1 file changed".to_owned(),
        Some(count) => format!("; {count} files changed"),
        None => String::new(),
    };
    let count = calls.len();
    let calls = if count == 1 { "1 call".to_owned() } else { format!("{count} calls") };
    let copies = if kept > 0 { " (`reflex undo`)" } else { "" };
    let approved = has("grant");
    format!(
        "{calls}: {stopped} stopped, {asked} asked, {approved} approved, {kept} kept{copies}{files}. More: `reflex report`"
    )
}
