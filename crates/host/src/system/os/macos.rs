//! macOS: processes as `libproc` and `sysctl` show them, the user database of the directory service.
#![expect(unsafe_code, reason = "what the C library alone offers here has no safe form")]

use super::model::Pid;
use super::unix::user;
use libc::{c_int, c_void};
use std::ffi::{CStr, OsStr};
use std::mem::{MaybeUninit, size_of};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;
use std::time::{Duration, SystemTime};

/// Whether file names that differ only in case are the same.
pub(crate) const FOLDS_CASE: bool = true;

/// Fills a slice with random bytes from the system.
pub(crate) fn fill_random(bytes: &mut [u8]) {
    // SAFETY: the pointer and the length are those of a live slice; the call cannot fail.
    unsafe { libc::arc4random_buf(bytes.as_mut_ptr().cast(), bytes.len()) }
}

/// The creation time of a file; a symlink is not followed.
pub(crate) fn created(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().ok()?.created().ok()
}

/// The command that shows a desktop notification. The texts are arguments of the script, not part of it.
pub(crate) fn desktop_notice(title: &str, text: &str) -> Option<Command> {
    let mut command = Command::new("/usr/bin/osascript");
    let script = "display notification (item 2 of argv) with title (item 1 of argv)";
    command.args(["-e", "on run argv", "-e", script, "-e", "end run", title, text]);
    Some(command)
}

/// The reason why no desktop notification can be shown here: the system shows them itself.
pub(crate) fn desktop_obstacle() -> Option<&'static str> {
    None
}

/// The command that opens an address in the person's browser.
pub(crate) fn browser(url: &str) -> Option<Command> {
    let mut command = Command::new("/usr/bin/open");
    command.arg(url);
    Some(command)
}

/// The home of this user in the user database.
pub(crate) fn home_of_user() -> Option<PathBuf> {
    const ROOM: usize = 16 * 1024;
    let mut texts = vec![0; ROOM];
    let mut entry = MaybeUninit::<libc::passwd>::zeroed();
    let mut found = ptr::null_mut();
    // SAFETY: all buffers live through the call, and their lengths are correct.
    let status =
        unsafe { libc::getpwuid_r(user()?, entry.as_mut_ptr(), texts.as_mut_ptr(), texts.len(), &raw mut found) };
    if status != 0 || found.is_null() {
        return None;
    }
    // SAFETY: the entry was filled, and its strings are in `texts` and end with zero.
    let home = unsafe { entry.assume_init().pw_dir };
    // SAFETY: as above.
    let home = (!home.is_null()).then(|| unsafe { CStr::from_ptr(home) })?;
    Some(OsStr::from_bytes(home.to_bytes()).into())
}

/// The time at which the machine was started.
pub(crate) fn booted() -> Option<SystemTime> {
    let bytes = asked(&mut [libc::CTL_KERN, libc::KERN_BOOTTIME], size_of::<libc::timeval>())?;
    let seconds = bytes.first_chunk().map(|seconds| i64::from_ne_bytes(*seconds))?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.try_into().ok()?))
}

/// An id of this boot of the machine.
pub(crate) fn boot() -> Option<String> {
    let mut bytes = [0_u8; 64];
    let mut length = bytes.len();
    let room = bytes.as_mut_ptr().cast::<c_void>();
    // SAFETY: the name ends with zero, `length` is the size of the buffer, and no value is set.
    let status =
        unsafe { libc::sysctlbyname(c"kern.bootsessionuuid".as_ptr(), room, &raw mut length, ptr::null_mut(), 0) };
    let name = bytes.split(|byte| *byte == 0).next().filter(|name| status == 0 && !name.is_empty())?;
    Some(String::from_utf8_lossy(name).into_owned())
}

/// Prevents other processes of the user from attaching to this one from now on.
pub(crate) fn hide_memory() {
    // SAFETY: this request accesses no memory.
    unsafe { libc::ptrace(libc::PT_DENY_ATTACH, 0, ptr::null_mut(), 0) };
}

/// `proc_bsdshortinfo` of `<sys/proc_info.h>`, which is available for processes of all users.
#[repr(C)]
struct Short {
    process: u32,
    parent: u32,
    group: u32,
    status: u32,
    name: [u8; 16],
    flags: u32,
    users: [u32; 6],
    reserved: u32,
}

/// `PROC_PIDT_SHORTBSDINFO`.
const SHORT: c_int = 13;

/// The status of a zombie (`SZOMB`).
const ZOMBIE: u32 = 5;

/// The device of a process without a terminal.
const NO_DEVICE: u32 = u32::MAX;

/// A running process.
pub(crate) struct Process {
    number: c_int,
    parent: u32,
}

impl Process {
    /// The process with this id.
    pub(crate) fn of(process: Pid) -> Option<Process> {
        let number = c_int::try_from(process).ok()?;
        let short: Short = process_info(number, SHORT)?;
        Some(Process { number, parent: short.parent })
    }

    /// The first arguments of its command line; empty for a process of another user.
    pub(crate) fn words(&self, limit: usize) -> Vec<String> {
        let block = started_with(self.number).unwrap_or_default();
        let (words, _) = divided(&block);
        let words = words.into_iter().filter(|word| !word.is_empty()).take(limit);
        words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    /// The path of its program; empty if access is denied.
    pub(crate) fn program(&self) -> String {
        const ROOM: usize = libc::PROC_PIDPATHINFO_MAXSIZE as usize;
        let mut path = vec![0_u8; ROOM];
        // SAFETY: the buffer has the length that is passed.
        let length = unsafe { libc::proc_pidpath(self.number, path.as_mut_ptr().cast(), ROOM as u32) };
        path.truncate(usize::try_from(length).unwrap_or(0));
        String::from_utf8_lossy(&path).into_owned()
    }

    /// Its initial environment, each `NAME=value` followed by a zero byte; empty if access is denied.
    pub(crate) fn environment(&self) -> Vec<u8> {
        let block = started_with(self.number).unwrap_or_default();
        divided(&block).1.to_vec()
    }

    /// The id of its parent.
    pub(crate) fn parent(&self) -> Option<Pid> {
        Some(self.parent).filter(|parent| *parent != 0)
    }

    /// Its start time, in microseconds since 1970.
    pub(crate) fn started(&self) -> Option<u64> {
        let info: libc::proc_bsdinfo = process_info(self.number, libc::PROC_PIDTBSDINFO)?;
        Some(info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec)
    }

    /// Whether it has a terminal; `None` for a process of another user.
    pub(crate) fn has_terminal(&self) -> Option<bool> {
        let info: libc::proc_bsdinfo = process_info(self.number, libc::PROC_PIDTBSDINFO)?;
        Some(info.e_tdev != 0 && info.e_tdev != NO_DEVICE)
    }
}

/// Reads information about a process into a structure, which `libproc` fills completely.
fn process_info<T>(process: c_int, what: c_int) -> Option<T> {
    let mut room = MaybeUninit::<T>::zeroed();
    let size = c_int::try_from(size_of::<T>()).ok()?;
    // SAFETY: the buffer has the length that is passed.
    let filled = unsafe { libc::proc_pidinfo(process, what, 0, room.as_mut_ptr().cast(), size) };
    // SAFETY: both structures consist of integers and bytes, for which any value is valid, and all of it was filled.
    (filled == size).then(|| unsafe { room.assume_init() })
}

/// The block with the number of arguments of a process, its program, its arguments and its environment.
fn started_with(process: c_int) -> Option<Vec<u8>> {
    let size = asked(&mut [libc::CTL_KERN, libc::KERN_ARGMAX], size_of::<c_int>())?;
    let size = c_int::from_ne_bytes(*size.first_chunk()?);
    asked(&mut [libc::CTL_KERN, libc::KERN_PROCARGS2, process], usize::try_from(size).ok()?)
}

/// The arguments and the environment of such a block.
fn divided(block: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let Some((count, rest)) = block.split_first_chunk() else { return (Vec::new(), &[]) };
    let count = usize::try_from(c_int::from_ne_bytes(*count)).unwrap_or(0);
    // Zeros after the path of the program pad it to a machine word.
    let mut rest = rest.iter().position(|byte| *byte == 0).and_then(|end| rest.get(end..)).unwrap_or(&[]);
    while let [0, after @ ..] = rest {
        rest = after;
    }
    let mut words = Vec::new();
    while words.len() < count {
        let Some(end) = rest.iter().position(|byte| *byte == 0) else { break };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after.get(1..).unwrap_or(&[]);
    }
    (words, rest)
}

/// The value of a `sysctl` name, up to `limit` bytes.
fn asked(name: &mut [c_int], limit: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0_u8; limit];
    let mut length = limit;
    let (parts, count) = (name.as_mut_ptr(), u32::try_from(name.len()).ok()?);
    let room = bytes.as_mut_ptr().cast::<c_void>();
    // SAFETY: the name and the buffer have the lengths that are passed, and no value is set.
    let status = unsafe { libc::sysctl(parts, count, room, &raw mut length, ptr::null_mut(), 0) };
    bytes.truncate(length);
    (status == 0).then_some(bytes)
}

/// All running processes, each with its parent, without zombies.
pub(crate) fn running() -> Vec<(Pid, Pid)> {
    const MAX: usize = 16 * 1024;
    let mut numbers: Vec<c_int> = vec![0; MAX];
    let size = c_int::try_from(MAX * size_of::<c_int>()).unwrap_or(0);
    // SAFETY: the buffer has the length that is passed.
    let count = unsafe { libc::proc_listallpids(numbers.as_mut_ptr().cast(), size) };
    numbers.truncate(usize::try_from(count).unwrap_or(0));
    let seen = numbers.into_iter().filter_map(|number| process_info::<Short>(number, SHORT));
    seen.filter(|short| short.status != ZOMBIE).map(|short| (short.process, short.parent)).collect()
}

/// Does nothing: on this system orphans always go to the first process.
pub(crate) fn adopt_strays() {}

/// Leaves the network except for the loopback.
///
/// # Errors
/// Always: this system requires the superuser for it.
pub(crate) fn leave_network() -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_divided_into_words_and_variables() {
        let mut block = 2_i32.to_ne_bytes().to_vec();
        block.extend(b"/bin/a\0\0\0a\0--b\0C=d\0E=f\0");
        let (words, variables) = divided(&block);
        assert_eq!((words, variables), (vec![&b"a"[..], b"--b"], &b"C=d\0E=f\0"[..]));
        assert_eq!(divided(b""), (Vec::new(), &b""[..]));
    }
}
