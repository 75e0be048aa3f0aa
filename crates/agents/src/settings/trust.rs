//! The exchange that makes an agent trust the guard's hook, if it requires trust.

/// The exchange with an agent's program that requests trust.
pub struct Trust {
    /// The program and its arguments.
    pub program: &'static [&'static str],
    /// Returns the first lines to send.
    pub begin: fn(folder: &str) -> Vec<String>,
    /// Returns the next step after a line from the program.
    pub next: fn(line: &str, folder: &str) -> Step,
    /// File next to the hooks in which the agent stores its trust.
    pub file: &'static str,
    /// Returns the events for which the trust file has no entry at the current position of the guard's hook, given the
    /// texts of the hooks and of the trust file.
    pub missing: fn(hooks: &str, kept: &str) -> Vec<String>,
}

/// The next step of the exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The line was not a response.
    Wait,
    /// Send these lines.
    Send(Vec<String>),
    /// The hook is not trusted; send these lines to trust it.
    Store(Vec<String>),
    /// The guard's hook is trusted.
    Trusted,
    /// The hook cannot be trusted, with the reason.
    Failed(String),
}
