//! What is said about a call, and why.

use crate::model::finding::{Decision, Finding, Rewrite, Severity};
use crate::model::reason::Reason;

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
    pub reasons: Vec<Reason>,
    /// What is said of a call that may run: it is a warning then.
    pub advice: Vec<Advice>,
    /// A call that may run in its place.
    pub rewrite: Option<Rewrite>,
    /// How the decision came about, step by step.
    pub chain: Vec<String>,
    /// The id under which a person can say yes to a call that does not run.
    pub pending: Option<String>,
    /// What became of asking a person who is not at the agent's own prompt; empty where nobody was asked.
    pub asked: String,
    /// Whether the agent was informed in this session how a person lets a refused call run.
    pub knows_steps: bool,
    /// Whether the agent's turn shall end with this refusal, where a hook can end it.
    pub ends_turn: bool,
    /// What stands behind the decision: what holds when a person has said yes to it.
    pub behind: Option<FollowUp>,
    /// What the call would lose and could be kept before.
    pub at_stake: Option<AtStake>,
}

/// A warning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Advice {
    /// The words.
    pub said: Reason,
    /// The id of the finding.
    pub finding: String,
    /// What it is about: the same finding about something else is news.
    pub about: String,
    /// Whether the agent has heard it in this session, so that it is not said again.
    pub is_known: bool,
}

impl Verdict {
    /// The warnings that are news to the agent.
    pub fn news(&self) -> impl Iterator<Item = &Reason> {
        self.advice.iter().filter(|advice| !advice.is_known).map(|advice| &advice.said)
    }

    /// All that is said for people: the reasons, and the warnings whether they are news or not.
    pub fn sentences(&self) -> impl Iterator<Item = &Reason> {
        self.reasons.iter().chain(self.advice.iter().map(|advice| &advice.said))
    }
}

/// What a call would lose. Who keeps it first need not ask about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AtStake {
    /// Files and folders, the links above them followed.
    pub paths: Vec<String>,
    /// Repositories of which changes, branches or stashes would go.
    pub repositories: Vec<RepositoryAtStake>,
    /// Whether a person is asked even if it is kept.
    pub asks: bool,
    /// Why not all of it can be kept, if so.
    pub obstacle: Option<String>,
    /// The findings about it: the id, the decision, and the sentence as a warning.
    pub findings: Vec<(String, Decision, Reason)>,
}

/// What git would throw away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RepositoryAtStake {
    /// A folder in its work tree.
    pub folder: String,
    /// Files of it that git has in no commit; some may be gone already.
    pub files: Vec<String>,
    /// Whether files that are in a commit may change too, for another commit is checked out.
    pub moves: bool,
    /// Whether folders without any file go, too.
    pub cleans: bool,
    /// Whether the index or a ref changes, so that git may prune the objects behind it.
    pub unlinks: bool,
}

/// What holds when a person has said yes to a first decision.
#[derive(Debug, Clone, Default)]
pub struct FollowUp {
    /// What is to happen then.
    pub decision: Decision,
    /// One sentence for each finding that decides it.
    pub reasons: Vec<Reason>,
    /// The findings.
    pub findings: Vec<Finding>,
}
