//! Hooks that wait for the answer to a call. Each holds a lock on a file, so a hook that was killed counts as waiting no
//! more, whatever its call says. The file contains the end of the wait, which an answer that was begun postpones.

use super::pending::Pending;
use crate::store::state::Store;
use crate::system::clock;
use crate::system::files::wait_for;
use crate::system::os::{self, Purpose};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum wait for a list that is just looking whether the lock is held.
const BRIEF: Duration = Duration::from_millis(200);

/// Minimum time that an answer that was begun has left, in milliseconds. Who types an answer extends it again and again.
const TYPING: u64 = 30_000;

/// The end of a wait in milliseconds since 1970, and the end of the longest one that the client allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaitEnd {
    pub(crate) until: u64,
    pub(crate) latest: u64,
}

impl WaitEnd {
    /// Size of its form in a file: both numbers, each as eight bytes, most significant byte first.
    const BYTES: usize = 16;

    fn to_bytes(self) -> Vec<u8> {
        [self.until.to_be_bytes(), self.latest.to_be_bytes()].concat()
    }

    /// The end that the file of a wait names. The file is empty until its hook has written it.
    fn read(file: &File) -> Option<WaitEnd> {
        let mut bytes = [0; WaitEnd::BYTES];
        if os::read_at(file, &mut bytes, 0).ok()? < WaitEnd::BYTES {
            return None;
        }
        let (until, latest) = bytes.split_first_chunk()?;
        Some(WaitEnd { until: u64::from_be_bytes(*until), latest: u64::from_be_bytes(*latest.first_chunk()?) })
    }
}

/// A wait for an answer, until dropped.
pub(crate) struct Wait {
    path: PathBuf,
    /// Released with the process, whatever ends it.
    lock: File,
    latest: u64,
}

impl Wait {
    /// The end of the wait, in milliseconds since 1970, with the extensions so far. Never after the latest end that it
    /// was begun with.
    pub(crate) fn until(&self) -> u64 {
        WaitEnd::read(&self.lock).map_or(0, |end| end.until.min(self.latest))
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Store {
    /// Begins the wait for the answer to a listed call.
    ///
    /// # Errors
    /// The wait cannot be noted, so no list shows it.
    pub(crate) fn begin_wait(&self, call: &Pending, end: WaitEnd) -> io::Result<Wait> {
        let path = self.wait_file(&call.id);
        let lock = os::open(&path, Purpose::Head)?;
        wait_for(&lock, BRIEF)?;
        let wait = Wait { path, lock, latest: end.latest };
        os::write_at(&wait.lock, &end.to_bytes(), 0)?;
        if let Some(kept) = self.pending_call(&call.id) {
            self.put_pending(&Pending { until: end.until, ..kept })?;
        }
        Ok(wait)
    }

    /// The end of the wait for the answer to the call with this id; `None` if no hook waits for it.
    pub(super) fn wait_end(&self, id: &str) -> Option<WaitEnd> {
        let file = os::open(&self.wait_file(id), Purpose::Poll).ok()?;
        let is_held = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        WaitEnd::read(&file).filter(|end| is_held && end.until > clock::now())
    }

    /// Gives a person who has begun an answer half a minute to finish it, if a hook waits for that answer and its client
    /// allows it. Returns the time in milliseconds since 1970 until which the hook waits now.
    pub fn extend_wait(&self, id: &str) -> Option<u64> {
        let end = self.wait_end(id)?;
        let until = end.latest.min(end.until.max(clock::now() + TYPING));
        if until > end.until {
            // A file that its hook has removed must not be created again.
            let file = self.wait_file(id).symlink_metadata().ok().filter(|data| data.is_file());
            let file = file.and_then(|_| os::open(&self.wait_file(id), Purpose::Head).ok())?;
            os::write_at(&file, &WaitEnd { until, ..end }.to_bytes(), 0).ok()?;
        }
        Some(until)
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
    use super::{TYPING, WaitEnd};
    use crate::store::Store;
    use crate::system::clock;
    use crate::system::folders::Folders;
    use crate::system::os;

    #[test]
    fn a_call_waits_while_its_hook_holds_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(&Folders::below(folder.path().to_owned()));
        let call = Pending { id: short_id(), client: "claude".into(), exact: "a".into(), ..Pending::default() };
        let call = store.keep_pending(&call).unwrap();
        let waits = || waiting(&store).iter().map(Pending::waits).collect::<Vec<_>>();
        assert_eq!(waits(), [false]);
        let minute = clock::now() + 60_000;
        let wait = store.begin_wait(&call, WaitEnd { until: minute, latest: minute }).unwrap();
        assert_eq!(waits(), [true]);
        drop(wait);
        assert_eq!(waits(), [false]);
        let _over = store.begin_wait(&call, WaitEnd { until: 1, latest: minute }).unwrap();
        assert_eq!(waits(), [false]);
    }

    #[test]
    fn an_answer_that_was_begun_extends_a_wait_to_the_end_that_the_client_allows() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(&Folders::below(folder.path().to_owned()));
        let call = Pending { id: short_id(), client: "codex".into(), exact: "a".into(), ..Pending::default() };
        let call = store.keep_pending(&call).unwrap();
        assert_eq!(store.extend_wait(&call.id), None, "no hook waits");
        let now = clock::now();
        let wait = store.begin_wait(&call, WaitEnd { until: now + 5_000, latest: now + 290_000 }).unwrap();
        let until = store.extend_wait(&call.id).unwrap();
        assert!(until >= now + TYPING && wait.until() == until, "{until} {now}");
        assert_eq!(waiting(&store).first().map(|call| call.until), Some(until), "the list shows the new end");
        drop(wait);
        assert_eq!((store.extend_wait(&call.id), store.wait_file(&call.id).exists()), (None, false));
        let now = clock::now();
        let wait = store.begin_wait(&call, WaitEnd { until: now + 5_000, latest: now + 8_000 }).unwrap();
        assert_eq!((store.extend_wait(&call.id), wait.until()), (Some(now + 8_000), now + 8_000));
        os::write_at(&wait.lock, &[0xff; WaitEnd::BYTES], 0).unwrap();
        assert_eq!(wait.until(), now + 8_000, "nobody makes a hook wait longer than its client");
    }
}
