//! A problem of an installation, as `doctor` and `status` print it.

/// A problem that keeps the guard from an agent's calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The problem, as a sentence without its final period.
    pub what: String,
    /// A command, or a step for a person.
    pub fix: String,
}
