//! macOS and Windows: a wait that looks again twenty times a second, by the wall clock. A clock that is set back ends it,
//! so that it never takes longer than it may.

use super::model::Woken;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// A wait at most for some time. Nothing tells of a change: each look may find one.
pub(crate) struct Watch {
    begun: SystemTime,
    most: Duration,
}

impl Watch {
    /// Begins to wait.
    ///
    /// # Errors
    /// Never on these systems.
    pub(crate) fn begin(_folders: &[&Path], _closed: &Path, most: Duration) -> io::Result<Watch> {
        Ok(Watch { begun: SystemTime::now(), most })
    }

    /// Waits for the next look or the end.
    pub(crate) fn wait(&self) -> Woken {
        std::thread::sleep(PAUSE);
        let is_over = self.begun.elapsed().map_or(true, |passed| passed >= self.most);
        if is_over { Woken::Over } else { Woken::Changed }
    }
}
