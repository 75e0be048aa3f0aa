//! A module's decision about a call, or the reason why it made none.

use super::module::Module;
use serde_json::{Map, Value};
use std::fmt;

/// A module's decision.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ModuleDecision {
    /// The module has no objection.
    #[default]
    Pass,
    /// A person decides.
    Ask {
        /// Reason for the question.
        reason: String,
    },
    /// The call does not run.
    Deny {
        /// Reason for the denial.
        reason: String,
    },
    /// Another call runs in its place, if that call passes.
    Modify {
        /// Normalized field names and their new values; other fields are unchanged.
        args: Map<String, Value>,
        /// Reason for the change.
        reason: String,
    },
}

impl ModuleDecision {
    /// Returns the name in the module's API.
    pub fn name(&self) -> &'static str {
        match self {
            ModuleDecision::Pass => "pass",
            ModuleDecision::Ask { .. } => "ask",
            ModuleDecision::Deny { .. } => "deny",
            ModuleDecision::Modify { .. } => "modify",
        }
    }
}

/// The reason why a module made no decision. The chain continues with the next module.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    /// The module could not be loaded: a syntax error, a missing import, no default export.
    Load(String),
    /// The module threw an exception, or its promise was rejected.
    Threw(String),
    /// Its promise was never settled.
    Unsettled,
    /// The returned value is not a decision.
    NoDecision(String),
    /// A decision that its manifest does not declare.
    Undeclared(&'static str),
    /// The module exceeded a limit.
    Cut(Limit),
}

/// Resources that are limited for each module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Steps of the interpreter and of regular expressions.
    Steps,
    /// Memory.
    Memory,
    /// Call depth.
    Stack,
    /// Size of the decision.
    Output,
    /// Wall-clock time, reached only by work that no counter covers.
    Watchdog,
}

impl Limit {
    /// Returns the name in messages.
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
            Problem::NoDecision(what) => write!(to, "it returned no valid decision: {what}"),
            Problem::Undeclared(word) => write!(to, "its manifest does not declare the decision `{word}`"),
            Problem::Cut(limit) => write!(to, "it was cut at its limit of {}", limit.name()),
        }
    }
}

/// A resource that a module requested without having a grant. The module may have continued without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missed {
    /// A context field that its manifest does not name.
    Field(String),
    /// A file or folder, as the pattern that would grant access.
    File {
        /// The pattern: relative to the project, `~/…` or absolute.
        pattern: String,
        /// Whether the access was a write.
        writes: bool,
    },
    /// A host.
    Host(String),
    /// An environment variable.
    Variable(String),
}

impl Missed {
    /// Returns the key of the manifest's `capabilities` that grants access.
    pub fn capability(&self) -> &'static str {
        match self {
            Missed::Field(_) => "reads",
            Missed::File { writes: false, .. } => "files",
            Missed::File { writes: true, .. } => "writes",
            Missed::Host(_) => "network",
            Missed::Variable(_) => "environment",
        }
    }

    /// Returns the entry that the list named by [`Missed::capability`] lacks.
    pub fn word(&self) -> &str {
        match self {
            Missed::File { pattern: word, .. } | Missed::Field(word) | Missed::Host(word) | Missed::Variable(word) => {
                word
            }
        }
    }
}

/// The result of one module.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Name of the module.
    pub module: String,
    /// Index in the chain.
    pub index: usize,
    /// Its decision, or the problem that prevented one. `None` if it has no such handler or was not run.
    pub decision: Option<Result<ModuleDecision, Problem>>,
    /// Number of times that the interpreter's counter ran out, about ten thousand steps each.
    pub ticks: u64,
    /// Lines that it printed, truncated.
    pub printed: Vec<String>,
    /// Resources that it requested without a grant, without duplicates.
    pub missed: Vec<Missed>,
    /// Its bytecode to be cached ([`Code::packed`](crate::Code::packed)).
    pub code: Option<Vec<u8>>,
}

impl Report {
    /// Returns the report of a module that was not run.
    pub(crate) fn new(module: &Module, index: usize) -> Report {
        let (printed, missed) = Default::default();
        Report { module: module.name.clone(), index, decision: None, ticks: 0, printed, missed, code: None }
    }
}
