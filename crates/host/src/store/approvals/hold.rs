//! The hold of a hook on an approval that it has taken. It is a lock, so an approval whose hook was killed before it had
//! answered can be taken again.

use super::Grant;
use crate::store::state::Store;
use crate::system::os::{self, Purpose};
use std::fs::File;
use std::path::PathBuf;

/// Content of the locked file before and after the answer.
const UNANSWERED: &[u8; 1] = b"0";
const ANSWERED: &[u8; 1] = b"1";

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
    lock: File,
}

impl Hold {
    /// Marks the approval as finally used, once the answer was sent. A process that answers one call must then exit at
    /// once: if it were killed later, the approval would be used although the call did not run.
    pub fn finish(self) {
        let _ = os::write_at(&self.lock, ANSWERED, 0);
    }
}

impl Store {
    pub(super) fn taking_file(&self, id: &str) -> PathBuf {
        self.grants_folder().join(format!("{id}.taking"))
    }

    /// Holds an approval, unless another hook does or the lock cannot be acquired.
    pub(super) fn hold(&self, id: &str) -> Option<Hold> {
        let lock = os::open(&self.taking_file(id), Purpose::Head).ok()?;
        // Overwriting one byte later needs no space on the disk.
        let is_held = lock.try_lock().is_ok() && os::write_at(&lock, UNANSWERED, 0).is_ok();
        is_held.then_some(Hold { lock })
    }

    /// Whether the hook that took an approval ended before it had allowed the call. The call then did not run, because
    /// a client treats a killed hook as a refusal.
    pub(super) fn was_left(&self, id: &str) -> bool {
        let Ok(file) = os::open(&self.taking_file(id), Purpose::Poll) else { return false };
        let mut mark = [0];
        file.try_lock().is_ok() && os::read_at(&file, &mut mark, 0).is_ok() && mark == *UNANSWERED
    }
}
