//! The stages of a call: received → judged → secured → settled → recorded → replied.
//!
//! Each stage is a type that the stage before it becomes, and only a recorded event can be replied to. So every
//! call that runs is in the log, and its losses are copied before a person is asked about it. Calls before and after a
//! tool, prompts, the end of a turn and started programs take the same way.

use super::host::Host;
use crate::audit::record::CallRef;
use crate::config::{Loaded, Mode};
use crate::reflexes::Reflexes;
use crate::store::Store;
use crate::store::approvals::Hold;
use crate::store::redact::Redactor;
use crate::world::LocalWorld;
use reflex_agents::{Agent, Payload};
use reflex_engine::{Event, Judgement, Moment, Policy};
use serde_json::Value;
use std::time::Instant;

/// A payload that came in.
#[derive(Clone, Copy)]
pub(super) struct Incoming<'a> {
    pub(super) host: &'a Host,
    pub(super) store: &'a Store,
    pub(super) agent: &'a Agent,
    pub(super) payload: &'a Payload<'a>,
    pub(super) begun: Instant,
}

/// The first stage: an event, placed on this machine.
pub(super) struct Received<'a> {
    pub(super) incoming: Incoming<'a>,
    pub(super) event: Event,
    /// The id of its record.
    pub(super) id: String,
    /// Nanoseconds until the event was read.
    pub(super) read: u64,
}

/// When an event happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Course {
    /// Before something that can be stopped, or apart from any call.
    Before,
    /// After a tool has run.
    Ran,
    /// At the end of a turn.
    Ends(StopCheck),
}

/// The configuration and the facts under which an event is judged.
pub(super) struct Scene<'a> {
    pub(super) loaded: Vec<Loaded>,
    pub(super) mode: Mode,
    /// `None` if the guard only records.
    pub(super) policy: Option<Policy>,
    pub(super) world: LocalWorld<'a>,
    pub(super) reflexes: Option<Reflexes>,
}

/// An event with its verdict.
pub(super) struct Judged<'a> {
    pub(super) received: &'a Received<'a>,
    pub(super) scene: &'a Scene<'a>,
    pub(super) judgement: Judgement,
    pub(super) redactor: Redactor<'a>,
    /// The reason why it runs, if only a mode lets it.
    pub(super) passed: Option<String>,
    /// A report for every reflex that ran.
    pub(super) reports: Vec<Value>,
    /// Whether a project's settings newly switch off the agent's hooks.
    pub(super) is_silenced: bool,
}

/// An event whose losses are copied.
pub(super) struct Secured<'a> {
    pub(super) judged: Judged<'a>,
    /// The id of the copy of what the call would lose.
    pub(super) kept: Option<String>,
}

/// An event with its final verdict.
pub(super) struct Settled<'a> {
    pub(super) judged: Judged<'a>,
    pub(super) kept: Option<String>,
    /// The id of the approval that lets it run.
    pub(super) grant: Option<String>,
    /// The hold on it.
    pub(super) hold: Option<Hold>,
    /// The model's answer, for the record.
    pub(super) judge: Option<Value>,
}

/// The checks at an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopCheck {
    /// Checks, changes, criteria and skills.
    All,
    /// Skills only.
    Skills,
}

impl StopCheck {
    /// The checks that an event asks for: at the stop of an agent, or by their name.
    pub(crate) fn from_event(event: &Event) -> Option<StopCheck> {
        match (event.moment, event.word.as_str()) {
            (Moment::Stop, _) | (Moment::Other, "final-verify" | "final_verify" | "verify-result") => {
                Some(StopCheck::All)
            }
            (Moment::Other, "skill-compliance" | "skill_compliance") => Some(StopCheck::Skills),
            _ => None,
        }
    }
}

impl Incoming<'_> {
    /// Nanoseconds since the payload came in.
    pub(super) fn nanoseconds(self) -> u64 {
        u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Received<'_> {
    pub(super) fn course(&self) -> Course {
        match StopCheck::from_event(&self.event) {
            Some(check) => Course::Ends(check),
            None if self.event.moment == Moment::AfterTool => Course::Ran,
            None => Course::Before,
        }
    }
}

impl Judged<'_> {
    /// The call, for records and questions about it.
    pub(super) fn call(&self) -> CallRef<'_> {
        let Received { id, event, .. } = self.received;
        CallRef { id, event, fingerprint: &self.judgement.fingerprint }
    }
}
