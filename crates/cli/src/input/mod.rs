//! Standard input of a hook: waits for data that a non-blocking descriptor does not have yet.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use std::io::{self, ErrorKind, Read, StdinLock};

/// Standard input as a blocking stream, even where the client left its end of the pipe non-blocking, as Node.js may.
/// The wait has no bound of its own: the watchdog ends a hook whose payload never comes.
pub(crate) struct Input(StdinLock<'static>);

impl Input {
    /// Locks standard input.
    pub(crate) fn lock() -> Input {
        Input(io::stdin().lock())
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => system::wait(&self.0)?,
                result => return result,
            }
        }
    }
}
