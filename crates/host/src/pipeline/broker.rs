//! Brings a question to a person if the agent itself cannot ask: the hook waits while a person can answer, and refuses
//! before the agent would run the call without an answer.

use super::notify;
use super::stages::{Judged, Received, Settled};
use crate::config::asking::{Asking, Unattended};
use crate::store::Store;
use crate::store::approvals::{Answer, Grant, Pending, Wait, WaitEnd};
use crate::store::redact::Redactor;
use crate::system::os::{Watch, Woken};
use crate::system::{clock, person};
use reflex_agents::{Agent, Ask};
use reflex_engine::{Advice, Decision, Event, Reason, Severity, Tier, Verdict};
use std::time::{Duration, Instant};

/// The result of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// A person has answered. Judging the call again in the current state finds the answer.
    Answered,
    /// The verdict is unchanged except for a note.
    Unchanged,
}

impl Settled<'_> {
    /// Asks a person about a waiting call if the agent's own prompt reaches no person.
    pub(super) fn ask(&mut self, call: &Pending) -> Asked {
        let Judged { received, scene, judgement, .. } = &mut self.judged;
        let (verdict, Received { incoming, event, .. }) = (&mut judgement.verdict, received);
        let (host, store, agent) = (incoming.host, incoming.store, incoming.agent);
        let decides = verdict.decision == Decision::Ask && event.moment.is_before_execution();
        if !decides || !lacks_prompt(agent, event) {
            return Asked::Unchanged;
        }
        let asking = Asking::from_layers(&scene.loaded);
        let is_present = store.is_person_present();
        if !is_present && allows_low(asking.unattended, verdict) {
            return Asked::Unchanged;
        }
        let begun = Instant::now();
        let refuses_late = agent.refuses_late_hooks(event);
        let wait = asking.wait(refuses_late);
        let longest = if agent.may_wait_long(event) { asking.longest_wait(refuses_late) } else { wait };
        host.wait_for(longest.as_secs() + notify::MAX_SECONDS);
        let is_reported = !is_present && notify::deliver(store, &asking.notify, call);
        let left = wait.saturating_sub(begun.elapsed());
        if left.is_zero() || !(is_present || is_reported) || (!is_present && asking.unattended == Unattended::Park) {
            if is_reported {
                note(verdict, PARKED);
            }
            return Asked::Unchanged;
        }
        // The deadline is never after the noted end, however long the disk takes to note it.
        let deadline = Deadline { next: Instant::now() + left, last: begun + longest };
        let end = |at: Instant| clock::now() + milliseconds(at.saturating_duration_since(Instant::now()));
        // An answer also ends a wait that no list shows.
        let noted = store.begin_wait(call, WaitEnd { until: end(deadline.next), latest: end(deadline.last) }).ok();
        let process = event.started.as_ref().map(|started| started.process);
        match answer(store, call, deadline, &mut Waiter { noted, process, is_reported }) {
            Answer::Answered => return Asked::Answered,
            Answer::TakenOff => deny(verdict, ""),
            Answer::Unattended => note(verdict, NOBODY),
            Answer::Open => note(verdict, &unanswered(begun.elapsed())),
        }
        Asked::Unchanged
    }
}

/// The end of a wait, as it is now and as an answer that was begun may extend it.
#[derive(Clone, Copy)]
struct Deadline {
    next: Instant,
    last: Instant,
}

/// Parameters of a wait.
struct Waiter {
    /// The wait as lists show it; `None` if it could not be noted.
    noted: Option<Wait>,
    /// The process that waits, if it is not this one.
    process: Option<u64>,
    /// Whether a person was notified, and may come although none is present.
    is_reported: bool,
}

impl Waiter {
    /// The answer before this time.
    fn answer(&mut self, store: &Store, call: &Pending, end: Instant, watch: &Watch) -> Answer {
        loop {
            self.noted.iter_mut().for_each(Wait::renew);
            // The watch reports only later changes, so an earlier answer is looked up here.
            let found = store.answer_to(call);
            // The process may have been stopped for longer than the client waits.
            if Instant::now() >= end {
                return Answer::Open;
            }
            match found {
                Answer::Open if self.is_reported || store.is_person_present() => {}
                Answer::Open => return Answer::Unattended,
                answer @ (Answer::Answered | Answer::Unattended | Answer::TakenOff) => return answer,
            }
            if watch.wait() == Woken::Over {
                return Answer::Open;
            }
        }
    }

    /// The deadline if a person has begun an answer since; `None` if not.
    fn extended(&self, deadline: Deadline) -> Option<Deadline> {
        let left = self.noted.as_ref()?.until().checked_sub(clock::now()).filter(|left| *left > 0)?;
        let next = (Instant::now() + Duration::from_millis(left)).min(deadline.last);
        (next > deadline.next).then_some(Deadline { next, ..deadline })
    }
}

/// Informs an agent, once, of an approval that waits for its call, together with the next call that passes.
pub(super) fn report_approval(
    store: &Store,
    (agent, event): (&Agent, &Event),
    announcements: &[String],
    verdict: &mut Verdict,
) {
    if announcements.is_empty() || verdict.decision != Decision::Pass || !agent.abilities(event).advise {
        return;
    }
    let redactor = Redactor::new(store);
    let holder = Pending {
        client: redactor.name(&event.client).into(),
        session: redactor.name(&event.session).into(),
        workspace: redactor.clean(&event.workspace).into(),
        ..Pending::default()
    };
    for announcement in announcements {
        let Some(grant) = store.announced(announcement, &holder.holder()) else { continue };
        let text = &grant.text;
        let text = format!("A person said yes to `{text}`: run exactly that again now, it passes once.");
        verdict.advice.push(Advice {
            reason: Reason::plain(text),
            finding: format!("approved/{}", grant.id),
            ..Advice::default()
        });
        store.forget_announced(announcement);
    }
}

/// The text for a call that almost equals an approved one.
pub(super) fn almost(grant: &Grant) -> String {
    format!(
        "A person said yes to `{}`, and this call differs from it: run exactly that, without anything more.",
        grant.text
    )
}

/// Whether a prompt of the hook reaches no person: the agent has no prompt, or runs without a terminal.
fn lacks_prompt(agent: &Agent, event: &Event) -> bool {
    agent.abilities(event).ask == Ask::Never || person::no_terminal_above()
}

/// Waits until the call is answered, no person is present any more, or the time is over. `Open` at the end of the time,
/// or of the process that waits for a supervisor.
fn answer(store: &Store, call: &Pending, mut deadline: Deadline, waiter: &mut Waiter) -> Answer {
    let Ok(folder) = store.made_waiting_folder() else { return Answer::Open };
    loop {
        let timeout = deadline.next.saturating_duration_since(Instant::now());
        let Ok(watch) = Watch::begin(&[&folder], &store.presence_file(), timeout) else { return Answer::Open };
        let answer = waiter.answer(store, call, deadline.next, &watch.on_behalf_of(waiter.process));
        if answer != Answer::Open || Instant::now() < deadline.next {
            return answer;
        }
        match waiter.extended(deadline) {
            Some(later) => deadline = later,
            None => return answer,
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Adds a sentence to the verdict's text about asking.
fn note(verdict: &mut Verdict, text: &str) {
    verdict.asked = format!("{} {text}", verdict.asked).trim_start().to_owned();
}

/// The text for an agent whose question was not answered in time.
fn unanswered(waited: Duration) -> String {
    let waited = waited.as_secs();
    format!("No answer within {waited} s. Go on with other work, and try exactly this again later.")
}

/// The text for an agent after the last list or page was closed.
const NOBODY: &str = "The user is not there to answer. Go on with other work, and try exactly this again later.";

/// The text for an agent whose question was shown to a person.
const PARKED: &str = "The user was notified. Go on with other work, and try exactly this again later.";

/// Lets a call run although no person can answer, if the policy says so and no finding exceeds medium severity or is of
/// a core rule. Returns whether it did.
fn allows_low(unattended: Unattended, verdict: &mut Verdict) -> bool {
    let is_low = |verdict: &Verdict| {
        verdict.findings.iter().all(|one| one.severity <= Severity::Medium && one.tier != Tier::Core)
    };
    let allows =
        unattended == Unattended::AllowLow && is_low(verdict) && verdict.after.is_none() && verdict.rewrite.is_none();
    if allows {
        verdict.chain.push("no person can answer, and the policy says `unattended: allow-low`".into());
        verdict.decision = Decision::Pass;
        verdict.pending = None;
        verdict.reasons.clear();
    }
    allows
}

/// Refuses a call that a person has denied. It does not wait any more.
pub(super) fn refuse(verdict: &mut Verdict, no: &Grant) {
    verdict.chain.push(format!("{} said no to this", no.by));
    deny(verdict, &no.reason);
}

fn deny(verdict: &mut Verdict, message: &str) {
    verdict.decision = verdict.decision.max(Decision::Deny);
    verdict.pending = None;
    verdict.rewrite = None;
    let message = if message.is_empty() { String::new() } else { format!(", and this: {message}") };
    verdict.asked = format!("A person said no to this{message}. Do not try it again.");
}
