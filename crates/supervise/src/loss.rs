//! A change to files that a watched process is about to make, and the answer to it.

use std::fs::File;
use std::io;
use std::path::PathBuf;

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A name is removed.
    Delete,
    /// An empty folder is removed.
    RemoveFolder,
    /// A file or folder is renamed, and replaces what has the new name.
    Rename,
    /// Two files or folders exchange their names.
    Exchange,
    /// A file is opened for writing or truncated.
    Write,
    /// A file that does not exist is opened for writing.
    Create,
    /// Mode or owner are set.
    Attributes,
}

/// A change that waits in its system call.
///
/// The paths were looked up before the call goes on. Another thread of the caller may change the call meanwhile, so this
/// is enough to keep a file, but not to deny access to it: such a thread only has another file kept.
#[derive(Debug)]
pub struct Loss {
    /// Process that makes the call.
    pub process: u32,
    /// Kind of the change.
    pub operation: Operation,
    /// Real path of what is changed; for a rename, the new name.
    pub path: PathBuf,
    /// Real path of what is renamed to `path`, or exchanged with it; otherwise empty.
    pub source: PathBuf,
    /// What `path` leads to now: a descriptor that neither reads nor writes (`O_PATH`), also of a symbolic link itself.
    /// It stays this file whatever happens to the path.
    pub victim: Option<File>,
    /// The same of `source`.
    pub moved: Option<File>,
}

/// The answer to a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The call goes on.
    Continue,
    /// The call fails with this error number.
    Fail(i32),
}

/// Answers each change before it happens. Called by several threads at once, for each of which its caller waits.
pub trait Watch: Send + Sync {
    /// Answers a change.
    fn before(&self, loss: &Loss) -> Fate;

    /// Reports a change that goes on without an answer, because its files could not be looked up, or the answer took
    /// longer than a minute.
    fn report_unresolved(&self, process: u32, why: &io::Error);
}
