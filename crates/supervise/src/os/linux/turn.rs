//! The turn to wait for calls.
//!
//! One worker waits at a time: the kernel would wake all of them for each call. It keeps the turn while it answers a
//! change, which takes less time than waking another worker, and passes it before anything longer.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// A turn that one of several threads holds.
#[derive(Debug, Default)]
pub(super) struct Turn {
    holder: Mutex<Option<Holder>>,
    is_free: Condvar,
}

#[derive(Debug)]
struct Holder {
    worker: ThreadId,
    /// The time at which the call began that it answers; `None` while it waits for one.
    busy_since: Option<Instant>,
}

thread_local! {
    /// The turn that this thread took last.
    static TAKEN: RefCell<Option<Arc<Turn>>> = const { RefCell::new(None) };
}

/// Lets another worker wait for calls, because what follows may take long. Has no effect in other threads.
pub fn pass_turn() {
    TAKEN.with_borrow(|turn| {
        if let Some(turn) = turn {
            turn.pass();
        }
    });
}

impl Turn {
    fn holder(&self) -> MutexGuard<'_, Option<Holder>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn, unless this thread holds it.
    pub(super) fn take(self: &Arc<Turn>) {
        let worker = thread::current().id();
        let is_anothers = |holder: &mut Option<Holder>| holder.as_ref().is_some_and(|holder| holder.worker != worker);
        let waited = self.is_free.wait_while(self.holder(), is_anothers);
        *waited.unwrap_or_else(PoisonError::into_inner) = Some(Holder { worker, busy_since: None });
        TAKEN.set(Some(Arc::clone(self)));
    }

    /// Notes that the holder begins to answer a call.
    pub(super) fn begin_call(&self) {
        if let Some(holder) = &mut *self.holder() {
            holder.busy_since = Some(Instant::now());
        }
    }

    /// Gives the turn to another thread, if this one holds it.
    pub(super) fn pass(&self) {
        let worker = thread::current().id();
        self.free_if(|holder| holder.worker == worker);
    }

    /// Takes the turn from a thread that has been answering one call for this time: the file system that it waits for
    /// may be served by a process that is waiting for this worker.
    pub(super) fn pass_if_busy_for(&self, time: Duration) {
        self.free_if(|holder| holder.busy_since.is_some_and(|since| since.elapsed() >= time));
    }

    fn free_if(&self, is_meant: impl Fn(&Holder) -> bool) {
        let mut holder = self.holder();
        if holder.as_ref().is_some_and(is_meant) {
            *holder = None;
            drop(holder);
            self.is_free.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A long time, after which a test has failed.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn a_turn_is_kept_until_it_is_passed_or_its_holder_is_late() {
        let turn = Arc::new(Turn::default());
        turn.take();
        turn.take();
        let (took, taken) = mpsc::channel();
        let others = Arc::clone(&turn);
        let other = thread::spawn(move || {
            others.take();
            took.send(()).unwrap();
            others.begin_call();
        });
        assert!(taken.recv_timeout(Duration::from_millis(50)).is_err(), "it is taken");
        turn.pass_if_busy_for(Duration::ZERO);
        assert!(taken.recv_timeout(Duration::from_millis(50)).is_err(), "its holder waits, and is not late");
        pass_turn();
        taken.recv_timeout(PATIENCE).unwrap();
        other.join().unwrap();
        // The other thread has ended with the turn.
        turn.pass();
        turn.pass_if_busy_for(Duration::ZERO);
        turn.take();
    }
}
