//! Differences between systems: file names, which git stores as bytes with slashes, and opening without blocking.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;

/// Whether the last component of a path may be a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    Followed,
    Refused,
}

/// Converts a name of git's to a name of this system. A name that is invalid here denotes no file.
#[cfg(unix)]
pub(crate) fn native(name: &[u8]) -> Cow<'_, OsStr> {
    Cow::Borrowed(std::os::unix::ffi::OsStrExt::from_bytes(name))
}

/// Converts a name of this system to one of git's.
#[cfg(unix)]
pub(crate) fn bytes(name: &OsStr) -> Cow<'_, [u8]> {
    Cow::Borrowed(std::os::unix::ffi::OsStrExt::as_bytes(name))
}

/// Opens a file for reading. Does not block on a pipe in its place.
#[cfg(unix)]
pub(crate) fn open(path: &Path, links: Links) -> std::io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags};
    let plain = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = if links == Links::Refused { plain | OFlags::NOFOLLOW } else { plain };
    Ok(File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?))
}

/// Converts a name of git's to a name of this system. A name that is invalid here denotes no file.
#[cfg(windows)]
pub(crate) fn native(name: &[u8]) -> Cow<'_, OsStr> {
    match String::from_utf8_lossy(name) {
        Cow::Borrowed(name) => Cow::Borrowed(OsStr::new(name)),
        Cow::Owned(name) => Cow::Owned(name.into()),
    }
}

/// Converts a name of this system to one of git's.
#[cfg(windows)]
pub(crate) fn bytes(name: &OsStr) -> Cow<'_, [u8]> {
    Cow::Owned(name.to_string_lossy().replace('\\', "/").into_bytes())
}

/// Opens a file for reading.
#[cfg(windows)]
pub(crate) fn open(path: &Path, links: Links) -> std::io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    // FILE_FLAG_OPEN_REPARSE_POINT of CreateFileW: opens the link itself, which is then not a regular file.
    const THE_LINK_ITSELF: u32 = 0x0020_0000;
    let flags = if links == Links::Refused { THE_LINK_ITSELF } else { 0 };
    File::options().read(true).custom_flags(flags).open(path)
}
