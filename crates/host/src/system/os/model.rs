//! What the systems are asked in: purposes, what they say of a file, the number of a process.

/// The number of a process.
pub(crate) type Pid = u32;

/// The user that may change everything.
const ROOT: u32 = 0;

/// Why one of our own files is opened. None is passed on to programs that are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read.
    Read,
    /// To read without waiting for a writer, should a pipe stand in its place.
    Poll,
    /// To read and append; it is made if it is not there, and never reached through a link.
    Log,
    /// To read and replace; made like a log, and no pipe is waited for.
    Head,
    /// To append; it is made if it is not there.
    Append,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Something may have changed.
    Changed,
    /// The time is over, or nobody reads our answer any more.
    Over,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe or a socket: what comes out of it is not known.
    Pipe,
    /// A device, or something else.
    Other,
}

/// What the system says of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    /// What it is.
    pub(crate) kind: Kind,
    /// Its bytes.
    pub(crate) size: u64,
    /// The device and its number there: no two files have both in common. `None` where the system does not say.
    pub(crate) place: Option<(u64, u64)>,
    /// Its kind and who may do what, as POSIX writes it.
    pub(crate) mode: u32,
    /// Whose it is; `None` where the system does not say.
    pub(crate) owner: Option<u32>,
    /// When its content changed: seconds since 1970, and nanoseconds.
    pub(crate) modified: (i64, i64),
    /// When anything of it changed, which only the clock sets.
    pub(crate) changed: (i64, i64),
}

impl Stat {
    /// Whether it is known to be this user's.
    pub(crate) fn is_of(&self, user: Option<u32>) -> bool {
        user.is_some() && self.owner == user
    }

    /// Whether it is known to be the administrator's.
    pub(crate) fn is_of_root(&self) -> bool {
        self.is_of(Some(ROOT))
    }

    /// Whether its group or everybody may write it.
    pub(crate) fn others_may_write(&self) -> bool {
        self.mode & 0o022 != 0
    }

    /// Whether everybody may write it.
    pub(crate) fn everybody_may_write(&self) -> bool {
        self.mode & 0o002 != 0
    }

    /// Whether both are the same file, as far as the system tells files apart.
    pub(crate) fn is_same_file(&self, other: &Stat) -> bool {
        self.place.is_some() && self.place == other.place
    }
}
