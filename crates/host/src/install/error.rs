//! The reasons why an agent's settings cannot be changed, or its hook is not trusted or does not answer.

use super::lasting::SettleError;
use crate::system::fault::Fault;
use reflex_agents::settings::SettingsError;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// A settings file of an agent or a client cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    /// The file cannot be read.
    #[error("{}: {source}; the file is unchanged", file.display())]
    Unread {
        /// Its path.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file, or the copy of its text from before, cannot be written.
    #[error("{}: {source}", file.display())]
    Unwritten {
        /// Its path.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The text of the file is not in the format of its agent.
    #[error("{}: {source}; the file is unchanged", file.display())]
    Format {
        /// Its path.
        file: PathBuf,
        /// The reason.
        source: SettingsError,
    },
    /// Its agent would drop the file as a whole.
    #[error("{}:{line}:{column}: {why}; {title} {outcome}; the file is unchanged. {repair}", file.display())]
    Dropped {
        /// Its path.
        file: PathBuf,
        /// The first place at fault.
        line: usize,
        /// The column of that place.
        column: usize,
        /// The reason.
        why: String,
        /// The name of the agent for people.
        title: &'static str,
        /// The agent's treatment of such a file.
        outcome: &'static str,
        /// The remedy, as a sentence without its full stop.
        repair: String,
    },
    /// The hook entries contradict each other about the key of approvals.
    #[error("{}: {why}; `{remedy}` mends the entries; the file is unchanged", file.display())]
    Key {
        /// The path of the file that was to be written.
        file: PathBuf,
        /// The reason.
        why: String,
        /// The command that mends the entries.
        remedy: &'static str,
    },
    /// A client has written the file since it was read.
    #[error("{}: it changed in the meantime; close the client and try again; the file is unchanged", .0.display())]
    Changed(PathBuf),
    /// Hook entries cannot name this program.
    #[error(transparent)]
    Program(#[from] SettleError),
}

impl WiringError {
    /// The side at fault.
    pub fn fault(&self) -> Fault {
        match self {
            // It is not UTF-8.
            WiringError::Unread { source, .. } if source.kind() == io::ErrorKind::InvalidData => Fault::State,
            WiringError::Unread { .. } | WiringError::Unwritten { .. } | WiringError::Program(_) => Fault::Machine,
            WiringError::Format { .. }
            | WiringError::Dropped { .. }
            | WiringError::Key { .. }
            | WiringError::Changed(_) => Fault::State,
        }
    }
}

/// An agent does not trust the hook.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The program of the agent is not installed.
    #[error("`{0}` is not on the PATH")]
    NotFound(&'static str),
    /// The program of the agent cannot be started.
    #[error("`{program}` cannot be started: {source}")]
    NotStarted {
        /// Its name.
        program: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// No program is known, or its input or output is not available.
    #[error("its program cannot be asked")]
    Unasked,
    /// The program has not answered for this time.
    #[error("it did not answer within {} s", .0.as_secs())]
    Late(Duration),
    /// The program has ended.
    #[error("it ended without an answer")]
    Ended,
    /// No person has trusted the hook.
    #[error("no person has trusted it")]
    Untrusted,
    /// The program refuses, in its own words.
    #[error("{0}")]
    Refused(String),
}

/// A hook does not answer as expected.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// The entry has no words.
    #[error("the hook starts no program")]
    NoProgram,
    /// Its program cannot be started.
    #[error("it cannot be started: {0}")]
    NotStarted(io::Error),
    /// Its program has not ended in time.
    #[error("it does not answer in time")]
    Late,
    /// The status of its program cannot be read.
    #[error("{0}")]
    Lost(io::Error),
    /// It gives another answer.
    #[error("status {status}, {words}")]
    Unexpected {
        /// The exit status.
        status: u8,
        /// The first words of its output.
        words: String,
    },
}
