//! A coding agent as a table: how its events are read, how it is answered, where its hook stands.

use super::abilities::{HookCapabilities, Line};
use super::delivery::Delivery;
use super::payload::Payload;
use super::reply::Reply;
use super::surface::Limit;
use crate::json::{BadEvent, object};
use crate::settings::files::Settings;
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

impl Agent {
    /// The line of its table that holds at this event; where there is none, nothing is heard.
    pub fn line(&self, event: &Event) -> Option<&'static Line> {
        self.says.iter().find(|line| line.fits(event))
    }

    /// What a hook can say at this event.
    pub fn abilities(&self, event: &Event) -> HookCapabilities {
        self.line(event).map_or(HookCapabilities::NONE, |line| line.can)
    }

    /// Reads bytes that come without an environment: recorded payloads, `check`, tests.
    ///
    /// # Errors
    /// Bytes that are no event of this agent.
    pub fn event(&self, bytes: &[u8], told: Option<&str>) -> Result<Event, BadEvent> {
        (self.read)(&Payload { fields: &object(bytes)?, told, variable: &|_| None })
    }
}
