//! Progress of long work, for a person who waits for it.

use std::io::{self, IsTerminal, Write};

/// Progress of long work, shown at a terminal and erased when the work is done.
#[derive(Default)]
pub(crate) struct Progress {
    shown: bool,
}

impl Progress {
    pub(crate) fn at(&mut self, records: u64) {
        if records > 0 && (self.shown || io::stderr().is_terminal()) {
            self.shown = true;
            let _ = write!(io::stderr(), "\r{records} records");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
