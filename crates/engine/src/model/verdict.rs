//! The verdict about a call.

use crate::model::finding::{Decision, Finding, Rewrite, Severity};
use crate::model::obstacle::Obstacle;
use crate::model::reason::Reason;

/// The decision about a call, with its reasons.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// The highest severity among the findings.
    pub risk: Severity,
    /// Combined confidence of the detectors in the risk, in percent; 100 without findings.
    pub confidence: u32,
    /// The findings, strictest first.
    pub findings: Vec<Finding>,
    /// One sentence for each finding that decides.
    pub reasons: Vec<Reason>,
    /// Warnings for a call that may run.
    pub advice: Vec<Advice>,
    /// A call that may run instead.
    pub rewrite: Option<Rewrite>,
    /// The derivation of the decision, step by step.
    pub chain: Vec<String>,
    /// The id under which a person can approve a call that does not run.
    pub pending: Option<String>,
    /// The result of asking a person who is not at the agent's own prompt; empty if no person was asked.
    pub asked: String,
    /// Whether the agent was informed in this session of the steps by which a person approves a refused call.
    pub knows_steps: bool,
    /// Whether the agent's turn ends with this refusal, if a hook can end it.
    pub ends_turn: bool,
    /// The decision that applies after a person has approved this one.
    pub after: Option<FollowUp>,
    /// The data that the call would lose and that can be kept first.
    pub at_stake: Option<AtStake>,
}

/// A warning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Advice {
    /// The text.
    pub reason: Reason,
    /// The id of the finding.
    pub finding: String,
    /// The subject: the same finding about another subject is news.
    pub about: String,
    /// Whether the agent has received it in this session, so that it is not repeated.
    pub is_known: bool,
}

impl Verdict {
    /// Returns the warnings that are new to the agent.
    pub fn news(&self) -> impl Iterator<Item = &Reason> {
        self.advice.iter().filter(|advice| !advice.is_known).map(|advice| &advice.reason)
    }

    /// Marks the warnings that the agent has already received.
    pub fn advise_once(&mut self, is_known: impl Fn(&Advice) -> bool) {
        self.advice.iter_mut().for_each(|advice| advice.is_known = is_known(advice));
    }

    /// Returns all sentences for people: the reasons and all warnings, new or not.
    pub fn sentences(&self) -> impl Iterator<Item = &Reason> {
        self.reasons.iter().chain(self.advice.iter().map(|advice| &advice.reason))
    }
}

/// The copy of the data that a call would lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptCopy<'a> {
    /// The backup of this id.
    Backup(&'a str),
    /// The one that the watch of the run makes when the loss happens.
    OfWatch,
}

/// The data that a call would lose. If it is kept first, the loss needs no approval.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AtStake {
    /// Files and folders, symlinks in their parent folders resolved.
    pub paths: Vec<String>,
    /// Files beside them that belong to the same data and may be missing, such as the journal of a database.
    pub companions: Vec<String>,
    /// Repositories that would lose changes, branches or stashes.
    pub repositories: Vec<RepositoryAtStake>,
    /// Whether a person is asked even if the data is kept.
    pub asks: bool,
    /// The reason why not all of it can be kept.
    pub obstacle: Option<Obstacle>,
    /// Whether a part of it lies on another system, so that no watch of this one sees the loss.
    pub is_elsewhere: bool,
    /// The findings about the loss: the id, the decision, and the sentence as a warning.
    pub findings: Vec<(String, Decision, Reason)>,
}

/// The data that git would discard.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RepositoryAtStake {
    /// A folder in its work tree.
    pub folder: String,
    /// Its files that are in no commit; some may already be deleted.
    pub files: Vec<String>,
    /// Whether committed files may change too, because another commit is checked out.
    pub moves: bool,
    /// Whether empty folders are removed too.
    pub cleans: bool,
    /// Whether the index or a ref changes, so that git may prune the unreachable objects.
    pub unlinks: bool,
}

/// The decision that applies after a person has approved the first one.
#[derive(Debug, Clone, Default)]
pub struct FollowUp {
    /// The decision.
    pub decision: Decision,
    /// One sentence for each finding that decides.
    pub reasons: Vec<Reason>,
    /// The findings.
    pub findings: Vec<Finding>,
}
