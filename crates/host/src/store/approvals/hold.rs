//! The hold of a hook on an approval that it has taken. It is a lock, so an approval whose hook was killed before it had
//! answered can be taken again.

use super::Grant;
use super::files::Mark;
use crate::system::os;
use std::fs::File;

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
}

impl Hold {
    /// Marks the approval as finally used, once the answer was sent. A process that answers one call must then exit at
    /// once: if it were killed later, the approval would be used although the call did not run.
    pub fn finish(self) {
        let _ = os::write_at(&self.lock, &[Mark::Answered as u8], 0);
    }
}
