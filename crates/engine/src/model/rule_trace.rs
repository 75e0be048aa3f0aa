//! The rules that were evaluated for an effect, with their results.

use crate::model::truth::Ternary;

/// A rule that was evaluated for an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleTrace {
    /// Index of the effect in the analysis.
    pub effect: usize,
    /// The rule's id.
    pub rule: &'static str,
    /// The value of its condition for the effect.
    pub truth: Ternary,
    /// Whether the rule yields a finding.
    pub fires: bool,
}
