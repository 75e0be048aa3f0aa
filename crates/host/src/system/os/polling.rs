//! macOS and Windows: a wait that polls twenty times a second by the wall clock. Setting the clock back ends the wait,
//! so that it never exceeds its limit.

use super::model::Woken;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Pause between two polls.
const PAUSE: Duration = Duration::from_millis(50);

/// A wait with a time limit. The system does not report changes, so each poll may find one.
pub(crate) struct Watch {
    begun: SystemTime,
    limit: Duration,
}

impl Watch {
    /// Starts the wait.
    ///
    /// # Errors
    /// Never on these systems.
    pub(crate) fn begin(_folders: &[&Path], _closed: &Path, limit: Duration) -> io::Result<Watch> {
        Ok(Watch { begun: SystemTime::now(), limit })
    }

    /// The same wait: these systems have no supervisor, so no other process waits.
    pub(crate) fn on_behalf_of(self, _process: Option<u64>) -> Watch {
        self
    }

    /// Waits for the next poll or the end.
    pub(crate) fn wait(&self) -> Woken {
        std::thread::sleep(PAUSE);
        let is_over = self.begun.elapsed().map_or(true, |passed| passed >= self.limit);
        if is_over { Woken::Over } else { Woken::Changed }
    }
}
