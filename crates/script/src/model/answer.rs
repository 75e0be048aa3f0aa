//! What a module says about a call, or why it says nothing.

use super::module::Module;
use serde_json::{Map, Value};
use std::fmt;

/// A module's decision.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Said {
    /// Nothing to say.
    #[default]
    Pass,
    /// A person decides.
    Ask {
        /// Why.
        reason: String,
    },
    /// The call does not run.
    Deny {
        /// Why.
        reason: String,
    },
    /// Another call runs in its place, if it would pass.
    Modify {
        /// Normalised field names and their new values; other fields stay.
        args: Map<String, Value>,
        /// Why.
        reason: String,
    },
}

impl Said {
    /// Its word in the module's own language.
    pub fn name(&self) -> &'static str {
        match self {
            Said::Pass => "pass",
            Said::Ask { .. } => "ask",
            Said::Deny { .. } => "deny",
            Said::Modify { .. } => "modify",
        }
    }
}

/// Why a module gave no decision. The chain then goes on with the next.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    /// It could not be loaded: a syntax error, a missing import, no default export.
    Load(String),
    /// It threw, or its promise was rejected.
    Threw(String),
    /// Its promise was never settled.
    Unsettled,
    /// What it gave is no decision.
    NoDecision(String),
    /// A decision that its manifest does not declare.
    Undeclared(&'static str),
    /// It took more than it may.
    Cut(Limit),
}

/// What is counted of a module, each for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Steps of the interpreter and of regular expressions.
    Steps,
    /// Memory.
    Memory,
    /// Depth of calls.
    Stack,
    /// The size of its decision.
    Output,
    /// Time: only what is not counted ever reaches it.
    Watchdog,
}

impl Limit {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Steps => "steps",
            Limit::Memory => "memory",
            Limit::Stack => "stack",
            Limit::Output => "output",
            Limit::Watchdog => "watchdog",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Load(why) => write!(to, "it cannot be loaded: {why}"),
            Problem::Threw(why) => write!(to, "it failed: {why}"),
            Problem::Unsettled => write!(to, "its promise was never settled"),
            Problem::NoDecision(what) => write!(to, "what it gave is no decision: {what}"),
            Problem::Undeclared(word) => write!(to, "its manifest does not declare the decision `{word}`"),
            Problem::Cut(limit) => write!(to, "it was cut at its limit of {}", limit.name()),
        }
    }
}

/// What a module asked for and was not given. It may have gone on as if that were not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missed {
    /// A field of the context that its manifest does not name.
    Field(String),
    /// A file or folder, as the pattern that would grant it.
    File {
        /// The pattern: below the project, `~/…` or absolute.
        pattern: String,
        /// Whether it was to be written.
        writes: bool,
    },
    /// A host.
    Host(String),
    /// A variable of the environment.
    Variable(String),
}

impl Missed {
    /// The key of the manifest's `capabilities` that opens it.
    pub fn capability(&self) -> &'static str {
        match self {
            Missed::Field(_) => "reads",
            Missed::File { writes: false, .. } => "files",
            Missed::File { writes: true, .. } => "writes",
            Missed::Host(_) => "network",
            Missed::Variable(_) => "environment",
        }
    }

    /// The word that has to stand in that list.
    pub fn word(&self) -> &str {
        match self {
            Missed::File { pattern: word, .. } | Missed::Field(word) | Missed::Host(word) | Missed::Variable(word) => {
                word
            }
        }
    }
}

/// What became of one module.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Its name.
    pub module: String,
    /// Its place in the chain.
    pub index: usize,
    /// What it said, or why it said nothing; nothing where it has no such handler or was not asked.
    pub said: Option<Result<Said, Problem>>,
    /// How often the interpreter's counter ran out: some ten thousand steps each.
    pub ticks: u64,
    /// What it printed, cut.
    pub printed: Vec<String>,
    /// What it asked for and was not given, each once.
    pub missed: Vec<Missed>,
    /// Its code, where that is to be kept ([`Code::packed`](crate::Code::packed)).
    pub code: Option<Vec<u8>>,
}

impl Report {
    /// Of a module that was not asked.
    pub(crate) fn new(module: &Module, index: usize) -> Report {
        let (printed, missed) = Default::default();
        Report { module: module.name.clone(), index, said: None, ticks: 0, printed, missed, code: None }
    }
}
