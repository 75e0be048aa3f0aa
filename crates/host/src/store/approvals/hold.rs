//! The hold of a hook on an approval that it has taken. It is a lock, so an approval whose hook was killed before it had
//! answered can be taken again.

use super::Grant;
use std::fs::{self, File};
use std::path::PathBuf;

/// An approval that covers a call.
#[derive(Debug)]
pub(crate) struct Approval {
    pub(crate) grant: Grant,
    /// Of an approval for one call.
    pub(crate) hold: Option<Hold>,
}

/// Keeps others from taking an approval for one call. Without [`Hold::finish`] the approval is free again once this is
/// dropped or its process has ended.
#[derive(Debug)]
pub struct Hold {
    pub(super) lock: File,
    /// The path of the locked file, and the one that it has once the approval is used.
    pub(super) taken: PathBuf,
    pub(super) used: PathBuf,
}

impl Hold {
    /// Marks the approval as finally used, once the answer was sent. A process that answers one call must then exit at
    /// once: if it were killed later, the approval would be used although the call did not run.
    pub fn finish(self) {
        // An approval that was given or revoked anew meanwhile has another path. Removing a file takes no space, where a
        // full disk has none for the name.
        let used = fs::rename(&self.taken, &self.used).or_else(|_| fs::remove_file(&self.taken));
        let _ = used.and(self.lock.unlock());
    }
}
