//! The start of a program, and the answer to it.

use std::ffi::OsString;
use std::path::PathBuf;

/// A program that a supervised process starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    /// Process that makes the call; it becomes the program.
    pub process: u32,
    /// Time at which the process began, in clock ticks since boot: with the process id it names one process.
    pub since: u64,
    /// The parent of that process; 0 if it is unknown.
    pub parent: u32,
    /// The path in the call, relative to the working directory. Empty if the call names a descriptor.
    pub path: PathBuf,
    /// The real path of the file that is started. Empty if it has none, for example if it lies in memory.
    pub file: PathBuf,
    /// The arguments as the caller gives them, the program's name first.
    pub argv: Vec<OsString>,
    /// The arguments of the interpreters that the kernel puts in for a script with a `#!` line; otherwise empty.
    pub interpreted: Vec<OsString>,
    /// The environment, as `NAME=VALUE`.
    pub environment: Vec<OsString>,
    /// The working directory.
    pub cwd: PathBuf,
    /// Whether the program is requested or already loaded.
    pub stage: Stage,
}

/// The time at which a start is judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stage {
    /// The caller waits in its system call: a refusal makes the call fail.
    #[default]
    Requested,
    /// The kernel has loaded something other than what was judged; a refusal ends the process.
    Loaded,
}

/// The answer to a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It runs.
    Run,
    /// The call fails with `EPERM`. The text is written to the process' standard error, as one line. Shells go on with
    /// their next command.
    Refuse(String),
    /// The program is loaded and killed before its first instruction; the text is written to its standard error. For
    /// callers that report a failed call without this output, as most runtimes do.
    End(String),
}

/// Judges starts. Called by several threads at once, for each of which its caller waits.
pub trait Judge: Send + Sync {
    /// Answers a start.
    fn judge(&self, start: &Start) -> Answer;

    /// Called by the same thread once the program runs, or does not: work that no process waits for.
    fn done(&self) {}
}
