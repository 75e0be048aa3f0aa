//! What is said when Reflex itself fails: a refusal that is ready before the work begins.
//!
//! A panic, a stack overflow, any other fatal fault and a hang all end in the same bytes on standard output and
//! standard error and the same exit status. How a system tells of them stands in a file for each.
#![expect(unsafe_code, reason = "what a fault finds ready is reached through pointers that are never freed")]

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use reflex_agents::Reply;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The watchdog of one call, in seconds of work of the processor. A judgement takes about a thousandth of it.
const PROCESSOR_SECONDS: u32 = 2;

/// The same by the clock, for what waits. A machine at work on other things makes no judgement a failure.
const WATCHDOG_SECONDS: u32 = 8;

/// The watchdog of a command that a person waits for.
const COMMAND_SECONDS: u32 = 60;

static REFUSAL: AtomicPtr<Reply> = AtomicPtr::new(ptr::null_mut());

/// From here on every failure ends in this reply, and not in the one before. That one is never freed: a fault may be
/// reading it.
pub(crate) fn change(refusal: Reply) {
    REFUSAL.store(Box::into_raw(Box::new(refusal)), Ordering::SeqCst);
}

/// What is left behind by who gives up: a file that the next call finds.
static LEFT: AtomicPtr<system::Left> = AtomicPtr::new(ptr::null_mut());

/// From here on a failure also leaves this text in this file, which nobody has made yet.
pub(crate) fn leave(file: &Path, text: String) {
    if let Some(left) = system::Left::of(file, text) {
        LEFT.store(Box::into_raw(Box::new(left)), Ordering::SeqCst);
    }
}

/// A command that judges ends in these words where it takes too long; what else befalls it ends as with any program.
/// Each call begins the time anew.
pub(crate) fn watch(words: &str) {
    change(Reply { stdout: String::new(), stderr: format!("{words}\n"), code: crate::status::BLOCK });
    system::end_in_time(COMMAND_SECONDS, give_up);
}

/// From here on every failure ends in this reply.
pub(crate) fn arm(refusal: Reply) {
    change(refusal);
    std::panic::set_hook(Box::new(|_| give_up()));
    system::catch_faults(give_up);
    system::may_take(PROCESSOR_SECONDS, WATCHDOG_SECONDS);
}

/// What a person configured may take so many seconds more.
pub(crate) fn wait(seconds: u64) {
    let seconds = u32::try_from(seconds).unwrap_or(u32::MAX / 4).min(u32::MAX / 4);
    system::may_take(seconds.saturating_add(PROCESSOR_SECONDS), seconds.saturating_add(WATCHDOG_SECONDS));
}

/// The judgement is done: the answer leaves unhurried. A fault that still comes ends in the refusal.
pub(crate) fn disarm() {
    system::may_take(0, 0);
}

/// Ends the process with this status, and does nothing more.
pub(crate) fn end(code: u8) -> ! {
    system::exit(code)
}

/// Says the refusal and ends the process.
pub(crate) fn give_up() -> ! {
    let refusal = REFUSAL.swap(ptr::null_mut(), Ordering::SeqCst);
    // SAFETY: the pointer comes from `Box::into_raw` in `change`, is never freed, and nobody writes to it.
    let code = match unsafe { refusal.as_ref() } {
        Some(reply) => {
            system::say(reply.stdout.as_bytes(), reply.stderr.as_bytes());
            reply.code
        }
        None => crate::status::INTERNAL,
    };
    let left = LEFT.swap(ptr::null_mut(), Ordering::SeqCst);
    // SAFETY: the pointer comes from `Box::into_raw` in `leave`, is never freed, and nobody writes to it.
    if let Some(left) = unsafe { left.as_ref() } {
        left.put();
    }
    system::exit(code)
}
