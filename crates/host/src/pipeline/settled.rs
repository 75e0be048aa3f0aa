//! Copies the losses of a judged call, and settles its verdict: an approval, a mode, a model or a switched-off guard lets it
//! run, or it keeps its verdict.

use super::auto_pilot::{Allowed, Consulted};
use super::broker::{self, Asked};
use super::memory;
use super::stages::{Course, Judged, Secured, Settled};
use crate::store::approvals::{Approval, Grant, Pending};
use crate::store::canary::CANARY;
use crate::store::modes::AUTO_PILOT;
use reflex_engine::Decision;

/// The answer to a question about the call, if one was given.
pub(super) enum Turn {
    Unasked,
    /// The call is judged again after an answer, under the id of its record. It does not wait a second time.
    Answered {
        id: String,
        /// The allowance of a model; `None` if a person has answered.
        by: Option<Allowed>,
    },
}

/// The outcome for a call that was stopped.
enum Release {
    /// It runs, for this reason.
    Runs { grant: Option<String>, why: String },
    /// It keeps its verdict.
    Stays,
    /// It keeps its verdict, unless a person answers now.
    Waits(Box<Pending>),
    /// A model allows it, if it is still the same when it is judged again.
    Allowed(Allowed),
}

impl<'a> Judged<'a> {
    /// Copies what the call would lose, before anyone is asked about it.
    pub(super) fn secure(mut self) -> Secured<'a> {
        let kept = self.received.incoming.host.keep_first(self.received, &mut self.judgement, &self.redactor);
        Secured { judged: self, kept }
    }
}

impl<'a> Secured<'a> {
    /// Settles the verdict. Waits for a person, if one can answer now.
    ///
    /// # Errors
    /// Someone has answered: the call is to be judged again.
    pub(super) fn settle(self, turn: Turn) -> Result<Settled<'a>, Turn> {
        let Secured { judged, kept } = self;
        let mut settled = Settled { judged, kept, grant: None, hold: None, judge: None };
        if settled.judged.received.course() != Course::Before {
            return Ok(settled);
        }
        settled.listen();
        let release = match settled.judged.passed.take() {
            Some(why) => Release::Runs { grant: None, why },
            None => settled.release(&turn),
        };
        match release {
            Release::Runs { grant, why } => settled.let_run(grant, why),
            Release::Allowed(allowed) => return Err(settled.give_up(Some(allowed))),
            Release::Waits(call) if matches!(turn, Turn::Unasked) && settled.ask(&call) == Asked::Answered => {
                return Err(settled.give_up(None));
            }
            Release::Waits(_) | Release::Stays => {}
        }
        settled.note_canary();
        let history = || settled.judged.scene.world.history();
        memory::recall_steps(history, &mut settled.judged.judgement.verdict);
        Ok(settled)
    }
}

impl Settled<'_> {
    /// Decides about a call that was stopped: a person may have approved or refused it, or switched the guard off.
    fn release(&mut self, turn: &Turn) -> Release {
        let Judged { received, judgement, .. } = &self.judged;
        if judgement.verdict.decision == Decision::Pass {
            return Release::Stays;
        }
        let (host, store) = (received.incoming.host, received.incoming.store);
        if let Some(pause) = store.pause().filter(|pause| pause.holds_in(&received.event.workspace)) {
            let why = format!("the guard is switched off by {} ({})", pause.by, pause.reason);
            return Release::Runs { grant: Some("off".to_owned()), why };
        }
        let pending = self.judged.pending(self.kept.as_deref());
        let is_double = judgement.verdict.after.is_some();
        if is_double && let Some(both) = self.approval(&after(pending.clone())) {
            return runs(&both);
        }
        match self.approval(&pending) {
            Some(first) if is_double => {
                self.go_on(&first);
                return Release::Stays;
            }
            Some(grant) => return runs(&grant),
            None => {}
        }
        match host.approved_above(&self.judged.received.event, &self.judged.judgement) {
            Some((grant, why)) => Release::Runs { grant: Some(grant), why },
            None => self.keep_waiting(&pending, turn),
        }
    }

    /// Takes an approval that covers the call, if there is one.
    fn approval(&mut self, call: &Pending) -> Option<Grant> {
        let Approval { grant, hold } = self.judged.received.incoming.store.use_grant(call).unwrap_or(None)?;
        self.hold = hold;
        Some(grant)
    }

    /// The first of two decisions is approved. The second one decides, and the call waits under an id of its own.
    fn go_on(&mut self, first: &Grant) {
        let verdict = &mut self.judged.judgement.verdict;
        let Some(further) = verdict.after.take() else { return };
        verdict.chain.push(describe(first));
        verdict.decision = further.decision;
        verdict.reasons = further.reasons;
        verdict.findings.extend(further.findings);
        let pending = after(self.judged.pending(None));
        let kept = self.judged.received.incoming.store.keep_pending(&pending);
        self.judged.judgement.verdict.pending = kept.ok().map(|kept| kept.id);
    }

    /// Keeps a call without an approval, unless a person has refused it or a model lets it run.
    fn keep_waiting(&mut self, pending: &Pending, turn: &Turn) -> Release {
        let store = self.judged.received.incoming.store;
        if let Some(no) = store.no_to(pending) {
            broker::refuse(&mut self.judged.judgement.verdict, &no);
            return Release::Stays;
        }
        let consulted = match turn {
            Turn::Answered { by: Some(allowed), .. } => allowed.still_holds(pending, &mut self.judged.judgement),
            Turn::Answered { by: None, .. } => Consulted::Person(None),
            Turn::Unasked => self.consult(),
        };
        let is_refused = matches!(consulted, Consulted::Refused(_));
        match consulted {
            Consulted::Allowed(judge) => return Release::Allowed(Allowed::now(pending, judge)),
            Consulted::Runs(judge) => {
                self.judge = Some(judge);
                let why = format!("{AUTO_PILOT}: the model is sure that it belongs to the work");
                return Release::Runs { grant: None, why };
            }
            Consulted::Refused(judge) => self.judge = Some(judge),
            Consulted::Person(judge) => self.judge = judge,
        }
        // A call that cannot be kept is still refused; the person then runs it in their own terminal.
        let Ok(kept) = store.keep_pending(pending) else { return Release::Stays };
        let verdict = &mut self.judged.judgement.verdict;
        verdict.pending = Some(kept.id.clone());
        if is_refused {
            return Release::Stays;
        }
        if let Some(other) = store.approval_of_another(pending) {
            verdict.asked = broker::almost(&other);
            return Release::Stays;
        }
        Release::Waits(Box::new(kept))
    }

    fn let_run(&mut self, grant: Option<String>, why: String) {
        let verdict = &mut self.judged.judgement.verdict;
        verdict.decision = Decision::Pass;
        verdict.rewrite = None;
        verdict.reasons.clear();
        verdict.chain.push(why);
        self.grant = grant;
    }

    /// Discards the copy of the losses: the call is judged, and its losses are copied, once more.
    fn give_up(self, by: Option<Allowed>) -> Turn {
        let received = self.judged.received;
        self.kept.iter().for_each(|kept| received.incoming.host.backups().discard(kept));
        Turn::Answered { id: received.id.clone(), by }
    }

    /// Notes that a canary has reached the hook, which proves that the hook works.
    fn note_canary(&self) {
        let (received, verdict) = (self.judged.received, &self.judged.judgement.verdict);
        if verdict.findings.iter().any(|finding| finding.id == CANARY) {
            received.incoming.store.canary_seen(&received.event, verdict.decision);
        }
    }
}

impl Judged<'_> {
    /// The call as a person is asked about it. `kept` is the id of the copy of what it would lose.
    fn pending(&self, kept: Option<&str>) -> Pending {
        let world = self.received.incoming.host.plain_world(&self.received.event.workspace);
        memory::pending(self.call(), &self.judgement, &self.redactor, (&world, kept))
    }
}

fn runs(grant: &Grant) -> Release {
    Release::Runs { grant: Some(grant.id.clone()), why: describe(grant) }
}

/// The same call after the first of two decisions about it was approved.
fn after(pending: Pending) -> Pending {
    Pending { exact: format!("{}+", pending.exact), lasting: format!("{}+", pending.lasting), ..pending }
}

fn describe(grant: &Grant) -> String {
    let reason = if grant.reason.is_empty() { String::new() } else { format!(" ({})", grant.reason) };
    format!("{} said yes to this with `reflex approve {}`{reason}", grant.by, grant.id)
}
