//! Windows: a process cannot become another program, so this one waits for it and exits with its status.

use std::io;
use std::process::Command;

/// Runs the program and exits with its status; returns only on failure, with the error.
pub(crate) fn replace(command: &mut Command) -> io::Error {
    match command.status() {
        // Callers of a hook treat 2 as a refusal; any other status of a killed program might let the call run.
        Ok(status) => std::process::exit(status.code().unwrap_or(2)),
        Err(problem) => problem,
    }
}
