//! Linux and macOS: the descriptor is polled.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io::{self, StdinLock};

/// Waits until there is data, an end or an error to read.
pub(super) fn wait(input: &StdinLock<'_>) -> io::Result<()> {
    match poll(&mut [PollFd::new(input, PollFlags::IN)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
