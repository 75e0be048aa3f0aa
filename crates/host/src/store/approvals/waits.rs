//! Hooks that wait for the answer to a call. Each holds a lock on the call's file, so a hook that was killed counts as
//! waiting no more, whatever the name of the file says. The name contains the end of the wait, which an answer that was
//! begun postpones.

use super::files::{BRIEF_WAIT, LONG_WAIT, State, WaitEnd};
use super::pending::Pending;
use crate::store::state::Store;
use crate::system::clock;
use std::fs::File;
use std::io;

/// Minimum time that an answer that was begun has left, in milliseconds. Who types an answer extends it again and again.
const TYPING: u64 = 30_000;

/// A wait for an answer, until dropped.
pub(crate) struct Wait {
    store: Store,
    id: String,
    /// Released with the process, whatever ends it.
    lock: File,
    latest: u64,
}

impl Wait {
    /// The end of the wait, in milliseconds since 1970, with the extensions so far. Never after the latest end that it
    /// was begun with.
    pub(crate) fn until(&self) -> u64 {
        match self.store.waiting_entry(&self.id).map(|entry| entry.state) {
            Some(State::Waits(end)) => end.until.min(self.latest),
            _ => 0,
        }
    }

    /// Locks the file of the call again if it was replaced, as by an appeal.
    pub(crate) fn renew(&mut self) {
        let entry = self.store.waiting_entry(&self.id).filter(|entry| matches!(entry.state, State::Waits(_)));
        let replaced = entry.filter(|entry| !self.store.is_held(entry));
        if let Some(lock) = replaced.and_then(|entry| self.store.locked_file(&entry).ok()) {
            self.lock = lock;
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let Ok(_lock) = self.store.lock_calls(BRIEF_WAIT) else { return };
        if let Some(entry) = self.store.waiting_entry(&self.id) {
            let _ = self.store.change_state(&entry, State::Open).and(self.lock.unlock());
        }
    }
}

impl Store {
    /// Begins the wait for the answer to a listed call.
    ///
    /// # Errors
    /// The wait cannot be noted, so no list shows it.
    pub(crate) fn begin_wait(&self, call: &Pending, end: WaitEnd) -> io::Result<Wait> {
        let _lock = self.lock_calls(BRIEF_WAIT)?;
        let entry = self.waiting_entry(&call.id).ok_or(io::ErrorKind::NotFound)?;
        let lock = self.locked_file(&entry)?;
        self.change_state(&entry, State::Waits(end))?;
        Ok(Wait { store: self.clone(), id: call.id.clone(), lock, latest: end.latest })
    }

    /// The end of the wait for the answer to the call with this id; `None` if no hook waits for it.
    pub(super) fn wait_end(&self, id: &str) -> Option<WaitEnd> {
        let entry = self.waiting_entry(id)?;
        let State::Waits(end) = entry.state else { return None };
        (end.until > clock::now() && self.is_held(&entry)).then_some(end)
    }

    /// Gives a person who has begun an answer half a minute to finish it, if a hook waits for that answer and its client
    /// allows it. Returns the time in milliseconds since 1970 until which the hook waits now.
    pub fn extend_wait(&self, id: &str) -> Option<u64> {
        let end = self.wait_end(id)?;
        let until = end.latest.min(end.until.max(clock::now() + TYPING));
        if until > end.until {
            let _lock = self.lock_calls(LONG_WAIT).ok()?;
            self.change_state(&self.waiting_entry(id)?, State::Waits(WaitEnd { until, ..end })).ok()?;
        }
        Some(until)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::super::answers::waiting;
    use super::super::files::{State, WaitEnd};
    use super::super::{Pending, short_id};
    use super::TYPING;
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
        assert_eq!(store.extend_wait(&call.id), None);
        assert_eq!(store.waiting_entry(&call.id).unwrap().state, State::Open);
        let now = clock::now();
        let wait = store.begin_wait(&call, WaitEnd { until: now + 5_000, latest: now + 8_000 }).unwrap();
        assert_eq!((store.extend_wait(&call.id), wait.until()), (Some(now + 8_000), now + 8_000));
        let entry = store.waiting_entry(&call.id).unwrap();
        store.change_state(&entry, State::Waits(WaitEnd { until: u64::MAX, latest: u64::MAX })).unwrap();
        assert_eq!(wait.until(), now + 8_000, "nobody makes a hook wait longer than its client");
    }
}
