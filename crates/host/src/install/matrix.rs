//! The coverage matrix: for each part of an agent's work, whether the guard has been seen to judge it.

use super::client::program_missing;
use super::doctor::{project_here, stopped, switches, untrusted, variables};
use super::proof::lapsed;
use super::wiring::{Plugin, Wiring};
use crate::store::heartbeat::{Heartbeat, last_version};
use reflex_agents::{Agent, Extent, Limit, Surface};

/// The coverage of one part of an agent's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Coverage {
    /// The hook received a call of this part, at this time in milliseconds since 1970.
    Proven(u64),
    /// The hook is installed; no call has arrived yet.
    Configured,
    /// The agent sends no call of this part to the hook: the reason, and a remedy.
    Blind(String, String),
    /// The hook is not installed, or the agent does not run it: the reason, and a remedy.
    Off(String, String),
}

/// One cell of the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The part of the agent's work.
    pub surface: Surface,
    /// Its coverage.
    pub sight: Coverage,
    /// Exceptions: parts that stay invisible to the hook.
    pub except: Vec<&'static Limit>,
}

/// The row of one agent.
pub struct Row {
    /// The agent.
    pub agent: &'static Agent,
    /// The reason why the hook does not guard the agent's tools, with its settings file; `None` if it does.
    pub broken: Option<String>,
    /// The reason why earlier calls no longer prove anything; `None` if they do.
    pub lapsed: Option<String>,
    /// One for each surface, in the order of [`Surface::ALL`].
    pub cells: Vec<Cell>,
}

/// The row of the agent of these settings.
pub fn row(wiring: &Wiring, beats: &[Heartbeat]) -> Row {
    let (agent, mut broken) = (wiring.adapter(), broken(wiring));
    let mut lapsed = None;
    if let Some(version) = unknown_reader(wiring).filter(|_| broken.is_some()) {
        lapsed = broken.take().map(|why| format!("{why} That was so before {} {version}", agent.title));
    }
    let last = beats.iter().filter(|beat| beat.agent == agent.name).map(|beat| beat.time).max();
    if let (None, None, Some(last)) = (&broken, &lapsed, last) {
        lapsed = changed(wiring, last);
    }
    // A call since then is better evidence than a file of the agent.
    if broken.is_none() && (last.is_none() || lapsed.is_some()) {
        broken = untrusted(wiring).map(|trouble| trouble.what);
    }
    // Calls before a change prove nothing about the current state.
    let beats = if lapsed.is_some() { &[] } else { beats };
    let cell = |surface| Cell {
        surface,
        sight: sight(agent, surface, (broken.as_deref(), beats)),
        except: agent.limits.iter().filter(|limit| partly(limit, surface)).collect(),
    };
    let cells = Surface::ALL.into_iter().map(cell).collect();
    Row { agent, cells, broken, lapsed }
}

/// Returns the client's version if it is newer than the one whose parser is known, and that parser would drop the
/// settings file. The newer client may accept it.
fn unknown_reader(wiring: &Wiring) -> Option<String> {
    wiring.unloadable()?;
    let version = last_version(wiring.state(), wiring.agent())?;
    let known = wiring.reading()?.version();
    (known != version && reflex_agents::is_older(known, &version)).then_some(version)
}

fn changed(wiring: &Wiring, last: u64) -> Option<String> {
    let files = lapsed(wiring, last);
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    (!names.is_empty()).then(|| format!("{} changed since the last judged call", names.join(", ")))
}

/// The reason why the hook is not called, by files alone: no program is started.
fn broken(wiring: &Wiring) -> Option<String> {
    // A managed hook runs whatever the user's file contains.
    if wiring.is_managed() {
        return variables(wiring).into_iter().next().map(|trouble| trouble.what);
    }
    let found = [switches, stopped, variables].into_iter().flat_map(|look| look(wiring));
    let found = found.into_iter().next().map(|trouble| trouble.what);
    if wiring.hooks().is_empty() && wiring.plugin(&project_here(wiring)) == Some(Plugin::Enabled) {
        return found;
    }
    let (file, again) = (wiring.file().display().to_string(), wiring.repair());
    if let Some(program) = wiring.missing_program() {
        let scope = if wiring.project().is_some() { " --scope project" } else { "" };
        let agent = wiring.agent();
        return Some(format!("{}: run `reflex init --agent {agent}{scope}`", program_missing(wiring, &program)));
    }
    let absent = || Some(format!("no Reflex hook in {file}: run `reflex init --agent {}`", wiring.agent()));
    match wiring.install() {
        Err(_) if wiring.is_detached() => return absent(),
        Err(problem) => return Some(problem.to_string()),
        Ok(_) if wiring.hooks().is_empty() => return absent(),
        Ok(change) if change.before != change.after => {
            return Some(format!("the hook in {file} is not the one of this program: {again}"));
        }
        Ok(_) => {}
    }
    found
}

fn sight(agent: &Agent, surface: Surface, (broken, beats): (Option<&str>, &[Heartbeat])) -> Coverage {
    if let Some(why) = broken {
        return Coverage::Off(why.to_owned(), format!("reflex doctor --agent {}", agent.name));
    }
    let beat = beats.iter().find(|beat| beat.agent == agent.name && beat.surface == surface.name());
    let hides = |limit: &&Limit| matches!(limit.extent, Extent::All(surfaces) if surfaces.contains(&surface));
    match (beat, agent.limits.iter().find(hides)) {
        // A received call is better evidence than a table.
        (Some(beat), _) => Coverage::Proven(beat.time),
        (None, Some(limit)) => Coverage::Blind(limit.what.to_owned(), limit.instead.to_owned()),
        (None, None) => Coverage::Configured,
    }
}

fn partly(limit: &Limit, surface: Surface) -> bool {
    match limit.extent {
        Extent::Some(surfaces) => surfaces.contains(&surface),
        Extent::All(_) | Extent::IfSwitched | Extent::Beyond => false,
    }
}
