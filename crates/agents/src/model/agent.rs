//! A coding agent as a table: its event reader, its answer writer, and the location of its hook.

use super::abilities::{HookCapabilities, Line};
use super::delivery::Delivery;
use super::payload::Payload;
use super::reply::Reply;
use super::surface::Limit;
use crate::json::{BadEvent, object};
use crate::settings::files::Settings;
use crate::version::is_older;
use reflex_engine::{Event, Moment, Verdict};

/// A coding agent: reads its events, writes its answers, and locates the settings that put the guard before its tools.
pub struct Agent {
    /// Name for `--agent`.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Display name.
    pub title: &'static str,
    /// Environment variable that passes the project folder to a hook.
    pub project_variable: Option<&'static str>,
    /// Returns whether a payload is this agent's, judged by fields or variables that only this agent sends.
    pub is_caller: fn(payload: &Payload<'_>) -> bool,
    /// Agents whose hooks this one also runs, with its own payloads.
    pub runs_hooks_of: &'static [&'static str],
    /// Reads one payload.
    pub read: fn(payload: &Payload<'_>) -> Result<Event, BadEvent>,
    /// Returns the moment of an event name. An unknown event is treated as one before a tool.
    pub moment: fn(word: &str) -> Moment,
    /// Table of honored answers; the first matching line applies.
    pub says: &'static [Line],
    /// Renders the answer to an event.
    pub write: fn(event: &Event, verdict: &Verdict, delivery: &Delivery) -> Reply,
    /// Renders a refusal with its reason, for events without a verdict. `word` is the event name, empty if unknown.
    pub refuse: fn(word: &str, moment: Moment, reason: &str) -> Reply,
    /// Location of the hook; `None` if the agent has no settings to edit.
    pub settings: Option<&'static Settings>,
    /// Activity that bypasses this agent's hooks.
    pub limits: &'static [Limit],
}

impl Agent {
    /// Returns the line that matches this event. Without one, the agent honors no answer.
    pub fn line(&self, event: &Event) -> Option<&'static Line> {
        self.says.iter().find(|line| line.fits(event))
    }

    /// Returns the answers that the agent honors at this event.
    pub fn abilities(&self, event: &Event) -> HookCapabilities {
        self.line(event).map_or(HookCapabilities::NONE, |line| line.can)
    }

    /// Whether a hook may wait for minutes: its entry gives it that time, or this client refuses a late call.
    pub fn may_wait_long(&self, event: &Event) -> bool {
        self.refuses_late_hooks(event) || self.settings.is_some_and(|settings| settings.gives_time)
    }

    /// Whether this version of the client refuses a call whose hook takes too long.
    pub fn refuses_late_hooks(&self, event: &Event) -> bool {
        // A start waits in the kernel as long as it takes.
        if event.started.is_some() {
            return true;
        }
        let since = self.settings.and_then(|settings| settings.fails_closed_since);
        event.version.as_deref().zip(since).is_some_and(|(version, since)| version == since || is_older(since, version))
    }

    /// Reads bytes without an environment: recorded payloads, `check`, tests.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an event of this agent.
    pub fn event(&self, bytes: &[u8], event_name: Option<&str>) -> Result<Event, BadEvent> {
        (self.read)(&Payload { fields: &object(bytes)?, event_name, variable: &|_| None })
    }
}
