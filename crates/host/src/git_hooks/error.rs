//! The reasons why git's hooks cannot be written, or a change in git cannot be judged.

use crate::install::SettleError;
use crate::system::fault::Fault;
use std::io;
use std::path::PathBuf;

/// A change in git cannot be judged, or git's hooks cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum GitHookError {
    /// Git cannot be started, or its output cannot be read.
    #[error("`git {command}` cannot be run: {source}")]
    Git {
        /// Its subcommand.
        command: String,
        /// The reason.
        source: io::Error,
    },
    /// Git has failed.
    #[error("`git {command}` failed: {stderr}")]
    Failed {
        /// Its subcommand.
        command: String,
        /// Its standard error.
        stderr: String,
    },
    /// The output of `git cat-file --batch` is not in the documented form.
    #[error("`git cat-file` ended early, or printed no size")]
    Blob,
    /// The folder is in no repository.
    #[error("{} is in no git repository", .0.display())]
    NoRepository(PathBuf),
    /// Husky writes the hooks of the repository.
    #[error("Husky writes the hooks of this repository: put `reflex git-hook pre-commit` into .husky/pre-commit")]
    Husky,
    /// The user has set a folder for the hooks of all repositories.
    #[error("`core.hooksPath` is {0}: put `reflex git-hook pre-commit` into {0}/pre-commit")]
    HooksPath(String),
    /// The name for the hook that was there before is taken.
    #[error("{} already exists: rename it, then run this again", .0.display())]
    Taken(PathBuf),
    /// A hook file cannot be written, renamed or removed.
    #[error("{}: {source}", file.display())]
    File {
        /// Its path.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Hooks cannot name this program.
    #[error(transparent)]
    Program(#[from] SettleError),
    /// The hook entries contradict each other about the key of approvals.
    #[error("{why}; `{remedy}` mends it")]
    Key {
        /// The reason.
        why: String,
        /// The command that mends it.
        remedy: &'static str,
    },
    /// The guard has no hook of this name.
    #[error("unknown hook `{0}`; Reflex supports `pre-commit` and `pre-push`")]
    Unknown(String),
    /// More files than are judged.
    #[error("{0} files are too many to judge; look at them, then use --no-verify")]
    TooMany(usize),
    /// A line on the standard input of `pre-push` is not in the form that githooks(5) describes.
    #[error("git passed a malformed line to the hook: `{0}`")]
    Line(String),
}

impl GitHookError {
    /// The side at fault.
    pub fn fault(&self) -> Fault {
        match self {
            GitHookError::Git { .. }
            | GitHookError::Failed { .. }
            | GitHookError::Blob
            | GitHookError::File { .. }
            | GitHookError::Program(_) => Fault::Machine,
            GitHookError::NoRepository(_)
            | GitHookError::Husky
            | GitHookError::HooksPath(_)
            | GitHookError::Taken(_)
            | GitHookError::Key { .. }
            | GitHookError::TooMany(_) => Fault::State,
            GitHookError::Unknown(_) | GitHookError::Line(_) => Fault::Request,
        }
    }
}
