//! Windows: the console sends its events to both processes.

use std::io;
use std::process::Command;

/// Runs the program in this console to its end and returns its status.
pub(crate) fn through(command: &mut Command) -> io::Result<u8> {
    Ok(u8::try_from(command.status()?.code().unwrap_or(1)).unwrap_or(1))
}
