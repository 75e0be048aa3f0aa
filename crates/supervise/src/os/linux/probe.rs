//! Tries the mechanism on this system.

use super::supervisor::Supervision;
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
/// A reason why this system cannot supervise, as a part of a sentence.
pub fn probe() -> Result<(), String> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", ":"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let ended = Supervision::start(&mut shell, Scope::Starts(Arc::new(All))).and_then(|(supervision, mut child)| {
        let status = supervision.wait(&mut child)?;
        Ok(status.success())
    });
    match ended {
        Ok(true) => Ok(()),
        Ok(false) => {
            Err("this system does not let a process follow the programs below it (`kernel.yama.ptrace_scope` \
                          above 1, or the profile of a container)"
                .into())
        }
        Err(error) => Err(why(&error)),
    }
}

/// The reason why the filter could not be installed.
pub(super) fn why(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EBUSY) => "another program supervises the starts here already".into(),
        Some(libc::EINVAL | libc::ENOSYS) => "the kernel is older than 5.19, or built without seccomp".into(),
        Some(libc::EPERM | libc::EACCES) => "this system forbids seccomp filters to this process".into(),
        _ => format!("no filter can be installed: {error}"),
    }
}
