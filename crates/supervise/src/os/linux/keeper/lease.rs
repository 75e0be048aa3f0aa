//! Whether a file is open for writing anywhere.
#![expect(unsafe_code, reason = "rustix has no leases")]

use std::fs::File;
use std::os::fd::AsRawFd;

/// Sets the signal of a broken lease, `asm-generic/fcntl.h`; `libc` lacks it.
const F_SETSIG: libc::c_int = 10;

/// Whether no process has the file open for writing, also not by a mapping. False if the system does not say: it tells
/// only the owner, and not on each file system.
///
/// A lease to read is granted only then. It is given back at once; a writer in between waits for that.
pub(super) fn has_no_writer(file: &File) -> bool {
    // A broken lease is announced by a signal, whose default would end this process; this one is ignored.
    if !set(file, F_SETSIG, libc::SIGURG) || !set(file, libc::F_SETLEASE, libc::F_RDLCK) {
        return false;
    }
    set(file, libc::F_SETLEASE, libc::F_UNLCK);
    true
}

fn set(file: &File, command: libc::c_int, value: libc::c_int) -> bool {
    // SAFETY: these commands take numbers only.
    unsafe { libc::fcntl(file.as_raw_fd(), command, value) == 0 }
}
