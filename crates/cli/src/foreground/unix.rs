//! Linux and macOS: the program handles the terminal's signals; signals for this process alone are passed on to it.
#![expect(unsafe_code, reason = "what becomes of a signal is set up through libc")]

use super::starter::Starter;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

/// Process id of the child that receives the signals that would end this process.
static CHILD: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: libc::c_int) {
    let child = CHILD.load(Ordering::Relaxed);
    if child > 0 {
        // SAFETY: `kill` takes two numbers and is async-signal-safe.
        unsafe { libc::kill(child, signal) };
    }
}

/// Lets the signals end this process, as they do by default: the program that handled them has ended.
pub(crate) fn let_signals_end_this() {
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: `signal` takes two numbers and touches no memory.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Runs the program in this terminal to its end and returns its status as a shell would. The terminal's signals go to
/// both processes, and the program alone decides how to handle them.
pub(crate) fn through(command: &mut Command, start: Starter<'_>) -> io::Result<u8> {
    let (mut child, wait) = start(command)?;
    CHILD.store(i32::try_from(child.id()).unwrap_or(0), Ordering::Relaxed);
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: `signal` takes two numbers and touches no memory.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    for signal in [libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only calls async-signal-safe functions.
        unsafe { libc::signal(signal, pass_on as extern "C" fn(libc::c_int) as libc::sighandler_t) };
    }
    let status = wait(&mut child)?;
    CHILD.store(0, Ordering::Relaxed);
    let by_signal = status.signal().map_or(1, |signal| 128_i32.saturating_add(signal));
    Ok(u8::try_from(status.code().unwrap_or(by_signal)).unwrap_or(1))
}
