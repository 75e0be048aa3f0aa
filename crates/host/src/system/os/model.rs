//! Types that all systems share: purposes of opening, metadata of a file, the id of a process.

/// The id of a process.
pub(crate) type Pid = u32;

/// The user id of the superuser.
const ROOT: u32 = 0;

/// The purpose for which one of the guard's own files is opened. Started programs do not inherit it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read.
    Read,
    /// To read without blocking, in case the file was replaced by a pipe.
    Poll,
    /// To read and append. The file is created if it does not exist, and a symlink is never followed.
    Log,
    /// To read and overwrite. The file is created like a log, and opening a pipe does not block.
    Head,
    /// To read and overwrite a file that exists, without following a symlink or blocking.
    Change,
    /// To append. The file is created if it does not exist.
    Append,
}

/// The reason why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Something may have changed.
    Changed,
    /// The time is over, or the reader of the answer has closed its end or is gone.
    Over,
}

/// The type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe or a socket, whose content is not known in advance.
    Pipe,
    /// A device, or another type.
    Other,
}

/// The metadata of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Its type.
    pub(crate) kind: Kind,
    /// Its size in bytes.
    pub(crate) size: u64,
    /// The device and the inode, which identify a file. `None` if the system has none.
    pub(crate) place: Option<(u64, u64)>,
    /// Its type and permissions, as in POSIX.
    pub(crate) mode: u32,
    /// The user id of its owner; `None` if the system has none.
    pub(crate) owner: Option<u32>,
    /// Time of the last change of its content: seconds since 1970, and nanoseconds.
    pub(crate) modified: (i64, i64),
    /// Time of the last change of its content or metadata, which only the clock sets (ctime).
    pub(crate) changed: (i64, i64),
}

impl Stat {
    /// Whether its owner is known and is this user.
    pub(crate) fn is_of(&self, user: Option<u32>) -> bool {
        user.is_some() && self.owner == user
    }

    /// Whether its owner is known and is the superuser.
    pub(crate) fn is_of_root(&self) -> bool {
        self.is_of(Some(ROOT))
    }

    /// Whether its group or everyone may write it.
    pub(crate) fn others_may_write(&self) -> bool {
        self.mode & 0o022 != 0
    }

    /// Whether everyone may write it.
    pub(crate) fn everybody_may_write(&self) -> bool {
        self.mode & 0o002 != 0
    }

    /// Whether both are the same file; false if the system has no inodes.
    pub(crate) fn is_same_file(&self, other: &Stat) -> bool {
        self.place.is_some() && self.place == other.place
    }
}
