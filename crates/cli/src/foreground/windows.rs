//! Windows: the console sends its events to both processes.

use super::starter::Starter;
use std::io;
use std::process::Command;

/// Does nothing: the console's events end this process anyway.
pub(crate) fn let_signals_end_this() {}

/// Runs the program in this console to its end and returns its status.
pub(crate) fn through(command: &mut Command, start: Starter<'_>) -> io::Result<u8> {
    let (mut child, wait) = start(command)?;
    Ok(u8::try_from(wait(&mut child)?.code().unwrap_or(1)).unwrap_or(1))
}
