//! The record of a session: its calls as steps, the remnants they left, and the resources used.

/// A call of the session, as recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// The digest of the call; see [`crate::Fingerprint`].
    pub exact: String,
    /// A digest of each effect with a finding, independent of spelling.
    pub goals: Vec<String>,
    /// Its command or path, secrets redacted, truncated.
    pub text: String,
    /// The kind of the step.
    pub kind: StepKind,
    /// The allowance for repeating it.
    pub pace: RepeatAllowance,
    /// Whether it was refused and no person approved it.
    pub refused: bool,
    /// Files that it changed, each with a digest of the new content.
    pub changes: Vec<(String, String)>,
    /// Its outcome; `None` if unknown.
    pub end: Option<End>,
}

/// The allowance for repeating a call before it counts as making no progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RepeatAllowance {
    /// Its result changes only after other work.
    #[default]
    Straight,
    /// It polls the state of something that progresses independently: a server, a job, a pipeline.
    Asks,
    /// It waits before it looks, or moves to another state of the work and looks at the same item there.
    Waits,
}

/// The kind of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StepKind {
    /// Looks at something and changes nothing.
    Look,
    /// Changes files or the system.
    Change,
    /// Runs something that may do either.
    #[default]
    Run,
    /// An unknown tool: it may have state of its own, such as a position in a file.
    Opaque,
}

/// The outcome of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct End {
    /// Whether it failed.
    pub failed: bool,
    /// A digest of its output.
    pub output: String,
    /// The error message without times and numbers, prefixed with `PASSES` if the error may be transient; empty without
    /// an error.
    pub error: String,
    /// Number of occurrences of each byte in its output, by byte; see [`crate::loopbreaker`].
    pub chars: Vec<(u8, u32)>,
}

/// Prefix of the signature of a transient error.
pub(crate) const PASSES: char = '~';

/// A remnant of an earlier call of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taint {
    /// The kind of the remnant.
    pub kind: RemnantKind,
    /// The absolute path of the file or folder.
    pub path: String,
    /// The source: the file it is a copy of, or the origin it came from.
    pub from: String,
}

/// The kind of a remnant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemnantKind {
    /// The file contains content of a secret file.
    Copy,
    /// The file, or everything in the folder, was fetched.
    Fetched,
    /// The agent has seen the content of this secret file.
    Seen,
    /// The path is a link.
    Link,
    /// A text with instructions arrived; `from` is the finding.
    Orders,
    /// The session has set the times of the file itself, so that they do not date its content.
    Dated,
    /// The session has written this file of ignore rules; `from` holds the build folders that it names.
    Ignoring,
    /// Content that the session did not create was moved there; `from` is its old path.
    Moved,
}

impl RemnantKind {
    /// Every kind with its name in the record.
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

    /// Returns the name in the record.
    pub fn name(self) -> &'static str {
        RemnantKind::ALL.iter().find(|(kind, _)| *kind == self).map_or("seen", |(_, name)| name)
    }

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<RemnantKind> {
        RemnantKind::ALL.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }
}

/// Resources that a session has used, including this call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionUsage {
    /// Number of tool calls.
    pub calls: u64,
    /// Minutes since the first tool call.
    pub minutes: u64,
    /// Number of agents that it started.
    pub agents: u64,
    /// Number of agents that enclose this one; set only for a call that starts another.
    pub depth: u64,
}
