//! Which rules an effect made us look at, and what came of it.

use crate::model::truth::Ternary;

/// A rule that an effect made us look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleTrace {
    /// Which of the analysis' effects.
    pub effect: usize,
    /// The rule's id.
    pub rule: &'static str,
    /// What its condition says about the effect.
    pub truth: Ternary,
    /// Whether that makes it a finding.
    pub fires: bool,
}
