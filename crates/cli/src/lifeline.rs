//! What is said when Reflex itself fails: a refusal that is ready before the work begins.
//!
//! A panic, a stack overflow, any other fatal signal and a hang all end in the same bytes on standard output and
//! standard error and the same exit status. The handlers run on a stack of their own and call nothing but `write` and
//! `_exit`.
#![expect(unsafe_code, reason = "signal handlers and their stack are set up through libc")]

use reflex_agents::Reply;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The watchdog of one call, in seconds. A judgement takes about a thousandth of it.
const WATCHDOG_SECONDS: libc::c_uint = 2;

const ALTERNATE_STACK: usize = 64 * 1024;

/// The stack of the handlers. It costs nothing until one runs: memory that was filled with zeros would cost its pages.
static mut STACK: [u8; ALTERNATE_STACK] = [0; ALTERNATE_STACK];

static REFUSAL: AtomicPtr<Reply> = AtomicPtr::new(ptr::null_mut());

/// From here on every failure ends in this reply, and not in the one before. That one is never freed: a signal may be
/// reading it.
pub(crate) fn change(refusal: Reply) {
    REFUSAL.store(Box::into_raw(Box::new(refusal)), Ordering::SeqCst);
}

/// From here on every failure ends in this reply.
pub(crate) fn arm(refusal: Reply) {
    change(refusal);
    std::panic::set_hook(Box::new(|_| give_up()));
    use_alternate_stack();
    for signal in [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGILL,
        libc::SIGFPE,
        libc::SIGABRT,
        libc::SIGALRM,
        libc::SIGTERM,
        libc::SIGINT,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGTRAP,
        libc::SIGSYS,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGXCPU,
        libc::SIGVTALRM,
        libc::SIGPROF,
    ] {
        handle(signal);
    }
    // A file that may not grow is an error of writing like a full disk, and no reason to end without a word.
    // SAFETY: `signal` takes two numbers and touches no memory.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    // SAFETY: `alarm` takes a number and touches no memory.
    unsafe { libc::alarm(WATCHDOG_SECONDS) };
}

/// What a person configured may take so many seconds more.
pub(crate) fn wait(seconds: u64) {
    let seconds = libc::c_uint::try_from(seconds).unwrap_or(libc::c_uint::MAX / 2);
    // SAFETY: `alarm` takes a number and touches no memory.
    unsafe { libc::alarm(seconds.saturating_add(WATCHDOG_SECONDS)) };
}

/// The judgement is done: the answer leaves unhurried. A signal that still comes ends in the refusal.
pub(crate) fn disarm() {
    // SAFETY: as above.
    unsafe { libc::alarm(0) };
}

/// Says the refusal and ends the process.
pub(crate) fn give_up() -> ! {
    let refusal = REFUSAL.swap(ptr::null_mut(), Ordering::SeqCst);
    // SAFETY: the pointer comes from `Box::into_raw` in `arm`, is never freed, and nobody writes to it.
    let code = match unsafe { refusal.as_ref() } {
        Some(reply) => {
            write_all(libc::STDOUT_FILENO, reply.stdout.as_bytes());
            write_all(libc::STDERR_FILENO, reply.stderr.as_bytes());
            libc::c_int::from(reply.code)
        }
        None => libc::c_int::from(crate::status::INTERNAL),
    };
    // SAFETY: ends the process at once; no destructor has to run.
    unsafe { libc::_exit(code) }
}

extern "C" fn on_signal(_signal: libc::c_int) {
    give_up();
}

fn write_all(descriptor: libc::c_int, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the pointer and the length are those of a live slice.
        let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => bytes = bytes.get(written..).unwrap_or(&[]),
            _ => return,
        }
    }
}

fn handle(signal: libc::c_int) {
    // SAFETY: the structure is plain data for which zero is valid; the handler only calls `write` and `_exit`.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
        libc::sigaction(signal, &action, ptr::null_mut());
    }
}

/// A stack overflow leaves no room for its own handler.
fn use_alternate_stack() {
    let stack = (&raw mut STACK).cast();
    let description = libc::stack_t { ss_sp: stack, ss_flags: 0, ss_size: ALTERNATE_STACK };
    // SAFETY: the memory is static, and nobody but the kernel uses it.
    unsafe { libc::sigaltstack(&description, ptr::null_mut()) };
}
