//! Linux and macOS: the process continues as the other program.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Replaces this process by the program; returns only on failure, with the error.
pub(crate) fn replace(command: &mut Command) -> io::Error {
    command.exec()
}
