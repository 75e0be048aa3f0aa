//! Follows one thread from its system call to the moment at which the kernel has loaded the program.
#![expect(unsafe_code, reason = "ptrace has no safe interface")]

use super::image::parent;
use std::io;
use std::ptr;

/// The stop of a seized thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The program is loaded and has executed nothing. The process may now have another thread id: that of its leader.
    Loaded(libc::pid_t),
    /// The start failed: the thread is back in its old program, about to receive this signal (0: none).
    Failed(libc::pid_t, libc::c_int),
    /// The process ended.
    Gone,
}

fn request(number: libc::c_int, thread: libc::pid_t, data: usize) -> io::Result<()> {
    // SAFETY: these requests take numbers only, and no address.
    let done = unsafe { libc::ptrace(number as _, thread, ptr::null_mut::<libc::c_void>(), data as *mut libc::c_void) };
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Attaches to a thread that waits in a notified system call, and has it stop once it leaves this call.
///
/// # Errors
/// Another tracer follows it, it is gone, or the system forbids it.
pub(super) fn seize(thread: libc::pid_t) -> io::Result<()> {
    request(libc::PTRACE_SEIZE as libc::c_int, thread, libc::PTRACE_O_TRACEEXEC as usize)?;
    // The wait for the supervisor's answer ends only by fatal signals, so this stop comes after the call.
    request(libc::PTRACE_INTERRUPT as libc::c_int, thread, 0)
}

/// Waits for the stop of the thread that this thread has seized.
pub(super) fn stopped() -> Stop {
    loop {
        // SAFETY: all zeroes are a value of this structure.
        let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // `WNOWAIT`, because a process that ends may be a child whose status another thread waits for.
        let options = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT | libc::__WALL | libc::__WNOTHREAD;
        // SAFETY: the kernel writes one structure, which lives through the call.
        if unsafe { libc::waitid(libc::P_ALL, 0, &raw mut found, options) } != 0 {
            if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Stop::Gone;
        }
        // SAFETY: `waitid` has filled in the fields of a child.
        let (thread, status) = unsafe { (found.si_pid(), found.si_status()) };
        if !matches!(found.si_code, libc::CLD_TRAPPED | libc::CLD_STOPPED) {
            release(thread);
            return Stop::Gone;
        }
        return match status >> 8 {
            libc::PTRACE_EVENT_EXEC => Stop::Loaded(thread),
            0 => Stop::Failed(thread, status),
            _ => Stop::Failed(thread, 0),
        };
    }
}

/// Hands an ended process to its parent, unless this process is the parent.
fn release(process: libc::pid_t) {
    let parent = u32::try_from(process).ok().and_then(parent).map(|(parent, _)| parent);
    if parent != Some(std::process::id()) {
        let mut status = 0;
        // SAFETY: the kernel writes one number.
        unsafe { libc::waitpid(process, &raw mut status, libc::WNOHANG | libc::__WALL | libc::__WNOTHREAD) };
    }
}

/// Lets a stopped thread go on alone, with this signal (0: none).
pub(super) fn detach(thread: libc::pid_t, signal: libc::c_int) {
    let _ = request(libc::PTRACE_DETACH as libc::c_int, thread, usize::try_from(signal).unwrap_or(0));
}

/// Ends the whole process of a stopped thread, and hands it to its parent.
pub(super) fn kill(process: libc::pid_t) {
    // SAFETY: takes two numbers.
    unsafe { libc::kill(process, libc::SIGKILL) };
    // A killed thread has left its stop, so detaching fails. Its end is reported to its tracer before its parent.
    while let Stop::Loaded(thread) | Stop::Failed(thread, _) = stopped() {
        detach(thread, 0);
    }
}
