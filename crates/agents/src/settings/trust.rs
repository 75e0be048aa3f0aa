//! How an agent comes to trust the guard's hook, if it has to.

/// How trust is asked of an agent's program.
pub struct Trust {
    /// The program and its arguments.
    pub program: &'static [&'static str],
    /// What is said first.
    pub begin: fn(folder: &str) -> Vec<String>,
    /// What a line of the program leads to.
    pub next: fn(line: &str, folder: &str) -> Step,
    /// The file beside the hooks in which the agent keeps its trust.
    pub file: &'static str,
    /// The events whose hook of the guard that file does not name where the hook now stands, by the texts of the hooks
    /// and of that file.
    pub missing: fn(hooks: &str, kept: &str) -> Vec<String>,
}

/// What comes next in the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The line was no answer.
    Wait,
    /// These lines are said.
    Say(Vec<String>),
    /// The hook is not trusted; these lines change that.
    Store(Vec<String>),
    /// The guard's hook is trusted.
    Trusted,
    /// It is not, with why.
    Failed(String),
}
