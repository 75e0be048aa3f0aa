//! Writes one line to the standard error of another process, without ever waiting for its reader.
#![expect(unsafe_code, reason = "descriptors of another process are duplicated through libc")]

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Maximum size of a line, in bytes: a pipe that is ready takes it at once (`PIPE_BUF`).
const MAX_LINE: usize = 4096;

/// Writes `reflex: TEXT` and a line break. A closed or full standard error gets nothing.
pub(super) fn write(process: u32, text: &str) {
    let Some(mut stderr) = stderr_of(process) else { return };
    let mut line = format!("reflex: {}", text.replace('\n', " "));
    while line.len() >= MAX_LINE {
        line.pop();
    }
    line.push('\n');
    let mut poll = libc::pollfd { fd: stderr.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: one structure, which lives through the call.
    let ready = unsafe { libc::poll(&raw mut poll, 1, 0) };
    if ready == 1 && poll.revents & libc::POLLOUT != 0 {
        let _ = stderr.write_all(line.as_bytes());
    }
}

fn stderr_of(process: u32) -> Option<File> {
    let process = opened(libc::SYS_pidfd_open, [i64::from(process), 0, 0])?;
    let stderr = opened(libc::SYS_pidfd_getfd, [i64::from(process.as_raw_fd()), i64::from(libc::STDERR_FILENO), 0])?;
    Some(File::from(stderr))
}

fn opened(number: libc::c_long, [first, second, third]: [i64; 3]) -> Option<OwnedFd> {
    // SAFETY: both system calls take numbers only.
    let descriptor = unsafe { libc::syscall(number, first, second, third) };
    let descriptor = RawFd::try_from(descriptor).ok().filter(|descriptor| *descriptor >= 0)?;
    // SAFETY: the kernel has just opened this descriptor for us, closed on exec.
    Some(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Whether this is the id of a process, not that of one of its further threads.
pub(super) fn is_process(thread: libc::pid_t) -> bool {
    // SAFETY: takes numbers only; signal 0 is checked, and not sent.
    let status = unsafe { libc::syscall(libc::SYS_tgkill, thread, thread, 0) };
    status == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// A descriptor that becomes readable when this child process ends.
pub(super) fn process(child: u32) -> Option<OwnedFd> {
    opened(libc::SYS_pidfd_open, [i64::from(child), 0, 0])
}
