//! Records a settled event, and makes the reply to it.

use super::mcp_verdicts;
use super::memory;
use super::stages::{Course, Incoming, Judged, Received, Settled};
use crate::audit::record::{self, CallRef, Ran, RecordContext, Timings};
use crate::store::alarm::{Alarm, Subject};
use crate::store::approvals::Hold;
use crate::store::redact::{Kept, Redactor};
use crate::store::session::{Call, CallEnd, session_key};
use crate::system::{clock, random};
use reflex_agents::{Agent, BadEvent, Delivery, Reply};
use reflex_engine::{Decision, Event, Fingerprint, Judgement, Moment, Verdict};
use std::io;

/// An event whose record is written, or whose record cannot be written.
pub(super) struct Recorded<'a> {
    agent: &'a Agent,
    answer: Answer<'a>,
    written: io::Result<()>,
    remembered: io::Result<()>,
    /// Whether the policy lets nothing run that is not in the log.
    is_needed: bool,
    later: Option<Kept>,
    hold: Option<Hold>,
}

/// The content of a reply.
enum Answer<'a> {
    Verdict { event: &'a Event, verdict: Box<Verdict>, delivery: Delivery },
    Unread { word: &'a str, moment: Moment, reason: String },
}

/// The reply to a recorded event. Made by this module alone.
#[derive(Debug)]
pub struct Replied {
    /// The reply, in the words of its agent.
    pub reply: Reply,
    /// The hold on the approval by which the call runs, until the reply was written.
    pub hold: Option<Hold>,
    later: Option<Kept>,
}

/// An event that cannot be read.
pub(super) struct Unread<'a> {
    incoming: Incoming<'a>,
    moment: Moment,
    problem: String,
    /// Whether the payload is empty, as in the probes of `doctor` and `verify`.
    pub(super) is_probe: bool,
}

impl Replied {
    /// The reply to a call of an MCP tool that a hook of the same client has judged and recorded: it runs.
    pub(super) fn to_judged() -> Replied {
        Replied { reply: Reply::default(), hold: None, later: None }
    }

    /// The record of a started program, to be written once it runs, if nothing depends on it before.
    pub(super) fn take_later(&mut self) -> Option<Kept> {
        self.later.take()
    }
}

impl Recorded<'_> {
    pub(super) fn reply(self) -> Replied {
        let Recorded { agent, answer, written, remembered, is_needed, later, hold } = self;
        let mut reply = match (&answer, &written) {
            (Answer::Verdict { event, .. }, Err(error)) if is_needed => {
                return Replied { reply: refuse_unrecorded(agent, event, error), hold: None, later: None };
            }
            (Answer::Verdict { event, verdict, delivery }, _) => (agent.write)(event, verdict, delivery),
            (Answer::Unread { word, moment, reason }, _) => (agent.refuse)(word, *moment, reason),
        };
        // The decision itself is unchanged.
        let lost = match (written, remembered) {
            (Err(error), _) => format!("reflex: this decision is not in the audit log: {error}\n"),
            (Ok(()), Err(error)) => format!("reflex: this call is not in the session's memory: {error}\n"),
            (Ok(()), Ok(())) => String::new(),
        };
        reply.stderr.push_str(&lost);
        Replied { reply, hold, later }
    }
}

/// The reply if the policy blocks calls that cannot be written to the audit log.
fn refuse_unrecorded(agent: &Agent, event: &Event, error: &io::Error) -> Reply {
    let reason = format!(
        "Blocked: this call cannot be written into the audit log ({error}), and the policy in force lets nothing run that \
         is not there. A person makes room for the log, or chooses another policy."
    );
    let judgement = Judgement::unjudged(Decision::Deny);
    (agent.write)(event, &judgement.verdict, &Delivery::Reply { decision: Decision::Deny, reason })
}

impl<'a> Settled<'a> {
    /// Writes the record of the event, and what later calls of its session have to know.
    pub(super) fn record(self) -> Recorded<'a> {
        let Judged { received, scene, judgement, .. } = &self.judged;
        let Received { incoming, event, .. } = received;
        let delivery = incoming.agent.deliver(incoming.payload, event, &judgement.verdict);
        let is_before = event.moment.is_before_execution();
        let is_needed = is_before && scene.policy.as_ref().is_some_and(|policy| policy.needs_record());
        let memory = self.memory();
        let before = match received.course() {
            Course::Ran => scene.world.history().before(&judgement.fingerprint.exact),
            Course::Before | Course::Ends(_) => None,
        };
        let ran = Ran { before: before.as_ref(), changed: &memory.files };
        let record = self.record_text(&delivery, Some(ran).filter(|_| received.course() == Course::Ran));
        let ran_anyway = before.as_ref().is_some_and(|before| before.end == CallEnd::Deny && !before.approved);
        let is_durable = ran_anyway || (received.course() != Course::Ran && record::is_durable(judgement));
        // The record of a start waits until it runs, unless it has to survive a crash, or something that the start does
        // may depend on it.
        let waits = event.started.is_some() && !is_durable && !is_needed && self.grant.is_none();
        let written = if waits { Ok(()) } else { incoming.store.record(&record, is_durable) };
        let written = written.and(self.raise_alarms(ran_anyway));
        let remembered = self.remember(memory, &delivery);
        let verdict = Box::new(self.judged.judgement.verdict);
        let answer = Answer::Verdict { event, verdict, delivery };
        let later = waits.then_some(record);
        Recorded { agent: incoming.agent, answer, written, remembered, is_needed, later, hold: self.hold }
    }

    fn record_text(&self, delivery: &Delivery, ran: Option<Ran<'_>>) -> Kept {
        let Judged { received, scene, judgement, redactor, reports, .. } = &self.judged;
        let (read, total) = (received.read, received.incoming.nanoseconds());
        let context = RecordContext {
            policy: scene.mode.policy_name(scene.policy.as_ref()),
            layers: &scene.loaded,
            grant: self.grant.as_deref(),
            kept: self.kept.as_deref(),
            judge: self.judge.as_ref(),
            reflexes: reports,
            latency: Timings { read, judged: &judgement.latency, total },
            ran,
            ..RecordContext::of(delivery, judgement)
        };
        record::build(redactor, self.judged.call(), judgement, &context)
    }

    /// Raises alarms about what should have been impossible.
    fn raise_alarms(&self, ran_anyway: bool) -> io::Result<()> {
        let Judged { received, redactor, is_silenced, .. } = &self.judged;
        let Received { incoming, event, id, .. } = received;
        let mut alarms = Vec::new();
        if ran_anyway {
            let text = format!("{} ran a call that was refused: {}", event.client, record::shown(redactor, event));
            alarms.push((text, Subject::Call));
        }
        if *is_silenced {
            let text =
                format!("settings of {} switch off its hooks: `reflex status` there names them", event.workspace);
            alarms.push((text, Subject::Hooks));
        }
        let mut alarms =
            alarms.into_iter().map(|(text, of)| Alarm { record: id.clone(), time: clock::now(), text, of });
        alarms.try_for_each(|alarm| incoming.store.raise(&alarm))
    }

    /// The event as its session remembers it.
    fn memory(&self) -> Call {
        memory::call(self.judged.call(), &self.judged.judgement, self.grant.is_some())
    }

    /// Remembers the event in its session, with its traces for later calls and for a proxy.
    fn remember(&self, call: Call, delivery: &Delivery) -> io::Result<()> {
        let Judged { received, judgement, redactor, .. } = &self.judged;
        let (store, event) = (received.incoming.store, &received.event);
        if event.started.is_some() {
            return Ok(());
        }
        let call = if received.course() == Course::Before { memory::delivered(call, delivery) } else { call };
        let leaves = !judgement.left.is_empty() && judgement.verdict.decision != Decision::Deny;
        let left = if leaves { store.keep_remnants(redactor, session_key(event), &judgement.left) } else { Ok(()) };
        let left = left.and(mcp_verdicts::leave(store, event, delivery));
        store.remember_by(redactor, session_key(event), &call).and(left)
    }
}

impl<'a> Unread<'a> {
    /// An event with this problem. Its moment is the one that the command line names, else the one that was read.
    pub(super) fn of(incoming: Incoming<'a>, problem: &BadEvent) -> Unread<'a> {
        let named = incoming.payload.event_name.map(incoming.agent.moment);
        Unread {
            incoming,
            moment: named.or(problem.moment).unwrap_or_default(),
            problem: problem.to_string(),
            is_probe: incoming.payload.fields.is_empty(),
        }
    }

    pub(super) fn record(self) -> Recorded<'a> {
        let Unread { incoming, moment, problem, is_probe } = self;
        let (decision, reason) = if moment.is_before_execution() {
            (Decision::Deny, format!("Blocked: Reflex cannot read this event ({problem}), so it does not run."))
        } else {
            (Decision::Pass, format!("Warning: Reflex cannot read this event ({problem}), so it was not judged."))
        };
        let event = Event { client: incoming.agent.name.into(), moment, ..Event::default() };
        let delivery = Delivery::Reply { decision, reason: reason.clone() };
        let (id, judgement) = (random::uuid(), Judgement::unjudged(decision));
        let call = CallRef { id: &id, event: &event, fingerprint: &Fingerprint::default() };
        let policy = incoming.host.mode.name();
        let context = RecordContext { policy, is_probe, ..RecordContext::of(&delivery, &judgement) };
        let record = record::build(&Redactor::new(incoming.store), call, &judgement, &context);
        let written = incoming.store.record(&record, decision == Decision::Deny);
        let answer = Answer::Unread { word: incoming.payload.event_name.unwrap_or(""), moment, reason };
        Recorded {
            agent: incoming.agent,
            answer,
            written,
            remembered: Ok(()),
            is_needed: false,
            later: None,
            hold: None,
        }
    }
}
