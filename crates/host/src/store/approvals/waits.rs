//! Hooks that wait for the answer to a call. Each holds a lock, so a hook that was killed counts as waiting no more,
//! whatever its call says.

use super::limits;
use super::pending::Pending;
use crate::store::state::Store;
use crate::system::files::wait_for;
use crate::system::os::{self, Purpose};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum wait for a list that is just looking whether the lock is held.
const BRIEF: Duration = Duration::from_millis(200);

/// A wait for an answer, until dropped.
pub(crate) struct Wait {
    path: PathBuf,
    /// Released with the process, whatever ends it.
    _lock: File,
}

impl Drop for Wait {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Store {
    /// Begins the wait for the answer to a listed call, which ends at `until`, in milliseconds since 1970.
    ///
    /// # Errors
    /// The wait cannot be noted, so no list shows it.
    pub(crate) fn begin_wait(&self, call: &Pending, until: u64) -> io::Result<Wait> {
        let path = self.wait_file(&call.id);
        let lock = os::open(&path, Purpose::Head)?;
        wait_for(&lock, BRIEF)?;
        let wait = Wait { path, _lock: lock };
        let file = self.pending_folder().join(limits::file_name(call));
        if let Some(kept) = super::object(&file).map(|map| Pending::from_json(&map)) {
            self.put_pending(&Pending { until, ..kept })?;
        }
        Ok(wait)
    }

    /// Whether a hook waits for the answer to the call with this id.
    pub(super) fn is_awaited(&self, id: &str) -> bool {
        let lock = os::open(&self.wait_file(id), Purpose::Poll);
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    pub(super) fn wait_file(&self, id: &str) -> PathBuf {
        self.pending_folder().join(format!("{id}.waits"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::super::answers::waiting;
    use super::super::{Pending, short_id};
    use crate::store::Store;
    use crate::system::clock;
    use crate::system::folders::Folders;

    #[test]
    fn a_call_waits_while_its_hook_holds_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(&Folders::below(folder.path().to_owned()));
        let call = Pending { id: short_id(), client: "claude".into(), exact: "a".into(), ..Pending::default() };
        let call = store.keep_pending(&call).unwrap();
        let waits = || waiting(&store).iter().map(Pending::waits).collect::<Vec<_>>();
        assert_eq!(waits(), [false]);
        let wait = store.begin_wait(&call, clock::now() + 60_000).unwrap();
        assert_eq!(waits(), [true]);
        drop(wait);
        assert_eq!(waits(), [false]);
        let _over = store.begin_wait(&call, 1).unwrap();
        assert_eq!(waits(), [false]);
    }
}
