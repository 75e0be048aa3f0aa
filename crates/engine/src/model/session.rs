//! What is remembered of the calls of a session: each as a step, what it left behind, and what all have used.

/// A call of the session, as far as it is remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// See [`crate::Fingerprint`].
    pub exact: String,
    /// A digest of each effect that was found fault with, however it is spelled.
    pub goals: Vec<String>,
    /// Its command or path, secrets redacted, shortened.
    pub text: String,
    /// What it was for.
    pub deed: StepKind,
    /// How soon it may be made again.
    pub pace: RepeatAllowance,
    /// It was refused, and no person said yes.
    pub refused: bool,
    /// Files that it changed, each with a digest of what came in.
    pub changes: Vec<(String, String)>,
    /// How it ended; `None` if that is not known.
    pub end: Option<End>,
}

/// How soon a call may be made again without getting nowhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RepeatAllowance {
    /// What it tells changes only if something was done before.
    #[default]
    Straight,
    /// It asks for the state of something that goes on by itself: a server, a job, a pipeline.
    Asks,
    /// It waits before it looks, or goes to another state of the work at which the same is looked at.
    Waits,
}

/// What a call is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StepKind {
    /// Looks at something and changes nothing.
    Look,
    /// Changes files or the system.
    Change,
    /// Runs something that may do either.
    #[default]
    Run,
    /// A tool of which nothing is known: it may have a state of its own, such as the place in a file.
    Opaque,
}

/// How a call ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct End {
    /// Whether it failed.
    pub failed: bool,
    /// A digest of what it printed.
    pub output: String,
    /// What its error says, without times and numbers; behind `PASSES` if it may pass by itself; empty without an error.
    pub error: String,
    /// How often each byte stood in its output, by byte; see [`crate::loopbreaker::letters`].
    pub letters: Vec<(u8, u32)>,
}

/// Stands before the signature of an error that may pass by itself.
pub(crate) const PASSES: char = '~';

/// One thing that an earlier call of the session left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taint {
    /// What it is.
    pub kind: RemnantKind,
    /// The absolute path of the file or folder.
    pub path: String,
    /// What it is a copy of, or whence it came.
    pub from: String,
}

/// What an earlier call left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemnantKind {
    /// The file holds what stood in a secret one.
    Copy,
    /// The file or all in the folder was fetched.
    Fetched,
    /// The agent has been shown what stands in this secret file.
    Seen,
    /// The path is a link.
    Link,
    /// A text that gives orders came in; `from` is the finding.
    Orders,
    /// The session has set the times of the file itself: they say nothing of what stands in it.
    Dated,
    /// The session has written this file of ignore rules; `from` are the names of build folders that its text names.
    Ignoring,
    /// What the session did not make was moved there from elsewhere; `from` is where it lay.
    Moved,
}

impl RemnantKind {
    /// Every kind with the word under which it is kept.
    pub const ALL: [(RemnantKind, &'static str); 8] = [
        (RemnantKind::Copy, "copy"),
        (RemnantKind::Fetched, "fetched"),
        (RemnantKind::Seen, "seen"),
        (RemnantKind::Link, "link"),
        (RemnantKind::Orders, "orders"),
        (RemnantKind::Dated, "dated"),
        (RemnantKind::Ignoring, "ignoring"),
        (RemnantKind::Moved, "moved"),
    ];

    /// The word under which it is kept.
    pub fn name(self) -> &'static str {
        RemnantKind::ALL.iter().find(|(kind, _)| *kind == self).map_or("seen", |(_, name)| name)
    }

    /// The kind of this word.
    pub fn named(name: &str) -> Option<RemnantKind> {
        RemnantKind::ALL.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }
}

/// What a session has used, this call included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionUsage {
    /// Tool calls.
    pub calls: u64,
    /// Since the first of them.
    pub minutes: u64,
    /// Agents that it started.
    pub agents: u64,
    /// Agents within which this one works; told only of a call that starts one more.
    pub depth: u64,
}
