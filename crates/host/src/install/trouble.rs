//! A problem of an installation, as `doctor` and `status` print it.

/// Something that keeps the guard from an agent's calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The problem, as a sentence without its full stop.
    pub what: String,
    /// A command, or the step that a person has to take.
    pub fix: String,
}
