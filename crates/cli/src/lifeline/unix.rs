//! Linux and macOS: signals. The handlers run on their own stack and call only `write`, `mkdir`, `open` and `_exit`.
#![expect(unsafe_code, reason = "signal handlers and their stack are set up through libc")]

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

const ALTERNATE_STACK: usize = 64 * 1024;

/// Stack of the handlers. It costs nothing until one runs: filling the memory with zeros would cost its pages.
static mut STACK: [u8; ALTERNATE_STACK] = [0; ALTERNATE_STACK];

/// Function in which the handlers end.
static END: OnceLock<fn() -> !> = OnceLock::new();

/// Signals of the watchdog, and those that report a fault of the process itself.
const INTERNAL_SIGNALS: [libc::c_int; 9] = [
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

/// A file in its own folder, and its content.
pub(super) struct Left {
    folder: CString,
    file: CString,
    text: Vec<u8>,
}

impl Left {
    pub(super) fn of(file: &Path, text: String) -> Option<Left> {
        let name = |path: &Path| CString::new(path.as_os_str().as_bytes()).ok();
        Some(Left { folder: file.parent().and_then(name)?, file: name(file)?, text: text.into_bytes() })
    }

    /// Writes the file, using only `mkdir`, `open` and `write`. Errors are ignored: the reply was already written.
    pub(super) fn put(&self) {
        const FLAGS: libc::c_int = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        const MODE: libc::c_uint = 0o600;
        // SAFETY: the names are C strings that live as long as the process.
        let descriptor = unsafe {
            libc::mkdir(self.folder.as_ptr(), 0o700);
            libc::open(self.file.as_ptr(), FLAGS, MODE)
        };
        if descriptor >= 0 {
            write_all(descriptor, &self.text);
        }
    }
}

/// Ends the process through `end` after this many seconds of wall-clock time.
pub(super) fn end_in_time(seconds: u32, end: fn() -> !) {
    let _ = END.set(end);
    handle(libc::SIGALRM);
    let_through(&[libc::SIGALRM]);
    // SAFETY: `alarm` takes a number and touches no memory.
    unsafe { libc::alarm(seconds) };
}

/// Makes every fault of the process end in `end`.
pub(super) fn catch_faults(end: fn() -> !) {
    let _ = END.set(end);
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
    // A file size limit becomes a write error like a full disk, instead of ending the process silently.
    let_through(&INTERNAL_SIGNALS);
    // SAFETY: `signal` takes two numbers and touches no memory.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Limits the process to this many further seconds of processor and wall-clock time; 0 removes a limit.
pub(super) fn may_take(processor: u32, clock: u32) {
    let none = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let timer = libc::itimerval { it_interval: none, it_value: libc::timeval { tv_sec: processor.into(), tv_usec: 0 } };
    // SAFETY: the structure lives through the call, and the old value is not requested; `alarm` takes a number.
    unsafe {
        libc::setitimer(libc::ITIMER_PROF, &timer, ptr::null_mut());
        libc::alarm(clock);
    }
}

/// Unblocks signals: the parent process may have blocked them, which would disable the watchdog.
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

extern "C" fn on_signal(_signal: libc::c_int) {
    match END.get() {
        Some(end) => end(),
        None => exit(crate::exit_code::INTERNAL),
    }
}

fn handle(signal: libc::c_int) {
    // SAFETY: the structure is plain data for which zero is valid; the handler only calls async-signal-safe functions.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
        libc::sigaction(signal, &action, ptr::null_mut());
    }
}

/// Sets up the alternate stack: a stack overflow leaves no room for its own handler.
fn use_alternate_stack() {
    let stack = (&raw mut STACK).cast();
    let description = libc::stack_t { ss_sp: stack, ss_flags: 0, ss_size: ALTERNATE_STACK };
    // SAFETY: the memory is static, and only the kernel uses it.
    unsafe { libc::sigaltstack(&description, ptr::null_mut()) };
}

/// Writes to standard output and standard error.
pub(super) fn write_output(out: &[u8], errors: &[u8]) {
    write_all(libc::STDOUT_FILENO, out);
    write_all(libc::STDERR_FILENO, errors);
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

/// Ends the process at once.
pub(super) fn exit(code: u8) -> ! {
    // SAFETY: no destructor has to run.
    unsafe { libc::_exit(code.into()) }
}
