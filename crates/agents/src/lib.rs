//! One adapter per coding agent: bytes to event, verdict to bytes. No adapter decides anything.
//!
//! An agent is one file with an [`Agent`] and its line in [`AGENTS`].

pub mod abilities;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod cursor;
mod delivery;
mod form;
pub mod gemini;
mod hook_command;
mod json;
pub mod live;
pub mod opencode;
mod payload;
pub mod qwen;
mod replaced;
mod reply;
pub mod settings;
pub mod stranger;
mod surface;
mod tools;
mod trust;
pub mod universal;
pub mod windsurf;

pub use abilities::{Abilities, Ask, Line, is_older};
pub use delivery::{Delivery, deliver};
pub use hook_command::HookCommand;
pub use json::{BadEvent, object};
pub use payload::{Payload, caller};
pub use reply::Reply;
pub use settings::{FolderTrust, Managed, Settings, SettingsError, SettingsFile, Start, Switch};
pub use surface::{Enforcement, Extent, Limit, Surface};
pub use trust::{Step, Trust};

use reflex_engine::{Event, Moment, Verdict};

/// A coding agent: how its events are read, how it is answered, how the guard is put before its tools.
pub struct Agent {
    /// The name that `--agent` takes.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Its name as people know it.
    pub title: &'static str,
    /// The environment variable in which it tells a hook the project's folder.
    pub project_variable: Option<&'static str>,
    /// Whether a payload is this agent's, told from what only this agent sends or sets.
    pub is_caller: fn(payload: &Payload<'_>) -> bool,
    /// The agents whose hooks this one runs too, in its own words.
    pub runs_hooks_of: &'static [&'static str],
    /// Reads one payload.
    pub read: fn(payload: &Payload<'_>) -> Result<Event, BadEvent>,
    /// The moment that one of its words for events stands for; what is not known may come before a tool.
    pub moment: fn(word: &str) -> Moment,
    /// What it lets a hook say; the first line that fits holds.
    pub says: &'static [Line],
    /// The answer to an event.
    pub write: fn(event: &Event, verdict: &Verdict, delivery: &Delivery) -> Reply,
    /// The answer when no judgement can be had, with the reason. `word` is its word for the event, empty if unknown.
    pub refuse: fn(word: &str, moment: Moment, reason: &str) -> Reply,
    /// Where the hook stands; `None` where there is nothing to wire.
    pub settings: Option<&'static Settings>,
    /// What never reaches a hook of this agent.
    pub limits: &'static [Limit],
}

/// Every agent. The first is wired where none shows itself; of two that claim a payload, the later is meant.
pub static AGENTS: &[Agent] = &[
    claude::AGENT,
    codex::AGENT,
    copilot::AGENT,
    gemini::AGENT,
    qwen::AGENT,
    opencode::AGENT,
    cursor::AGENT,
    windsurf::AGENT,
    universal::AGENT,
];

/// The agent of this name.
pub fn find(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name || agent.aliases.contains(&name))
}

impl Agent {
    /// The line of its table that holds at this event; where there is none, nothing is heard.
    pub fn line(&self, event: &Event) -> Option<&'static Line> {
        self.says.iter().find(|line| line.fits(event))
    }

    /// What a hook can say at this event.
    pub fn abilities(&self, event: &Event) -> Abilities {
        self.line(event).map_or(Abilities::NONE, |line| line.can)
    }

    /// Reads bytes that come without an environment: recorded payloads, `check`, tests.
    ///
    /// # Errors
    /// Bytes that are no event of this agent.
    pub fn event(&self, bytes: &[u8], told: Option<&str>) -> Result<Event, BadEvent> {
        (self.read)(&Payload { fields: &object(bytes)?, told, variable: &|_| None })
    }
}
