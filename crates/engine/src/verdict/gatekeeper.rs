//! Turns findings into one verdict: each is weighed alone, the policy maps its weight to an action, and the findings are
//! sorted into lists, of which the first that has one decides.

use crate::detectors::budget;
use crate::facts::cache::Facts;
use crate::model::event::Moment;
use crate::model::finding::{Decision, Finding, PolicyAction, Rewrite};
use crate::model::reason::Reason;
use crate::model::verdict::{Advice, FollowUp, Verdict};
use crate::policy::Policy;
use crate::verdict::backup::at_stake;
use crate::verdict::reasons::reason_for;
use crate::verdict::severity;
use crate::verdict::weighing::{Weighed, weigh};
use std::cmp::Reverse;

/// The lists in order of precedence: the first that has a finding decides. docs/detectors.md explains the order.
const PRECEDENCE: [Rank; 6] =
    [Rank::Blocking, Rank::Conflicting, Rank::Asking, Rank::Warning, Rank::Recorded, Rank::Following];

/// Weighs the findings under the policy and combines them.
pub(crate) fn decide(policy: &Policy, facts: &Facts<'_>, findings: Vec<Finding>) -> Verdict {
    let weighed: Vec<Weighed> = findings.into_iter().map(|finding| weigh(finding, policy, facts)).collect();
    let (following, current) = set_aside(&weighed);
    let counted = merge(&current);
    let replacement = Replacement::of(&counted);
    let lists = Lists::sort(&counted, &replacement, following);
    let deciding = PRECEDENCE.into_iter().find(|rank| !lists.get(*rank).is_empty()).unwrap_or(Rank::Recorded);
    let risk = current.iter().map(|weighed| weighed.finding.severity).max().unwrap_or_default();
    let confidence = severity::confidence(risk, current.iter().map(|weighed| &weighed.finding));
    let mut chain = chain(&weighed, &counted, &replacement, policy);
    if !counted.is_empty() {
        chain.push(format!("overall: risk {}, {confidence} % sure", risk.risk()));
    }
    let after = follow_up(&lists.following);
    Verdict {
        decision: deciding.decision().unwrap_or_default(),
        risk,
        confidence,
        reasons: reasons(&lists, deciding),
        advice: lists.warning.iter().map(|weighed| advice(&weighed.finding, facts)).collect(),
        ends_turn: lists.blocking.iter().any(|weighed| ends_turn(&weighed.finding)),
        chain,
        at_stake: if after.is_none() { at_stake(&current, policy, facts) } else { None },
        after,
        rewrite: replacement.sole(),
        findings: counted.iter().map(|weighed| weighed.finding.clone()).collect(),
        ..Verdict::default()
    }
}

/// A list into which findings are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rank {
    /// The policy blocks what they found.
    Blocking,
    /// The policy asks about them, and their rewrites differ.
    Conflicting,
    /// The policy asks about them.
    Asking,
    /// The policy warns of them.
    Warning,
    /// The policy only records them.
    Recorded,
    /// They follow a finding that stops the call, and count once a person has approved that one.
    Following,
}

impl Rank {
    /// Returns the decision about a call if this list decides; `None` if it never does.
    fn decision(self) -> Option<Decision> {
        match self {
            Rank::Blocking | Rank::Conflicting => Some(Decision::Deny),
            Rank::Asking => Some(Decision::Ask),
            Rank::Warning | Rank::Recorded => Some(Decision::Pass),
            Rank::Following => None,
        }
    }
}

/// The findings of a call; each list is sorted by severity.
#[derive(Default)]
struct Lists<'w> {
    blocking: Vec<&'w Weighed>,
    conflicting: Vec<&'w Weighed>,
    asking: Vec<&'w Weighed>,
    warning: Vec<&'w Weighed>,
    recorded: Vec<&'w Weighed>,
    following: Vec<&'w Weighed>,
}

impl<'w> Lists<'w> {
    fn sort(counted: &[&'w Weighed], replacement: &Replacement, following: Vec<&'w Weighed>) -> Lists<'w> {
        let mut lists = Lists { following, ..Lists::default() };
        for weighed in counted {
            let list = match weighed.action {
                PolicyAction::Deny => &mut lists.blocking,
                PolicyAction::Ask if *replacement == Replacement::Conflict => &mut lists.conflicting,
                PolicyAction::Ask => &mut lists.asking,
                PolicyAction::Warn => &mut lists.warning,
                PolicyAction::Record => &mut lists.recorded,
            };
            list.push(weighed);
        }
        lists
    }

    fn get(&self, rank: Rank) -> &[&'w Weighed] {
        match rank {
            Rank::Blocking => &self.blocking,
            Rank::Conflicting => &self.conflicting,
            Rank::Asking => &self.asking,
            Rank::Warning => &self.warning,
            Rank::Recorded => &self.recorded,
            Rank::Following => &self.following,
        }
    }
}

/// Splits the findings into those that follow one which stops the call, and those that count now. If the preceding
/// finding does not stop the call, both count now.
fn set_aside(weighed: &[Weighed]) -> (Vec<&Weighed>, Vec<&Weighed>) {
    let stops = |id: &str| weighed.iter().any(|weighed| weighed.stops() && weighed.finding.id == id);
    weighed.iter().partition(|weighed| weighed.finding.after.as_deref().is_some_and(stops))
}

/// Sorts by severity and merges findings with the same id; the one with the strictest action is kept.
fn merge<'w>(current: &[&'w Weighed]) -> Vec<&'w Weighed> {
    let mut sorted = current.to_vec();
    sorted.sort_by_key(|weighed| Reverse((weighed.finding.severity, weighed.finding.confidence)));
    let mut merged: Vec<&Weighed> = Vec::new();
    for weighed in sorted {
        match merged.iter_mut().find(|known| known.finding.id == weighed.finding.id) {
            Some(known) if weighed.action > known.action => *known = weighed,
            Some(_) => {}
            None => merged.push(weighed),
        }
    }
    merged
}

/// The call that may run in place of this one.
#[derive(Debug, PartialEq)]
enum Replacement {
    /// The finding that comes first has no rewrite, or none is against the call.
    Absent,
    /// Every finding against the call has this one.
    Sole(Rewrite),
    /// The findings against the call have different ones.
    Conflict,
}

impl Replacement {
    fn of(counted: &[&Weighed]) -> Replacement {
        let mut rewrites =
            counted.iter().filter(|weighed| weighed.stops()).map(|weighed| weighed.finding.rewrite.as_ref());
        match rewrites.next().flatten() {
            None => Replacement::Absent,
            Some(first) if rewrites.all(|other| other == Some(first)) => Replacement::Sole(first.clone()),
            Some(_) => Replacement::Conflict,
        }
    }

    fn sole(self) -> Option<Rewrite> {
        match self {
            Replacement::Sole(rewrite) => Some(rewrite),
            Replacement::Absent | Replacement::Conflict => None,
        }
    }
}

/// Returns the decision that applies after a person has approved the findings which stop the call.
fn follow_up(following: &[&Weighed]) -> Option<FollowUp> {
    let mut after = FollowUp::default();
    for weighed in following.iter().filter(|weighed| weighed.stops()) {
        let decision = weighed.decision().unwrap_or_default();
        after.decision = after.decision.max(decision);
        after.reasons.push(reason_for(decision, &weighed.finding));
        after.findings.push(weighed.finding.clone());
    }
    (!after.findings.is_empty()).then_some(after)
}

/// Returns the reasons of the list that decides: reasons for asking are not news if the call is blocked.
fn reasons(lists: &Lists<'_>, deciding: Rank) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut keys: Vec<&str> = Vec::new();
    for weighed in lists.get(deciding) {
        let finding = &weighed.finding;
        let Some(decision) = weighed.decision().filter(|decision| *decision != Decision::Pass) else { continue };
        if is_about_keys(finding) {
            if keys.contains(&finding.command.as_str()) {
                continue;
            }
            keys.push(&finding.command);
        }
        reasons.push(reason_for(decision, finding));
    }
    reasons
}

fn advice(finding: &Finding, facts: &Facts<'_>) -> Advice {
    Advice {
        reason: reason_for(Decision::Pass, finding),
        finding: finding.id.clone(),
        about: about(finding, facts),
        is_known: false,
    }
}

/// Whether the turn ends if the call is blocked for this finding: another attempt would not help.
fn ends_turn(finding: &Finding) -> bool {
    finding.category == budget::CATEGORY || finding.id == "loop/repeat"
}

/// Returns the derivation of the decision: the steps of each finding, then what the policy makes of those that count.
fn chain(weighed: &[Weighed], counted: &[&Weighed], replacement: &Replacement, policy: &Policy) -> Vec<String> {
    let mut chain: Vec<String> = weighed.iter().flat_map(|weighed| weighed.steps.iter().cloned()).collect();
    for weighed in counted {
        let Some(decision) = weighed.decision() else { continue };
        let (id, severity) = (&weighed.finding.id, weighed.finding.severity.name());
        chain.push(format!("{id}: {} {} {severity}", policy.name(), verb(decision)));
    }
    if *replacement == Replacement::Conflict {
        chain.push("several rules would put different calls in its place, so none is".into());
    }
    chain
}

/// Whether the finding concerns keys. To a person, reading a key and sending it are one event: only the gravest finding
/// for the same part of a call is reported.
fn is_about_keys(finding: &Finding) -> bool {
    matches!(finding.category.as_str(), "credential" | "exfiltration") && !finding.command.is_empty()
}

/// Returns the subject of a finding: the targets of its effect, else the part of the call that it names, else its
/// message. A finding about counts over a session has the session as its subject.
fn about(finding: &Finding, facts: &Facts<'_>) -> String {
    if finding.detector.counts() && facts.event.moment != Moment::Stop {
        return String::new();
    }
    let effect = finding.effect.and_then(|index| facts.analysis.effects.get(index));
    let targets = effect.map(|effect| effect.targets.as_slice()).unwrap_or_default();
    if targets.is_empty() {
        let is_of_part = finding.effect.or(finding.action).is_some() && !finding.command.is_empty();
        return if is_of_part { finding.command.clone() } else { finding.message.clone() };
    }
    let shown = targets.iter().map(|target| target.path().map_or_else(|| target.shown(), str::to_owned));
    shown.collect::<Vec<_>>().join("\0")
}

/// Returns the verb with the policy as its subject and the severity as its object.
fn verb(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "warns of",
        Decision::Ask => "asks about",
        Decision::Deny => "blocks",
    }
}

#[cfg(test)]
mod tests;
