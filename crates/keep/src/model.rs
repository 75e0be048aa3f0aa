//! What a backup is made of, what it may cost, and why there is none.

use std::fmt;
use std::path::PathBuf;

/// What is to be kept.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Files and folders with all that lies in them. Each must be there.
    pub roots: Vec<PathBuf>,
    /// The same, which may be missing: restoring then takes away what is there.
    pub if_there: Vec<PathBuf>,
    /// Folders without what lies in them.
    pub folders: Vec<PathBuf>,
    /// Folders of files that are written once and never changed, such as git's objects. They are linked rather than
    /// copied, and what is missing of them is put back.
    pub unchanging: Vec<PathBuf>,
    /// Whether it is left to the system when the backup reaches the disk: a loss of power then loses it.
    pub is_lazy: bool,
}

/// What a backup was made for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// The record of the call in the audit log.
    pub record: String,
    /// Who called.
    pub client: String,
    /// In which session.
    pub session: String,
    /// In which project.
    pub workspace: String,
    /// What was about to happen, in a few words without secrets.
    pub what: String,
    /// The backup that was restored, if this one holds what was there before.
    pub undoes: String,
    /// The work tree of which all files are kept, so that others in it have come later.
    pub tree: String,
}

/// A backup that is whole.
#[derive(Debug, Clone)]
pub struct Backup {
    /// Its name.
    pub id: String,
    /// When it was made, in milliseconds since 1970.
    pub time: u64,
    /// The size of what it holds.
    pub bytes: u64,
    /// What it was made for.
    pub about: About,
    /// What it holds, folders before what lies in them.
    pub items: Vec<Item>,
    /// Where it lies.
    pub(crate) folder: PathBuf,
}

/// One file, folder or link as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Where it was: absolute, the links above it followed.
    pub path: PathBuf,
    /// What it was.
    pub kind: ItemKind,
    /// Who could do what with it.
    pub mode: u32,
    /// Whose it was: user and group.
    pub owner: (u32, u32),
    /// When it was read and written, in seconds and nanoseconds.
    pub times: [(i64, i64); 2],
    /// Its extended attributes.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

/// What stood at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// A regular file.
    File {
        /// The number of its copy; files that are one file under several names share it.
        copy: u64,
        /// How long it was.
        size: u64,
        /// Whether it never changes, so that only a missing one is put back.
        unchanging: bool,
        /// Of a file with several names, device and number: written in place, it is restored in place.
        place: Option<(u64, u64)>,
    },
    /// A folder.
    Folder,
    /// A symbolic link.
    Link {
        /// Where it leads.
        to: PathBuf,
    },
    /// A named pipe.
    Pipe,
    /// Nothing.
    Absent,
}

/// How much may be kept.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// So many bytes are copied for one request.
    pub bytes: u64,
    /// So many files are looked at for one request.
    pub files: usize,
    /// So many bytes are kept where the file system shares them instead of copying.
    pub shared_bytes: u64,
    /// So many files that never change are linked.
    pub linked_files: usize,
    /// So many bytes are kept in all.
    pub total: u64,
    /// So many of them by one session.
    pub of_session: u64,
    /// So many backups there are.
    pub backups: usize,
    /// After this time a backup is packed, in milliseconds.
    pub rest: u64,
    /// A backup is kept so long, in milliseconds.
    pub lifetime: u64,
    /// None that is younger than this makes room for another, in milliseconds.
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

/// Why nothing was kept.
#[derive(Debug)]
pub enum Refused {
    /// A request is larger than what is kept of one: its bytes, or at least so many.
    TooLarge(u64),
    /// More files than are kept at once.
    TooMany(usize),
    /// The store holds all it may, and what it holds is too young to go.
    Full,
    /// The session has kept all that one may.
    SessionFull,
    /// Something that is to be kept is not there.
    Missing(PathBuf),
    /// Something is neither file, folder, link nor pipe.
    Special(PathBuf),
    /// A file was written to while it was copied.
    Changing(PathBuf),
    /// A folder above it is a link or a file now; the id of the backup.
    Elsewhere(PathBuf, String),
    /// The system would not have it.
    Failed(PathBuf, std::io::Error),
}

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

/// Bytes as a person reads them: `812 B`, `3.4 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut unit = "B";
    let (mut whole, mut rest) = (bytes, 0);
    for next in UNITS {
        if whole < 1000 {
            break;
        }
        (whole, rest, unit) = (whole / 1000, whole % 1000 / 100, next);
    }
    if unit == "B" { format!("{whole} B") } else { format!("{whole}.{rest} {unit}") }
}
