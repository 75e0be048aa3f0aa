//! Linux and macOS: the process goes on as the other program.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Starts it in the place of this process; comes back only with the reason why it could not.
pub(crate) fn replace(command: &mut Command) -> io::Error {
    command.exec()
}
