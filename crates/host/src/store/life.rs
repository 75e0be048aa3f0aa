//! Signs of life per agent, and a person's pauses of the guard.

pub use super::alarm::{Alarm, Subject};

use super::clean::{Kept, Redactor, is_plain_name, put};
use super::signing::signed::Signer;
use super::signing::statement::Kind;
use super::state::Store;
use crate::system::digest::digest;
use crate::system::{clock, person};
use reflex_agents::Surface;
use reflex_engine::{Action, Event};
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
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

/// A period in which the guard gives no verdicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// End in milliseconds since 1970.
    pub until: u64,
    /// The reason.
    pub reason: String,
    /// The person who paused the guard.
    pub by: String,
    /// The project in which it holds; empty for all projects.
    pub within: String,
}

impl Pause {
    /// Whether it holds in this project.
    pub fn holds_in(&self, workspace: &str) -> bool {
        self.within.is_empty() || self.within == workspace
    }

    /// The place, for a sentence: ` in /repo`, or an empty text.
    pub fn place(&self) -> String {
        if self.within.is_empty() { String::new() } else { format!(" in {}", self.within) }
    }
}

/// Maximum length of a pause, in milliseconds.
pub const LONGEST_PAUSE: u64 = 8 * 3_600_000;

/// The last version reported by the agent's client, if any.
pub(crate) fn last_version(state: &Path, agent: &str) -> Option<String> {
    fs::read_to_string(state.join("heartbeats").join(format!("{}.version", file_name(agent)))).ok()
}

/// The name of an agent as part of a file name: the name if it is plain, else its digest.
fn file_name(agent: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
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
            let _ = put(&path, &Kept::own(clock::now().to_string()));
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

    fn pause_file(&self) -> PathBuf {
        self.folder.join("off.json")
    }

    /// The current pause of the guard, if any.
    pub fn pause(&self) -> Option<Pause> {
        if !self.may_loosen {
            return None;
        }
        let map: Map<String, Value> = serde_json::from_str(&fs::read_to_string(self.pause_file()).ok()?).ok()?;
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let (from, until) = (map.get("from")?.as_u64()?, map.get("until")?.as_u64()?);
        let now = clock::now();
        // A clock that was set back does not extend it.
        let runs = from <= now && now < until && until - from <= LONGEST_PAUSE;
        let pause = runs.then(|| Pause { until, reason: text("reason"), by: text("by"), within: text("within") })?;
        self.counts(Kind::Pause, &map).then_some(pause)
    }

    /// Ends the pause.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn end_pause(&self) -> io::Result<()> {
        match fs::remove_file(self.pause_file()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Pauses the guard until a time.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn begin_pause(&self, pause: &Pause, signer: &Signer) -> io::Result<()> {
        let Pause { until, reason, by, within } = pause;
        let said = json!({
            "schema": "reflex/off-v1", "from": clock::now(), "until": until, "reason": reason, "by": by, "within": within,
        });
        self.put_signed(&self.pause_file(), (signer, Kind::Pause), &said)
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
