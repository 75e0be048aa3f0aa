//! One adapter per coding agent: bytes to event, verdict to bytes. No adapter decides anything.

pub mod claude;
mod delivery;
mod json;
mod reply;
pub mod settings;
pub mod universal;

pub use delivery::{Abilities, Ask, Delivery, deliver};
pub use json::{BadEvent, object};
pub use reply::Reply;

use reflex_engine::{Event, Moment, Verdict};

/// A coding agent: how its events are read and how it is answered.
pub struct Agent {
    /// The name that `--agent` takes.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// The environment variable in which it tells a hook the project's folder.
    pub project_variable: Option<&'static str>,
    /// Reads one payload. `event` is the agent's word for the moment where the command line gives it.
    pub read: fn(bytes: &[u8], event: Option<&str>) -> Result<Event, BadEvent>,
    /// The moment that one of its words for events stands for.
    pub moment: fn(event: &str) -> Moment,
    /// What a hook can say at a moment.
    pub abilities: fn(moment: Moment) -> Abilities,
    /// The answer to an event.
    pub write: fn(event: &Event, verdict: &Verdict, delivery: &Delivery) -> Reply,
    /// The answer when no judgement can be had, with the reason.
    pub refuse: fn(moment: Moment, reason: &str) -> Reply,
}

/// Every agent.
pub static AGENTS: &[Agent] = &[claude::AGENT, universal::AGENT];

/// The agent of this name.
pub fn find(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name || agent.aliases.contains(&name))
}

/// The agent that a payload comes from, told from its shape; the universal event if it is no other's.
pub fn recognise(bytes: &[u8]) -> &'static Agent {
    let has = |word: &[u8]| bytes.windows(word.len()).take(4096).any(|window| window == word);
    if has(b"\"hook_event_name\"") { &claude::AGENT } else { &universal::AGENT }
}
