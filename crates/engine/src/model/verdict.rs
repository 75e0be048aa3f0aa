//! What is said about a call, and why.

use crate::model::finding::{Decision, Finding, Rewrite, Severity};

/// What is said about a call, and why.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// What is to happen.
    pub decision: Decision,
    /// The heaviest weight among the findings.
    pub risk: Severity,
    /// How sure the detectors are together that there is this risk, in percent; 100 without findings.
    pub confidence: u32,
    /// Strictest first.
    pub findings: Vec<Finding>,
    /// One sentence for each finding that decides.
    pub reasons: Vec<String>,
    /// Words that ride beside a call that may run.
    pub advice: Vec<String>,
    /// The finding of each piece of advice.
    pub advised: Vec<String>,
    /// A call that may run in its place.
    pub rewrite: Option<Rewrite>,
    /// How the decision came about, step by step.
    pub chain: Vec<String>,
    /// The id under which a person can say yes to a call that does not run.
    pub pending: Option<String>,
    /// What became of asking a person who is not at the agent's own prompt; empty where nobody was asked.
    pub asked: String,
    /// Whether the agent's turn shall end with this refusal, where a hook can end it.
    pub ends_turn: bool,
    /// What stands behind the decision: what holds when a person has said yes to it.
    pub behind: Option<FollowUp>,
}

/// What holds when a person has said yes to a first decision.
#[derive(Debug, Clone, Default)]
pub struct FollowUp {
    /// What is to happen then.
    pub decision: Decision,
    /// One sentence for each finding that decides it.
    pub reasons: Vec<String>,
    /// The findings.
    pub findings: Vec<Finding>,
}
