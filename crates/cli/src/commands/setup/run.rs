//! `reflex run -- AGENT ARGS…`: starts an agent once it is certain that the agent will call the guard, and summarizes
//! the guard's decisions at the end.

use crate::commands::history::record::field;
use crate::commands::setup::mode;
use crate::commands::setup::selection::{agents, wired_in_project};
use crate::exit_code;
use crate::foreground;
use crate::terminal::arguments::text;
use crate::terminal::output::complain;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_agents::{AGENTS, Agent};
use reflex_engine::shell::{Language, quoted};
use reflex_engine::{Action, Event, Moment};
use reflex_host::store::Search;
use reflex_host::store::modes::{ALLOW_ALL, AUTO_PILOT};
use reflex_host::{ChangedFiles, Host, Mode, SESSION_MODE, Wiring, matrix, now, timestamp};
use std::path::Path;
use std::process::Command;

/// Maximum number of calls counted at the end.
const MAX_COUNTED: usize = 20_000;

pub(in crate::commands) fn run(matches: &ArgMatches) -> u8 {
    let words: Vec<String> = matches.get_many("command").into_iter().flatten().cloned().collect();
    let Some(agent) = words.first().and_then(|program| agent_of(program)) else {
        let known = agents(|agent| agent.settings.is_some());
        complain(&format!("not an agent that Reflex knows; known: {known}"));
        return exit_code::USAGE;
    };
    let host = Host::new(Mode::default());
    if let Err(problem) = is_guarded(&host, agent, &words).and_then(|()| has_task(&host, text(matches, "task"))) {
        complain(&format!("not started: {}", visible(&problem)));
        return exit_code::FOUND;
    }
    let tightened = match tightened(matches) {
        Ok(mode) => mode,
        Err(problem) => {
            complain(&visible(&problem));
            return exit_code::USAGE;
        }
    };
    let banner = agent.banner();
    if !banner.is_empty() {
        complain(&banner);
    }
    if matches.get_flag("check") {
        complain(&format!("{} would be started: its hooks are in place", agent.title));
        return exit_code::OK;
    }
    let Some((program, arguments)) = words.split_first() else { return exit_code::USAGE };
    let store = host.store();
    let modes = [("allow-all", ALLOW_ALL), ("auto-pilot", AUTO_PILOT)];
    if let Some((_, name)) = modes.into_iter().find(|(flag, _)| matches.get_flag(flag)) {
        match mode::begin_for_run(&store, name) {
            Ok(Some(mode)) => complain(&format!("{} {} until {} ends", mode.name, mode.place(), agent.title)),
            Ok(None) => return exit_code::FOUND,
            Err(problem) => {
                complain(&visible(&problem));
                return exit_code::INTERNAL;
            }
        }
    }
    let begun = timestamp(now());
    let before = host.changed_files();
    let mut command = Command::new(program);
    // The hooks share the agent's environment. Removing this variable leaves the user's own policy in force.
    command.args(arguments).envs(tightened.map(|name| (SESSION_MODE, name)));
    let ended = foreground::through(&mut command);
    // A mode for a process that has ended has no effect; its file is useless.
    let _ = store.end_modes(|mode| mode.below == Some(std::process::id()));
    match ended {
        Ok(code) => {
            complain(&summary(&host, (agent, begun), before));
            code
        }
        Err(error) => {
            complain(&format!("{}: {error}", visible(program)));
            exit_code::INTERNAL
        }
    }
}

/// Returns the mode that tightens this session, if one was named.
fn tightened(matches: &ArgMatches) -> Result<Option<&'static str>, String> {
    let name = text(matches, "mode");
    match Mode::named(name) {
        Some(mode) => Ok(Some(mode.name())),
        None if name.is_empty() => Ok(None),
        None => Err(format!("unknown mode `{name}`; known: {}", Mode::names().join(", "))),
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
fn is_guarded(host: &Host, agent: &Agent, words: &[String]) -> Result<(), String> {
    let command = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let event = Event {
        moment: Moment::BeforeTool,
        actions: vec![Action::Shell { command, language: Language::Shell }],
        ..Event::default()
    };
    let verdict = host.judge(&host.placed(event)).verdict;
    if let Some(finding) = verdict.findings.iter().find(|finding| finding.id == UNGUARDED) {
        return Err(format!("{} Instead: {}", finding.message, finding.remedy));
    }
    // By typing the command, the person has decided all other findings about the start.
    let beats = host.store().heartbeats();
    let of_agent = |wiring: &Wiring| wiring.agent() == agent.name && !wiring.is_written_by_agent();
    let of_user: Vec<Wiring> = Wiring::all().into_iter().filter(of_agent).collect();
    let of_project: Vec<Wiring> = wired_in_project().into_iter().filter(of_agent).collect();
    let mut broken = of_user.iter().chain(&of_project).map(|wiring| matrix::row(wiring, &beats).broken);
    let first = broken.next().flatten();
    match first {
        Some(why) if !broken.any(|other| other.is_none()) => {
            Err(format!("{} would not ask Reflex: {why}; `reflex init --agent {}` mends that", agent.title, agent.name))
        }
        _ => Ok(()),
    }
}

/// The rule about starting an agent without the guard.
const UNGUARDED: &str = "guard/unguarded-agent";

/// Whether the task is the one that a person declared here.
fn has_task(host: &Host, id: &str) -> Result<(), String> {
    let workspace = host.placed(Event::default()).workspace;
    let declared = host.store().task(&workspace).map(|task| task.id);
    if id.is_empty() || declared.as_deref() == Some(id) {
        return Ok(());
    }
    Err(format!("the task `{id}` is not declared here: `reflex task start {id} --intent TEXT` first"))
}

/// Summarizes the guard's decisions since a time, and what has changed in the project, on one line. `before` are the
/// files that differed from the last commit at the start.
fn summary(host: &Host, (agent, since): (&Agent, String), before: Option<ChangedFiles>) -> String {
    let fields = [("kind", "call"), ("agent", agent.name)].map(|(key, text)| (key.to_owned(), text.to_owned()));
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
