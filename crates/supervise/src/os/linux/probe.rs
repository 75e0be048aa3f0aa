//! Tries the mechanism on this system.

use super::supervisor::Supervision;
use crate::error::ProbeError;
use crate::scope::Scope;
use crate::start::{Answer, Judge, Start};
use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;

struct All;

impl Judge for All {
    fn judge(&self, _start: &Start) -> Answer {
        Answer::Run
    }
}

/// Supervises a shell that does nothing.
///
/// # Errors
/// This system cannot supervise.
pub fn probe() -> Result<(), ProbeError> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", ":"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let ended = Supervision::start(&mut shell, Scope::Starts(Arc::new(All))).and_then(|(supervision, mut child)| {
        let status = supervision.wait(&mut child)?;
        Ok(status.success())
    });
    match ended {
        Ok(true) => Ok(()),
        Ok(false) => Err(ProbeError::NotFollowed),
        Err(error) => Err(of_filter(error)),
    }
}

/// The reason why the filter could not be installed.
fn of_filter(error: io::Error) -> ProbeError {
    match error.raw_os_error() {
        Some(libc::EBUSY) => ProbeError::Occupied,
        Some(libc::EINVAL | libc::ENOSYS) => ProbeError::OldKernel,
        Some(libc::EPERM | libc::EACCES) => ProbeError::Forbidden,
        _ => ProbeError::Filter(error),
    }
}
