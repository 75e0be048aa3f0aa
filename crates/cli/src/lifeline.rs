//! What is said when Reflex itself fails: a refusal that is ready before the work begins.
//!
//! A panic, a stack overflow, any other fatal signal and a hang all end in the same bytes on standard output and
//! standard error and the same exit status. The handlers run on a stack of their own and call nothing but `write` and
//! `_exit`.
#![expect(unsafe_code, reason = "signal handlers and their stack are set up through libc")]

use reflex_agents::Reply;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The watchdog of one call, in seconds of work of the processor. A judgement takes about a thousandth of it.
const PROCESSOR_SECONDS: i32 = 2;

/// The same by the clock, for what waits. A machine at work on other things makes no judgement a failure.
const WATCHDOG_SECONDS: libc::c_uint = 8;

/// The watchdog of a command that a person waits for.
const COMMAND_SECONDS: libc::c_uint = 60;

const ALTERNATE_STACK: usize = 64 * 1024;

/// The stack of the handlers. It costs nothing until one runs: memory that was filled with zeros would cost its pages.
static mut STACK: [u8; ALTERNATE_STACK] = [0; ALTERNATE_STACK];

static REFUSAL: AtomicPtr<Reply> = AtomicPtr::new(ptr::null_mut());

/// From here on every failure ends in this reply, and not in the one before. That one is never freed: a signal may be
/// reading it.
pub(crate) fn change(refusal: Reply) {
    REFUSAL.store(Box::into_raw(Box::new(refusal)), Ordering::SeqCst);
}

/// A file in a folder of its own, and what stands in it.
struct Left {
    folder: CString,
    file: CString,
    text: Vec<u8>,
}

/// What is left behind by who gives up: a file that the next call finds.
static LEFT: AtomicPtr<Left> = AtomicPtr::new(ptr::null_mut());

/// From here on a failure also leaves this text in this file, which nobody has made yet.
pub(crate) fn leave(file: &Path, text: String) {
    let name = |path: &Path| CString::new(path.as_os_str().as_bytes()).ok();
    if let (Some(folder), Some(file)) = (file.parent().and_then(name), name(file)) {
        let left = Left { folder, file, text: text.into_bytes() };
        LEFT.store(Box::into_raw(Box::new(left)), Ordering::SeqCst);
    }
}

/// A command that judges ends in these words where it takes too long; what else befalls it ends as with any program.
/// Each call begins the time anew.
pub(crate) fn watch(words: &str) {
    change(Reply { stdout: String::new(), stderr: format!("{words}\n"), code: crate::status::BLOCK });
    handle(libc::SIGALRM);
    let_through(&[libc::SIGALRM]);
    // SAFETY: `alarm` takes a number and touches no memory.
    unsafe { libc::alarm(COMMAND_SECONDS) };
}

/// Whoever started this process may have blocked signals, and a blocked watchdog does not bite.
fn let_through(signals: &[libc::c_int]) {
    // SAFETY: the set is plain memory that `sigemptyset` fills before it is read.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in signals {
            libc::sigaddset(&mut set, *signal);
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, ptr::null_mut());
    }
}

/// The watchdog's own signals, and those by which a fault of the process itself is told.
const OWN: [libc::c_int; 9] = [
    libc::SIGALRM,
    libc::SIGPROF,
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGTRAP,
    libc::SIGSYS,
];

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
    let_through(&OWN);
    // SAFETY: `signal` takes two numbers and touches no memory.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    may_work(PROCESSOR_SECONDS);
    // SAFETY: `alarm` takes a number and touches no memory.
    unsafe { libc::alarm(WATCHDOG_SECONDS) };
}

/// From now on the process may use so many seconds of the processor, and any number with 0.
fn may_work(seconds: i32) {
    let none = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let timer = libc::itimerval { it_interval: none, it_value: libc::timeval { tv_sec: seconds.into(), tv_usec: 0 } };
    // SAFETY: the structure lives through the call, and nothing is asked back.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &timer, ptr::null_mut()) };
}

/// What a person configured may take so many seconds more.
pub(crate) fn wait(seconds: u64) {
    let work = i32::try_from(seconds).unwrap_or(i32::MAX / 2);
    may_work(work.saturating_add(PROCESSOR_SECONDS));
    let seconds = libc::c_uint::try_from(seconds).unwrap_or(libc::c_uint::MAX / 2);
    // SAFETY: `alarm` takes a number and touches no memory.
    unsafe { libc::alarm(seconds.saturating_add(WATCHDOG_SECONDS)) };
}

/// The judgement is done: the answer leaves unhurried. A signal that still comes ends in the refusal.
pub(crate) fn disarm() {
    may_work(0);
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
    leave_behind();
    // SAFETY: ends the process at once; no destructor has to run.
    unsafe { libc::_exit(code) }
}

/// Writes what is left behind, with nothing but `mkdir`, `open` and `write`; where it cannot be written, the reply was said.
fn leave_behind() {
    let left = LEFT.swap(ptr::null_mut(), Ordering::SeqCst);
    // SAFETY: the pointer comes from `Box::into_raw` in `leave`, is never freed, and nobody writes to it.
    let Some(left) = (unsafe { left.as_ref() }) else { return };
    const FLAGS: libc::c_int = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    const MODE: libc::c_uint = 0o600;
    // SAFETY: the names are strings of C that live as long as the process.
    let descriptor = unsafe {
        libc::mkdir(left.folder.as_ptr(), 0o700);
        libc::open(left.file.as_ptr(), FLAGS, MODE)
    };
    if descriptor >= 0 {
        write_all(descriptor, &left.text);
    }
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
