//! What a hook prints and how it exits.

/// A hook's whole answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// Exactly what the agent reads on standard output; empty for silence.
    pub stdout: String,
    /// What it reads, or a person sees, on standard error.
    pub stderr: String,
    /// The exit status.
    pub code: u8,
}
