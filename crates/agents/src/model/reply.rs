//! Output and exit status of a hook.

/// A hook's complete answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// Standard output, exactly as the agent reads it; empty for no answer.
    pub stdout: String,
    /// Standard error, read by the agent or shown to a person.
    pub stderr: String,
    /// The exit status.
    pub code: u8,
}
