//! The time of the last call of each agent, per surface.

use super::redact::{Kept, Redactor, is_plain_name, put};
use super::state::Store;
use crate::system::digest::digest;
use crate::system::{clock, person};
use reflex_agents::Surface;
use reflex_engine::{Action, Event};
use std::fs;
use std::path::{Path, PathBuf};

/// The last real call of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    /// `claude`, …
    pub agent: String,
    /// The name of a [`Surface`]; `other` if the call used no tool.
    pub surface: String,
    /// Milliseconds since 1970.
    pub time: u64,
}

/// The last version reported by the agent's client, if any.
pub(crate) fn last_version(state: &Path, agent: &str) -> Option<String> {
    fs::read_to_string(state.join("heartbeats").join(format!("{}.version", file_name(agent)))).ok()
}

/// The name of an agent as part of a file name: the name if it is plain, else its digest.
fn file_name(agent: &str) -> String {
    let plain = |ch: char| ch.is_ascii_alphanumeric() || ch == '-';
    if agent.len() <= 40 && is_plain_name(agent) && agent.chars().all(plain) { agent.into() } else { digest(agent) }
}

/// Minimum time between two heartbeats, in milliseconds.
const BEAT: u64 = 10_000;

impl Store {
    fn beats(&self) -> PathBuf {
        self.folder.join("heartbeats")
    }

    /// Records a sign of life for a call. Writes are rare enough to be negligible.
    pub fn beat(&self, event: &Event) {
        // A start proves the supervisor, not the agent's hooks.
        if event.started.is_some() {
            return;
        }
        let mut surfaces: Vec<&str> = event.actions.iter().filter_map(surface).map(Surface::name).collect();
        surfaces.dedup();
        if !event.moment.is_before_execution() || surfaces.is_empty() {
            surfaces = vec!["other"];
        } else if event.subagent.is_some() {
            surfaces.push(Surface::Subagent.name());
        }
        let due = surfaces.into_iter().filter(|surface| self.beat_of(&event.client, surface)).count() > 0;
        if let Some(version) = event.version.as_deref().filter(|_| due) {
            let version = Kept::joined(&[Redactor::new(self).name(version).into()], "");
            let _ = put(&self.beats().join(format!("{}.version", file_name(&event.client))), &version);
        }
        if due && event.moment.is_before_execution() && person::no_terminal_above() {
            self.beat_of(&event.client, Surface::Headless.name());
        }
    }

    /// Writes a heartbeat if it is due; returns whether it was.
    fn beat_of(&self, agent: &str, surface: &str) -> bool {
        let path = self.beats().join(format!("{}.{surface}", file_name(agent)));
        let age = fs::metadata(&path).and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
        let due = age.is_none_or(|age| age.as_millis() > u128::from(BEAT));
        if due {
            let _ = put(&path, &Kept::trusted(clock::now().to_string()));
        }
        due
    }

    /// The last call per agent and surface.
    pub fn heartbeats(&self) -> Vec<Heartbeat> {
        let Ok(entries) = fs::read_dir(self.beats()) else { return Vec::new() };
        let beat = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let (agent, surface) = name.split_once('.').filter(|(agent, _)| !agent.is_empty())?;
            let time = fs::read_to_string(entry.path()).ok()?.parse().ok()?;
            Some(Heartbeat { agent: agent.into(), surface: surface.into(), time })
        };
        let mut beats: Vec<Heartbeat> = entries.flatten().filter_map(beat).collect();
        beats.sort_by(|one, other| (&one.agent, &one.surface).cmp(&(&other.agent, &other.surface)));
        beats
    }
}

/// The surface that an action belongs to.
fn surface(action: &Action) -> Option<Surface> {
    match action {
        Action::Shell { .. } | Action::Input { .. } => Some(Surface::Shell),
        Action::Write { .. } | Action::Edit { .. } | Action::Delete { .. } => Some(Surface::Edit),
        Action::Read { .. } | Action::Search { .. } => Some(Surface::Read),
        Action::McpCall { .. } => Some(Surface::Mcp),
        Action::Fetch { .. } => Some(Surface::Web),
        Action::Prompt { .. } | Action::SpawnAgent { .. } | Action::Skill { .. } | Action::Other { .. } => None,
    }
}
