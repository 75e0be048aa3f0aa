//! Windows: a filter for faults and a thread that watches the clock. Processor time is not limited.
#![expect(unsafe_code, reason = "the filter for faults is set through the system's own function")]

use std::ffi::c_void;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::windows::io::{AsHandle, BorrowedHandle};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Function in which a fault and the watchdog end.
static END: OnceLock<fn() -> !> = OnceLock::new();

/// Deadline in milliseconds since [`BEGUN`]; 0 disables it.
static OVER: AtomicU64 = AtomicU64::new(0);

static BEGUN: OnceLock<Instant> = OnceLock::new();

type Filter = unsafe extern "system" fn(*const c_void) -> i32;

#[link(name = "kernel32")]
unsafe extern "system" {
    fn SetUnhandledExceptionFilter(filter: Option<Filter>) -> Option<Filter>;
}

/// A file in its own folder, and its content.
pub(super) struct Left {
    file: PathBuf,
    text: String,
}

impl Left {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere not every path can be left ready")]
    pub(super) fn of(file: &Path, text: String) -> Option<Left> {
        Some(Left { file: file.to_owned(), text })
    }

    /// Writes the file. Errors are ignored: the reply was already written.
    pub(super) fn put(&self) {
        let _ = self.file.parent().map(fs::create_dir);
        if let Ok(mut file) = OpenOptions::new().write(true).create_new(true).open(&self.file) {
            let _ = file.write_all(self.text.as_bytes());
        }
    }
}

/// Ends the process through `end` after this many seconds of wall-clock time.
pub(super) fn end_in_time(seconds: u32, end: fn() -> !) {
    let _ = END.set(end);
    may_take(0, seconds);
}

/// Makes every fault of the process end in `end`.
pub(super) fn catch_faults(end: fn() -> !) {
    let _ = END.set(end);
    // SAFETY: the filter is a function of this program and never returns.
    unsafe { SetUnhandledExceptionFilter(Some(on_fault)) };
}

unsafe extern "system" fn on_fault(_fault: *const c_void) -> i32 {
    over()
}

fn over() -> ! {
    match END.get() {
        Some(end) => end(),
        None => exit(crate::exit_code::INTERNAL),
    }
}

/// Limits the process to this many further seconds of wall-clock time; 0 removes the limit.
pub(super) fn may_take(_processor: u32, clock: u32) {
    let begun = *BEGUN.get_or_init(|| {
        thread::spawn(watch);
        Instant::now()
    });
    let now = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let until = if clock == 0 { 0 } else { now.saturating_add(u64::from(clock) * 1000) };
    OVER.store(until, Ordering::SeqCst);
}

fn watch() {
    loop {
        thread::sleep(Duration::from_millis(100));
        let Some(begun) = BEGUN.get() else { continue };
        let until = OVER.load(Ordering::SeqCst);
        if until != 0 && begun.elapsed().as_millis() > u128::from(until) {
            over();
        }
    }
}

/// Writes to standard output and standard error, bypassing locks that a hanging thread may hold.
pub(super) fn write_output(out: &[u8], errors: &[u8]) {
    write_all(std::io::stdout().as_handle(), out);
    write_all(std::io::stderr().as_handle(), errors);
}

fn write_all(handle: BorrowedHandle<'_>, bytes: &[u8]) {
    if let Ok(owned) = handle.try_clone_to_owned() {
        let _ = File::from(owned).write_all(bytes);
    }
}

/// Ends the process at once.
pub(super) fn exit(code: u8) -> ! {
    std::process::exit(code.into())
}
