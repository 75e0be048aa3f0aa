//! A finding with its weight and the action that the policy has for it.

use crate::facts::cache::Facts;
use crate::model::finding::{Decision, Finding, PolicyAction};
use crate::policy::{Policy, Worth};
use crate::verdict::severity;

/// A finding, weighed alone.
pub(super) struct Weighed {
    /// The finding; its severity is its weight.
    pub(super) finding: Finding,
    /// The action that the policy has for it.
    pub(super) action: PolicyAction,
    /// The steps that led from the detector's severity to the action.
    pub(super) steps: Vec<String>,
}

impl Weighed {
    /// Whether the call does not run, or not before a person approves it.
    pub(super) fn stops(&self) -> bool {
        self.action >= PolicyAction::Ask
    }

    /// Returns the decision about a call with this finding alone; `None` if the finding is only recorded.
    pub(super) fn decision(&self) -> Option<Decision> {
        match self.action {
            PolicyAction::Record => None,
            PolicyAction::Warn => Some(Decision::Pass),
            PolicyAction::Ask => Some(Decision::Ask),
            PolicyAction::Deny => Some(Decision::Deny),
        }
    }
}

/// Weighs a finding and looks up its action.
pub(super) fn weigh(mut finding: Finding, policy: &Policy, facts: &Facts<'_>) -> Weighed {
    let mut steps = Vec::new();
    if let Some(shift) = severity::shift(&finding, facts) {
        finding.severity = shift.weight;
        steps.push(shift.step);
    }
    let Worth { action, reasons } = policy.worth(&finding, facts);
    steps.extend(reasons);
    Weighed { finding, action, steps }
}
