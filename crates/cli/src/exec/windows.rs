//! Windows: no process becomes another program, so this one waits for it and ends as it did.

use std::io;
use std::process::Command;

/// Starts it and ends with its status; comes back only with the reason why it could not.
pub(crate) fn replace(command: &mut Command) -> io::Error {
    match command.status() {
        // 2 is a refusal for whoever calls a hook, and any other status of a program that was ended might let the call run.
        Ok(status) => std::process::exit(status.code().unwrap_or(2)),
        Err(problem) => problem,
    }
}
