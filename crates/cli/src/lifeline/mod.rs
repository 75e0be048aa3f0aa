//! Lifeline for failures of Reflex itself: a refusal that is prepared before the work begins.
//!
//! A panic, a stack overflow, any other fatal fault and a hang all end in the same bytes on standard output and
//! standard error and the same exit status. The system-specific detection has a file for each system.
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

/// Watchdog limit for one call, in seconds of processor time. A judgement takes about a thousandth of it.
const PROCESSOR_SECONDS: u32 = 2;

/// Watchdog limit for one call, in seconds of wall-clock time, for waits. It is larger, so a busy machine does not fail
/// a judgement.
const WATCHDOG_SECONDS: u32 = 8;

/// Watchdog limit for a command that a person waits for, in seconds of wall-clock time.
const COMMAND_SECONDS: u32 = 60;

static REFUSAL: AtomicPtr<Reply> = AtomicPtr::new(ptr::null_mut());

/// Makes every further failure end in this reply instead of the previous one. The previous reply is never freed: a
/// fault handler may be reading it.
pub(crate) fn change(refusal: Reply) {
    REFUSAL.store(Box::into_raw(Box::new(refusal)), Ordering::SeqCst);
}

/// File that a failure leaves for the next call to find.
static LEFT: AtomicPtr<system::Left> = AtomicPtr::new(ptr::null_mut());

/// Makes every further failure also write this text to this file, which must not exist yet.
pub(crate) fn leave(file: &Path, text: String) {
    if let Some(left) = system::Left::of(file, text) {
        LEFT.store(Box::into_raw(Box::new(left)), Ordering::SeqCst);
    }
}

/// Ends a judging command with these words if it takes too long; any other failure ends it like any program. Each call
/// restarts the timer.
pub(crate) fn watch(words: &str) {
    change(Reply { stdout: String::new(), stderr: format!("{words}\n"), code: crate::exit_code::BLOCK });
    system::end_in_time(COMMAND_SECONDS, give_up);
}

/// Makes every further failure end in this reply.
pub(crate) fn arm(refusal: Reply) {
    change(refusal);
    std::panic::set_hook(Box::new(|_| give_up()));
    system::catch_faults(give_up);
    system::may_take(PROCESSOR_SECONDS, WATCHDOG_SECONDS);
}

/// Extends the limits by `seconds`, for something that a person configured.
pub(crate) fn wait(seconds: u64) {
    let seconds = u32::try_from(seconds).unwrap_or(u32::MAX / 4).min(u32::MAX / 4);
    system::may_take(seconds.saturating_add(PROCESSOR_SECONDS), seconds.saturating_add(WATCHDOG_SECONDS));
}

/// Stops the watchdog once the judgement is done, so that writing the answer has no time limit. A later fault still
/// ends in the refusal.
pub(crate) fn disarm() {
    system::may_take(0, 0);
}

/// Ends the process with this status and does nothing else.
pub(crate) fn end(code: u8) -> ! {
    system::exit(code)
}

/// Writes the refusal and ends the process.
pub(crate) fn give_up() -> ! {
    let refusal = REFUSAL.swap(ptr::null_mut(), Ordering::SeqCst);
    // SAFETY: the pointer comes from `Box::into_raw` in `change`, is never freed, and its target is never written to.
    let code = match unsafe { refusal.as_ref() } {
        Some(reply) => {
            system::write_output(reply.stdout.as_bytes(), reply.stderr.as_bytes());
            reply.code
        }
        None => crate::exit_code::INTERNAL,
    };
    let left = LEFT.swap(ptr::null_mut(), Ordering::SeqCst);
    // SAFETY: the pointer comes from `Box::into_raw` in `leave`, is never freed, and its target is never written to.
    if let Some(left) = unsafe { left.as_ref() } {
        left.put();
    }
    system::exit(code)
}
