//! The truth matrix: of every part of an agent's work, whether the guard was seen to stand before it.

use super::client::installed_version;
use super::doctor::{project_here, stopped, switches, untrusted, variables};
use super::proof::lapsed;
use super::wiring::{Plugin, Wiring};
use crate::store::life::{Heartbeat, last_version};
use reflex_agents::{Agent, Extent, Limit, Surface};

/// What is known of one part of an agent's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Coverage {
    /// A call of it came to the guard, at this time in milliseconds since 1970.
    Proven(u64),
    /// The hook stands; no call has come yet.
    Configured,
    /// Nothing of it comes to the guard: why, and what helps.
    Blind(String, String),
    /// The hook does not stand, or the agent does not run it: why, and what helps.
    Off(String, String),
}

/// One cell of the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The part of the agent's work.
    pub surface: Surface,
    /// What is known of it.
    pub sight: Coverage,
    /// What of it is not seen all the same.
    pub except: Vec<&'static Limit>,
}

/// The row of one agent.
pub struct Row {
    /// The agent.
    pub agent: &'static Agent,
    /// Its settings file, and why the hook in it does not stand before the agent's tools; `None` if it does.
    pub broken: Option<String>,
    /// Why nothing that was seen before counts any more; `None` if it counts.
    pub lapsed: Option<String>,
    /// One for each surface, in the order of [`Surface::ALL`].
    pub cells: Vec<Cell>,
}

/// The client's version, as it said last or as its own files tell.
pub fn client_version(wiring: &Wiring) -> Option<String> {
    last_version(wiring.state(), wiring.agent()).or_else(|| installed_version(wiring))
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
    // A call that came since tells more than a file of the agent.
    if broken.is_none() && (last.is_none() || lapsed.is_some()) {
        broken = untrusted(wiring).map(|trouble| trouble.what);
    }
    // What was seen before a change says nothing about what is there now.
    let beats = if lapsed.is_some() { &[] } else { beats };
    let cell = |surface| Cell {
        surface,
        sight: sight(agent, surface, (broken.as_deref(), beats)),
        except: agent.limits.iter().filter(|limit| partly(limit, surface)).collect(),
    };
    let cells = Surface::ALL.into_iter().map(cell).collect();
    Row { agent, cells, broken, lapsed }
}

/// A client that is newer than the one whose reading is known, if it would drop the file as far as is known.
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

/// Why the hook is not asked, as far as files tell: nothing is started here.
fn broken(wiring: &Wiring) -> Option<String> {
    // An administrator's hook runs whatever the user's file says.
    if wiring.is_managed() {
        return variables(wiring).into_iter().next().map(|trouble| trouble.what);
    }
    let found = [switches, stopped, variables].into_iter().flat_map(|look| look(wiring));
    let found = found.into_iter().next().map(|trouble| trouble.what);
    if wiring.hooks().is_empty() && wiring.plugin(&project_here(wiring)) == Some(Plugin::Enabled) {
        return found;
    }
    let (file, again) = (wiring.file().display().to_string(), wiring.repair());
    match wiring.install() {
        Err(problem) => return Some(problem),
        Ok(_) if wiring.hooks().is_empty() => {
            return Some(format!("no Reflex hook in {file}: run `reflex init --agent {}`", wiring.agent()));
        }
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
        // What really came is worth more than what is written in a table.
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
