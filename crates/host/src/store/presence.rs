//! Detects whether a person can answer now: an open list of waiting calls holds a lock as long as its process lives.

use super::state::Store;
use crate::system::files::make_folder;
use crate::system::os::{self, Purpose};
use std::fs::{File, TryLockError};
use std::path::PathBuf;

/// A person at an open list, until this value is dropped or the process ends in any way.
#[derive(Debug)]
pub struct Presence {
    _lock: File,
}

impl Store {
    /// The file that an open list locks, and that is closed when the list ends.
    pub(crate) fn presence_file(&self) -> PathBuf {
        self.state().join("answering")
    }

    /// Announces a person; `None` if another list has done so already.
    pub fn be_present(&self) -> Option<Presence> {
        make_folder(self.state()).ok()?;
        let file = os::open(&self.presence_file(), Purpose::Head).ok()?;
        file.try_lock().is_ok().then_some(Presence { _lock: file })
    }

    /// Whether a person can answer. Hooks request a shared lock, so that concurrent ones do not take each other for a
    /// person.
    pub(crate) fn is_person_present(&self) -> bool {
        let Ok(file) = os::open(&self.presence_file(), Purpose::Poll) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use crate::store::Store;
    use crate::system::folders::Folders;

    #[test]
    fn a_person_is_present_while_one_list_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(&Folders::below(folder.path().to_owned()));
        assert!(!store.is_person_present());
        let list = store.be_present().unwrap();
        assert!(store.is_person_present() && store.be_present().is_none());
        drop(list);
        assert!(!store.is_person_present() && store.be_present().is_some());
    }
}
