//! The system calls that change files, and what their arguments name.

use super::filter::{self, Notification};
use super::memory::Memory;
use crate::loss::Operation;
use std::ffi::OsString;
use std::io;

/// A path in a call.
#[derive(Debug)]
pub(super) struct Name {
    /// The folder that a relative path begins at, or `AT_FDCWD`.
    pub(super) base: i32,
    pub(super) path: OsString,
    /// Whether a symbolic link at the end is followed.
    pub(super) last: Last,
}

/// The treatment of a symbolic link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Followed,
    Itself,
}

/// A change as it is requested.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) operation: Operation,
    pub(super) name: Name,
    /// The other name of a rename or an exchange.
    pub(super) source: Option<Name>,
    /// Whether it fails if the name is taken.
    pub(super) is_exclusive: bool,
}

/// The older forms of the calls, in terms of the newer ones.
#[cfg(target_arch = "x86_64")]
fn in_new_form(number: libc::c_long, [first, second, third, ..]: [u64; 6]) -> Option<(libc::c_long, [u64; 6])> {
    let here = libc::AT_FDCWD as u64;
    Some(match number {
        libc::SYS_unlink => (libc::SYS_unlinkat, [here, first, 0, 0, 0, 0]),
        libc::SYS_rmdir => (libc::SYS_unlinkat, [here, first, libc::AT_REMOVEDIR as u64, 0, 0, 0]),
        libc::SYS_rename => (libc::SYS_renameat2, [here, first, here, second, 0, 0]),
        libc::SYS_open => (libc::SYS_openat, [here, first, second, third, 0, 0]),
        libc::SYS_creat => {
            let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
            (libc::SYS_openat, [here, first, flags as u64, second, 0, 0])
        }
        libc::SYS_chmod => (libc::SYS_fchmodat, [here, first, second, 0, 0, 0]),
        libc::SYS_chown => (libc::SYS_fchownat, [here, first, second, third, 0, 0]),
        libc::SYS_utime | libc::SYS_utimes => (libc::SYS_utimensat, [here, first, second, 0, 0, 0]),
        libc::SYS_futimesat => (libc::SYS_utimensat, [first, second, third, 0, 0, 0]),
        libc::SYS_lchown => (libc::SYS_fchownat, [here, first, second, third, libc::AT_SYMLINK_NOFOLLOW as u64, 0]),
        _ => return None,
    })
}

#[cfg(target_arch = "aarch64")]
fn in_new_form(_number: libc::c_long, _arguments: [u64; 6]) -> Option<(libc::c_long, [u64; 6])> {
    None
}

/// The kernel reads the low half of a register for a number of this size.
fn low(value: u64) -> i32 {
    value as u32 as i32
}

impl Change {
    /// Reads a call. `None` if it loses nothing.
    ///
    /// # Errors
    /// The memory of the caller cannot be read.
    pub(super) fn read(call: &Notification) -> io::Result<Option<Change>> {
        let (number, arguments) = in_new_form(call.number, call.arguments).unwrap_or((call.number, call.arguments));
        let [first, second, third, fourth, fifth, _] = arguments;
        let name = |base: u64, path: u64, last: Last| -> io::Result<Name> {
            Ok(Name { base: low(base), path: Memory::of_path(call.thread).string(path)?, last })
        };
        let (operation, name, source) = match number {
            libc::SYS_unlinkat if low(third) & libc::AT_REMOVEDIR != 0 => {
                (Operation::RemoveFolder, name(first, second, Last::Itself)?, None)
            }
            libc::SYS_unlinkat => (Operation::Delete, name(first, second, Last::Itself)?, None),
            libc::SYS_renameat | libc::SYS_renameat2 => {
                let flags = if number == libc::SYS_renameat2 { low(fifth) as u32 } else { 0 };
                let source = name(first, second, Last::Itself)?;
                (renaming(flags), name(third, fourth, Last::Itself)?, Some(source))
            }
            libc::SYS_truncate => {
                let here = libc::AT_FDCWD as u64;
                (Operation::Write, name(here, first, Last::Followed)?, None)
            }
            libc::SYS_openat => (Operation::Write, name(first, second, of_opening(low(third)))?, None),
            libc::SYS_openat2 => {
                // The flags come first in `struct open_how`.
                let flags = low(Memory::of_path(call.thread).number(third)?);
                if !filter::may_lose(flags) {
                    return Ok(None);
                }
                (Operation::Write, name(first, second, of_opening(flags))?, None)
            }
            libc::SYS_fchmodat => (Operation::Attributes, name(first, second, Last::Followed)?, None),
            filter::FCHMODAT2 => (Operation::Attributes, name(first, second, of_flags(low(fourth)))?, None),
            libc::SYS_utimensat => (Operation::Attributes, name(first, second, of_flags(low(fourth)))?, None),
            libc::SYS_fchownat => (Operation::Attributes, name(first, second, of_flags(low(fifth)))?, None),
            _ => return Ok(None),
        };
        let is_exclusive = number == libc::SYS_renameat2 && low(fifth) as u32 & libc::RENAME_NOREPLACE != 0;
        Ok(Some(Change { operation, name, source, is_exclusive }))
    }
}

fn renaming(flags: u32) -> Operation {
    if flags & libc::RENAME_EXCHANGE != 0 { Operation::Exchange } else { Operation::Rename }
}

fn of_opening(flags: i32) -> Last {
    if flags & libc::O_NOFOLLOW != 0 { Last::Itself } else { Last::Followed }
}

fn of_flags(flags: i32) -> Last {
    if flags & libc::AT_SYMLINK_NOFOLLOW != 0 { Last::Itself } else { Last::Followed }
}
