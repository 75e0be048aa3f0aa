//! Brings a question to a person if the agent itself cannot ask: the hook waits while a person can answer, and refuses
//! before the agent would run the call without an answer.

use super::host::Host;
use super::notify;
use crate::config::Loaded;
use crate::config::asking::{Asking, Unattended};
use crate::store::Store;
use crate::store::approvals::{Answer, Grant, Pending};
use crate::store::redact::Redactor;
use crate::system::os::{Watch, Woken};
use crate::system::{clock, person};
use reflex_agents::{Agent, Ask};
use reflex_engine::{Advice, Decision, Event, Reason, Severity, Tier, Verdict};
use std::path::Path;
use std::time::{Duration, Instant};

/// The result of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// A person has answered. Judging the call again in the current state finds the answer.
    Answered,
    /// The verdict is unchanged except for a note.
    Unchanged,
}

impl Host {
    /// Asks a person about a waiting call if the agent's own prompt reaches no person.
    pub(super) fn ask(
        &self,
        (agent, event): (&Agent, &Event),
        loaded: &[Loaded],
        verdict: &mut Verdict,
        call: &Pending,
    ) -> Asked {
        let decides = verdict.decision == Decision::Ask && event.moment.is_before_execution();
        if !decides || !lacks_prompt(agent, event) {
            return Asked::Unchanged;
        }
        let asking = Asking::from_layers(loaded);
        let store = self.store();
        let is_present = store.is_person_present();
        if !is_present && allows_low(asking.unattended, verdict) {
            return Asked::Unchanged;
        }
        let begun = Instant::now();
        let wait = asking.wait(agent.refuses_late_hooks(event));
        self.wait_for(wait.as_secs() + notify::MAX_SECONDS);
        let is_reported = !is_present && notify::deliver(&store, &asking.notify, call);
        let left = wait.saturating_sub(begun.elapsed());
        if left.is_zero() || !(is_present || is_reported) || (!is_present && asking.unattended == Unattended::Park) {
            if is_reported {
                note(verdict, PARKED);
            }
            return Asked::Unchanged;
        }
        // The deadline is never after the noted end, however long the disk takes to note it.
        let deadline = Instant::now() + left;
        let until = clock::now() + u64::try_from(left.as_millis()).unwrap_or(0);
        // An answer also ends a wait that no list shows.
        let _wait = store.begin_wait(call, until);
        let process = event.started.as_ref().map(|started| started.process);
        match answer(&store, call, (deadline, process), is_reported) {
            Some(Answer::Answered) => return Asked::Answered,
            Some(Answer::TakenOff) => deny(verdict, ""),
            Some(Answer::Open) | None => note(verdict, &unanswered(wait)),
        }
        Asked::Unchanged
    }
}

/// Informs an agent, once, of an approval that waits for its call, together with the next call that passes.
pub(super) fn report_approval(store: &Store, (agent, event): (&Agent, &Event), ids: &[String], verdict: &mut Verdict) {
    if ids.is_empty() || verdict.decision != Decision::Pass || !agent.abilities(event).advise {
        return;
    }
    let redactor = Redactor::new(store);
    let holder = Pending {
        client: redactor.name(&event.client).into(),
        session: redactor.name(&event.session).into(),
        workspace: redactor.clean(&event.workspace).into(),
        ..Pending::default()
    };
    for grant in ids.iter().filter_map(|id| store.announced(id, &holder.holder())) {
        let text = &grant.text;
        let text = format!("A person said yes to `{text}`: run exactly that again now, it passes once.");
        verdict.advice.push(Advice {
            reason: Reason::plain(text),
            finding: format!("approved/{}", grant.id),
            ..Advice::default()
        });
        store.forget_announced(&grant.id);
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

/// Waits until the call is answered, no person is present any more, or the time is over. `None` at the end of the time,
/// or of the process that waits for a supervisor.
fn answer(
    store: &Store,
    call: &Pending,
    (deadline, process): (Instant, Option<u64>),
    is_reported: bool,
) -> Option<Answer> {
    let folders = store.answer_folders().ok()?;
    let folders = folders.each_ref().map(Path::new);
    let timeout = deadline.saturating_duration_since(Instant::now());
    let watch = Watch::begin(&folders, &store.presence_file(), timeout).ok()?.on_behalf_of(process);
    loop {
        // The watch reports only later changes, so an earlier answer is looked up here.
        let found = store.answer_to(call);
        // The process may have been stopped for longer than the client waits.
        if Instant::now() >= deadline {
            return None;
        }
        match found {
            Answer::Open if is_reported || store.is_person_present() => {}
            answer @ (Answer::Open | Answer::Answered | Answer::TakenOff) => return Some(answer),
        }
        if watch.wait() == Woken::Over {
            return None;
        }
    }
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
