//! Tells a watch of each change before it happens, and bounds the time that a caller waits for it.

use super::calls::Change;
use super::filter::{Listener, Notification};
use super::image;
use super::place::{Caller, Place};
use crate::loss::{Fate, Loss, Operation, Watch};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time after which a call goes on, whatever the watch is doing: a file system may be served by a process that waits
/// for this one.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The watched side of a supervisor.
pub(super) struct Watcher {
    watch: Arc<dyn Watch>,
    /// The calls that are being looked at.
    pending: Mutex<HashMap<u64, Pending>>,
}

#[derive(Debug, Clone, Copy)]
struct Pending {
    since: Instant,
    process: u32,
}

impl Watcher {
    pub(super) fn new(watch: Arc<dyn Watch>) -> Watcher {
        Watcher { watch, pending: Mutex::default() }
    }

    /// Answers a call. Returns whether it had to wait too long, so that another has answered it.
    pub(super) fn answer(&self, listener: &Listener, call: &Notification) -> bool {
        let Some(process) = image::process_of(call.thread) else {
            listener.go_on(call.id);
            return false;
        };
        let pending = Pending { since: Instant::now(), process };
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).insert(call.id, pending);
        let fate = self.fate(listener, call, Caller { process, thread: call.thread });
        if self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&call.id).is_none() {
            return true;
        }
        match fate {
            Fate::Continue => listener.go_on(call.id),
            Fate::Fail(errno) => listener.fail(call.id, errno),
        }
        false
    }

    fn fate(&self, listener: &Listener, call: &Notification, caller: Caller) -> Fate {
        let loss = match looked_up(call, caller) {
            Ok(Some(loss)) => loss,
            Ok(None) => return Fate::Continue,
            // The call fails by itself: its path is not in memory, or longer than any.
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => return Fate::Continue,
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Fate::Continue,
            Err(error) => {
                if listener.is_valid(call.id) {
                    self.watch.report_unresolved(caller.process, &error);
                }
                return Fate::Continue;
            }
        };
        // If the caller is gone, what was read may be another's.
        if listener.is_valid(call.id) { self.watch.before(&loss) } else { Fate::Continue }
    }

    /// Lets the calls go on that have waited too long; returns their number.
    pub(super) fn release(&self, listener: &Listener) -> usize {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let late: Vec<(u64, Pending)> = pending.extract_if(|_, call| call.since.elapsed() >= MAX_WAIT).collect();
        drop(pending);
        for (id, call) in &late {
            listener.go_on(*id);
            self.watch.report_unresolved(call.process, &io::ErrorKind::TimedOut.into());
        }
        late.len()
    }
}

/// The change that a call makes. `None` if it changes nothing.
fn looked_up(call: &Notification, caller: Caller) -> io::Result<Option<Loss>> {
    let Some(change) = Change::read(call)? else { return Ok(None) };
    let (source, moved) = match change.source.map(|name| caller.find(&name)).transpose()? {
        None => (PathBuf::new(), None),
        Some(Some(Place { path, file: Some(file) })) => (path, Some(file)),
        Some(_) => return Ok(None),
    };
    let Some(Place { path, file }) = caller.find(&change.name)? else { return Ok(None) };
    let operation = match (change.operation, &file) {
        (Operation::Write, None) => Operation::Create,
        (Operation::Rename, None) => Operation::Rename,
        (_, None) => return Ok(None),
        (_, Some(_)) if change.is_exclusive => return Ok(None),
        (operation, Some(_)) => operation,
    };
    if let (Some(moved), Some(file)) = (&moved, &file)
        && is_same(moved, file)
    {
        return Ok(None);
    }
    Ok(Some(Loss { process: caller.process, operation, path, source, victim: file, moved }))
}

/// Whether two names lead to one file: renaming one to the other does nothing.
fn is_same(one: &File, other: &File) -> bool {
    let of = |file: &File| file.metadata().map(|data| (data.dev(), data.ino())).ok();
    of(one).is_some() && of(one) == of(other)
}
