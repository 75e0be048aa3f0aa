//! What is different on each system: names of files, which git keeps as bytes with slashes, and opening without waiting.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;

/// Whether the last part of a path may be a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    Followed,
    Refused,
}

/// A name of git's as one of this system; what this system cannot name, it does not have.
#[cfg(unix)]
pub(crate) fn native(name: &[u8]) -> Cow<'_, OsStr> {
    Cow::Borrowed(std::os::unix::ffi::OsStrExt::from_bytes(name))
}

/// A name of this system as git has it.
#[cfg(unix)]
pub(crate) fn bytes(name: &OsStr) -> Cow<'_, [u8]> {
    Cow::Borrowed(std::os::unix::ffi::OsStrExt::as_bytes(name))
}

/// Opens a file for reading; a pipe that has taken its place is not waited for.
#[cfg(unix)]
pub(crate) fn open(path: &Path, links: Links) -> std::io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags};
    let plain = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = if links == Links::Refused { plain | OFlags::NOFOLLOW } else { plain };
    Ok(File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?))
}

/// A name of git's as one of this system; what this system cannot name, it does not have.
#[cfg(windows)]
pub(crate) fn native(name: &[u8]) -> Cow<'_, OsStr> {
    match String::from_utf8_lossy(name) {
        Cow::Borrowed(name) => Cow::Borrowed(OsStr::new(name)),
        Cow::Owned(name) => Cow::Owned(name.into()),
    }
}

/// A name of this system as git has it.
#[cfg(windows)]
pub(crate) fn bytes(name: &OsStr) -> Cow<'_, [u8]> {
    Cow::Owned(name.to_string_lossy().replace('\\', "/").into_bytes())
}

/// Opens a file for reading.
#[cfg(windows)]
pub(crate) fn open(path: &Path, links: Links) -> std::io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    // FILE_FLAG_OPEN_REPARSE_POINT of CreateFileW: the link itself, which is no regular file.
    const THE_LINK_ITSELF: u32 = 0x0020_0000;
    let flags = if links == Links::Refused { THE_LINK_ITSELF } else { 0 };
    File::options().read(true).custom_flags(flags).open(path)
}
