//! The parts of a backup, its limits, and the reasons to refuse one.

use std::fmt;
use std::path::PathBuf;

/// The files and folders to back up.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Files and folders with their contents. Each must exist.
    pub roots: Vec<PathBuf>,
    /// Files and folders that may be missing. Restoring removes a file that was missing before.
    pub if_present: Vec<PathBuf>,
    /// Folders without their contents.
    pub folders: Vec<PathBuf>,
    /// Folders of immutable files, such as git's objects. They are hard-linked, not copied, and a restore
    /// only puts missing ones back.
    pub unchanging: Vec<PathBuf>,
    /// Files and folders that are about to be renamed, or to get other permissions. Their content is not copied.
    pub moved: Vec<Moved>,
    /// Whether to skip the sync to disk. A power failure may then lose the backup.
    pub is_lazy: bool,
}

/// A rename that is about to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The path now.
    pub from: PathBuf,
    /// The path afterwards; the same one if only permissions change.
    pub to: PathBuf,
}

/// The call for which a backup was made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// The id of the call's record in the audit log.
    pub record: String,
    /// The agent.
    pub client: String,
    /// The agent's session.
    pub session: String,
    /// The project.
    pub workspace: String,
    /// A short description of the call, without secrets.
    pub what: String,
    /// The restored backup, if this one holds the state before that restore; empty otherwise.
    pub undoes: String,
    /// The work tree, if all of its files are in the backup: any other file in it is newer. Empty otherwise.
    pub tree: String,
}

/// A complete backup.
#[derive(Debug, Clone)]
pub struct Backup {
    /// Its id.
    pub id: String,
    /// Creation time in milliseconds since 1970.
    pub time: u64,
    /// Total size of its files in bytes.
    pub bytes: u64,
    /// The call for which it was made.
    pub about: About,
    /// Its files and folders.
    pub items: Vec<Item>,
    /// Its folder in the store.
    pub(crate) folder: PathBuf,
}

/// The device and inode of a file.
pub type Place = (u64, u64);

/// One file, folder or link at the time of the backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Absolute path with all links above it resolved.
    pub path: PathBuf,
    /// Its type and content.
    pub kind: ItemKind,
    /// Permission bits.
    pub mode: u32,
    /// User and group id.
    pub owner: (u32, u32),
    /// Access and modification time, each in seconds and nanoseconds since 1970.
    pub times: [(i64, i64); 2],
    /// Extended attributes, as pairs of name and value.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// The state in which the call left the path.
    pub left: Left,
}

/// The state in which a call left a path. If it differs now, something else has changed the file since.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Left {
    /// Not recorded.
    #[default]
    Unknown,
    /// No file.
    Gone,
    /// A file or folder.
    As {
        /// Device and inode.
        place: (u64, u64),
        /// Size in bytes.
        size: u64,
        /// Modification time in seconds and nanoseconds since 1970.
        written: (i64, i64),
    },
}

/// The type of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// A regular file.
    File {
        /// The number of its copy. Hard links to one file share a copy.
        copy: u64,
        /// Size in bytes.
        size: u64,
        /// Whether the file is immutable, so that only a missing one is restored.
        unchanging: bool,
        /// Device and inode of a file with several hard links. If it is still that file, its content is restored in
        /// place.
        place: Option<(u64, u64)>,
    },
    /// A folder.
    Folder,
    /// A symbolic link.
    Link {
        /// The link's target.
        to: PathBuf,
    },
    /// A named pipe.
    Pipe,
    /// No file; restoring removes one that is there now.
    Absent,
    /// A file or folder whose content the backup does not hold, because the call only renamed it or set its
    /// permissions.
    Unchanged {
        /// The path after the call.
        at: PathBuf,
        /// Its device and inode.
        place: (u64, u64),
    },
    /// No file, until the call created one. Restoring leaves that.
    Created,
    /// A file that was lost and is not in the backup.
    Missed {
        /// The reason.
        why: String,
    },
}

/// Limits of one backup and of the store.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Maximum number of bytes copied for one request.
    pub bytes: u64,
    /// Maximum number of files and folders in one request.
    pub files: usize,
    /// Maximum number of bytes in one request if the file system can share blocks instead of copying them.
    pub shared_bytes: u64,
    /// Maximum number of immutable files linked for one request.
    pub linked_files: usize,
    /// Maximum size of the store in bytes.
    pub total: u64,
    /// Maximum size of the backups of one session in bytes.
    pub of_session: u64,
    /// Maximum number of backups.
    pub backups: usize,
    /// Age at which a backup is packed, in milliseconds.
    pub rest: u64,
    /// Age at which a backup expires, in milliseconds.
    pub lifetime: u64,
    /// Age below which a backup is never removed to make room, in milliseconds.
    pub safe: u64,
}

const MB: u64 = 1024 * 1024;
const HOUR: u64 = 3_600_000;

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            bytes: 64 * MB,
            files: 2000,
            shared_bytes: 2048 * MB,
            linked_files: 12_000,
            total: 5120 * MB,
            of_session: 2048 * MB,
            backups: 4000,
            rest: HOUR,
            lifetime: 14 * 24 * HOUR,
            safe: 24 * HOUR,
        }
    }
}

/// The reason for which a backup or a restore was refused.
#[derive(Debug)]
pub enum Refused {
    /// The request exceeds [`Bounds::bytes`]; its size in bytes, or a lower bound of it.
    TooLarge(u64),
    /// The request exceeds the number of files; a lower bound of it.
    TooMany(usize),
    /// The store is full, and all of its backups are younger than [`Bounds::safe`].
    Full,
    /// The session has reached [`Bounds::of_session`].
    SessionFull,
    /// A file that must exist does not.
    Missing(PathBuf),
    /// A path is a device or a socket.
    Special(PathBuf),
    /// A file changed while it was copied.
    Changing(PathBuf),
    /// A folder above the path is a link or a file now; with the id of the backup.
    Elsewhere(PathBuf, String),
    /// An I/O error at this path.
    Failed(PathBuf, std::io::Error),
}

impl std::error::Error for Refused {}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::TooLarge(bytes) => write!(f, "{} would be lost, more than is kept", size(*bytes)),
            Refused::TooMany(files) => write!(f, "at least {files} files would be lost, more than are kept"),
            Refused::Full => write!(f, "no space is left for what is kept; `reflex gc` makes some"),
            Refused::SessionFull => write!(f, "this session has used up its space for what is kept"),
            Refused::Missing(path) => write!(f, "`{}` is not there yet, so it cannot be kept", path.display()),
            Refused::Special(path) => write!(f, "`{}` is a device or socket, which cannot be kept", path.display()),
            Refused::Changing(path) => write!(f, "`{}` is being written to, so it cannot be kept", path.display()),
            Refused::Elsewhere(path, id) => {
                let path = path.display();
                write!(f, "`{path}` is below a link or file now; `reflex undo {id} --to DIR` restores to a folder")
            }
            Refused::Failed(path, error) => write!(f, "`{}` cannot be kept: {error}", path.display()),
        }
    }
}

/// Formats a size in bytes: `812 B`, `3.4 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut unit = "B";
    let (mut amount, mut rest) = (bytes, 0);
    for next in UNITS {
        if amount < 1000 {
            break;
        }
        (amount, rest, unit) = (amount / 1000, amount % 1000 / 100, next);
    }
    if unit == "B" { format!("{amount} B") } else { format!("{amount}.{rest} {unit}") }
}
