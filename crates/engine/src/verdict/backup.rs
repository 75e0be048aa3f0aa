//! The effect of a backup on a verdict: a loss that can be undone needs no approval.

use crate::facts::cache::Facts;
use crate::model::finding::{Decision, PolicyAction};
use crate::model::reason::Reason;
use crate::model::verdict::{Advice, AtStake, KeptCopy, Verdict};
use crate::policy::Policy;
use crate::verdict::reasons::{as_kept, reason_for};
use crate::verdict::weighing::Weighed;

/// Returns the data that a call which may still run would lose; it is copied both for a warning and for a prompt.
pub(super) fn at_stake(current: &[&Weighed], policy: &Policy, facts: &Facts<'_>) -> Option<AtStake> {
    let counts = |weighed: &&&Weighed| weighed.action >= PolicyAction::Warn || facts.is_kept_silently(&weighed.finding);
    let (losses, others): (Vec<&Weighed>, Vec<&Weighed>) =
        current.iter().filter(counts).copied().partition(|weighed| facts.can_be_kept(&weighed.finding));
    let is_blocked = losses.iter().chain(&others).any(|weighed| weighed.action == PolicyAction::Deny);
    if losses.is_empty() || is_blocked {
        return None;
    }
    let role = facts.event.role.as_deref();
    let questions = losses.iter().filter(|weighed| weighed.stops());
    let actions = questions.map(|weighed| policy.worth_if_kept(&weighed.finding, role)).collect::<Option<Vec<_>>>()?;
    let asks = others.iter().any(|weighed| weighed.stops()) || actions.contains(&PolicyAction::Ask);
    let mut at_stake = facts.at_stake(losses.iter().map(|weighed| &weighed.finding));
    at_stake.asks = asks;
    for weighed in losses {
        let (finding, Some(decision)) = (&weighed.finding, weighed.decision()) else { continue };
        if at_stake.findings.iter().all(|(id, ..)| *id != finding.id) {
            at_stake.findings.push((finding.id.clone(), decision, reason_for(Decision::Pass, finding)));
        }
    }
    Some(at_stake)
}

impl Verdict {
    /// Whether the prompt becomes a warning if the data at stake is kept.
    pub fn can_be_kept(&self) -> bool {
        self.decision == Decision::Ask && self.is_kept_first()
    }

    /// Whether the hook copies data that the findings concern, and lets the call run.
    pub fn is_kept_first(&self) -> bool {
        let is_free =
            |at_stake: &AtStake| at_stake.obstacle.is_none() && !at_stake.asks && !at_stake.findings.is_empty();
        self.decision != Decision::Deny && self.at_stake.as_ref().is_some_and(is_free)
    }

    /// Records that the data at stake is kept; a prompt for that reason alone becomes a warning.
    pub fn record_copy(&mut self, copy: KeptCopy<'_>) {
        let Some(at_stake) = self.at_stake.take() else { return };
        let (id, command) = match copy {
            KeptCopy::Backup(id) => (id, format!("reflex undo {id}")),
            KeptCopy::OfWatch => ("the watch of this run", "reflex undo".to_owned()),
        };
        self.chain.push(format!("kept: yes, as {id}"));
        if at_stake.findings.is_empty() {
            return;
        }
        if at_stake.asks || self.decision == Decision::Deny {
            let is_kept = |reason: &Reason| at_stake.findings.iter().any(|(id, ..)| *id == reason.rule);
            // The prompt concerns the other reasons, so they come first.
            self.reasons.sort_by_key(is_kept);
            for reason in self.reasons.iter_mut().filter(|reason| is_kept(reason)) {
                reason.remedy = format!("{} A copy is kept: `{command}`.", reason.remedy).trim_start().to_owned();
                reason.full.push_str(&format!(" It is kept: `{command}` restores it."));
            }
            return;
        }
        for (finding, decision, warning) in at_stake.findings {
            self.advice.retain(|advice| advice.finding != finding);
            if decision == Decision::Ask {
                self.chain.push(format!("{finding}: a warning instead of a question, because it was kept"));
            }
            self.advice.push(Advice { finding, reason: as_kept(warning, &command), about: id.into(), is_known: false });
        }
        self.decision = Decision::Pass;
        self.rewrite = None;
        self.reasons.clear();
    }

    /// Records that the data at stake could not be kept; the prompt includes the reason.
    pub fn record_obstacle(&mut self, why: &str) {
        let is_reported = self.at_stake.take().is_some_and(|at_stake| !at_stake.findings.is_empty());
        self.chain.push(format!("kept: no, because {why}"));
        if !is_reported {
            return;
        }
        if let Some(reason) = self.reasons.first_mut().filter(|_| self.decision == Decision::Ask) {
            reason.remedy = format!("No copy can be kept: {why}. {}", reason.remedy).trim_end().to_owned();
            reason.full.push_str(&format!(" It was not kept for `reflex undo`: {why}."));
        }
    }
}
