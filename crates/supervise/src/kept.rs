//! The records of a watched run, and the limits of a keeper.

use crate::loss::Operation;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MB: u64 = 1024 * 1024;

/// Tells which paths are not kept, for example those that a build restores.
pub type Skip = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// The limits of one run. Sizes count the allocated blocks, so the holes of a sparse file are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of one file in bytes.
    pub file: u64,
    /// Maximum size of all files that were there before the run, in bytes.
    pub run: u64,
    /// Maximum size of everything else, in bytes: files born during the run, and further versions of a file. They have
    /// a limit of their own, so that a busy program does not use up the space of what was there before.
    pub repeated: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { file: 512 * MB, run: 4096 * MB, repeated: 1024 * MB }
    }
}

/// The answer to a change whose victim does not fit on the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// It goes on, and is recorded as not kept.
    #[default]
    Continue,
    /// It fails with `ENOSPC`.
    Refuse,
}

/// The choices of a keeper.
#[derive(Clone, Default)]
pub struct KeeperOptions {
    /// The limits of the run.
    pub limits: Limits,
    /// The answer when the disk is full.
    pub when_full: WhenFull,
    /// The paths that are not kept.
    pub skip: Option<Skip>,
}

impl fmt::Debug for KeeperOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KeeperOptions { limits, when_full, skip } = self;
        let skips = skip.is_some();
        f.debug_struct("KeeperOptions")
            .field("limits", limits)
            .field("when_full", when_full)
            .field("skips", &skips)
            .finish()
    }
}

/// A change as it was recorded before it happened. Undone from the last to the first, the records of a run lead back to
/// the state before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Process that made the call.
    pub process: u32,
    /// Kind of the change.
    pub operation: Operation,
    /// Path of what was changed; for a rename, the new name.
    pub path: PathBuf,
    /// The name before a rename, or the other one of an exchange; otherwise empty.
    pub source: PathBuf,
    /// The metadata of what had the name `source`, to see whether the rename has happened; otherwise zeroes.
    pub moved: Status,
    /// The file that had the path.
    pub before: Before,
}

/// The file that has a path before a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// Nothing that can be lost: no file, or a device or socket.
    Nothing,
    /// A regular file, whose content is the file of this number in the keeper's folder.
    File {
        /// The number; records of an unchanged file share it. The copy has the permissions of the original, which may
        /// allow not even its owner to read it.
        copy: u64,
        /// Mode, owner and times.
        status: Status,
    },
    /// A symbolic link.
    Link {
        /// Its target.
        to: PathBuf,
        /// Mode, owner and times.
        status: Status,
    },
    /// A file or folder whose content the change does not touch.
    Unchanged(Status),
    /// An empty folder.
    Folder(Status),
    /// A named pipe.
    Pipe(Status),
    /// A file that the run has created itself, or that is skipped.
    Skipped,
    /// A file that is not kept, with the reason.
    Missed(Missed, Status),
}

/// The metadata of a file before a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status {
    /// Permission bits.
    pub mode: u32,
    /// User and group id.
    pub owner: (u32, u32),
    /// Access and modification time, each in seconds and nanoseconds since 1970.
    pub times: [(i64, i64); 2],
    /// Creation time in the same form; zeroes if the file system has none.
    pub born: (i64, i64),
    /// Device and inode. Names with the same one are hard links to one file.
    pub place: (u64, u64),
    /// Number of hard links.
    pub names: u64,
}

/// The reason for which a file is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missed {
    /// It is larger than [`Limits::file`].
    TooLarge,
    /// The limit of the run is reached.
    RunFull,
    /// The disk is full.
    DiskFull,
    /// It cannot be read.
    Unreadable,
    /// Reading it or writing the copy failed.
    Failed,
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Missed::TooLarge => "larger than what is kept of one file",
            Missed::RunFull => "beyond what is kept of one run",
            Missed::DiskFull => "the disk is full",
            Missed::Unreadable => "not readable",
            Missed::Failed => "copying failed",
        })
    }
}

/// The numbers of a run so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of files whose content is kept.
    pub kept: u64,
    /// Number of changes whose victim is not kept, other than skipped ones.
    pub missed: u64,
    /// Number of changes whose files could not be looked up.
    pub unresolved: u64,
    /// Number of bytes kept, as [`Limits`] count them.
    pub bytes: u64,
}
