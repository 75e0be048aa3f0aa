//! Puts the content of a file into the keeper's folder: as a further name of it, with shared blocks, or as a copy.

use super::lease;
use crate::kept::{Missed, Status};
use crate::os::linux::place::link_of;
use crate::os::linux::turn::pass_turn;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, SeekFrom, Timespec, Timestamps, XattrFlags, copy_file_range, fgetxattr, flistxattr,
    fsetxattr, ftruncate, futimens, ioctl_ficlone, linkat, open, openat, renameat, seek, unlinkat,
};
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Permission bits of a copy: never more than those of the original, and nothing that runs with other rights.
const KEPT_BITS: u32 = 0o777;

/// Maximum size of an extended attribute and of the list of their names, `XATTR_SIZE_MAX`.
const MAX_ATTRIBUTE: usize = 64 * 1024;

/// Size from which copying a file takes longer than waking another worker.
const LARGE: u64 = 256 * 1024;

/// The ways in which a file may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// By a further name, if nothing can write to it any more; otherwise by a copy.
    LinkOrCopy,
    /// By a copy.
    Copy,
}

/// A file that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Link,
    Copy,
}

/// The keeper's folder.
#[derive(Debug)]
pub(super) struct Contents {
    folder: File,
}

impl Contents {
    pub(super) fn open(folder: &Path) -> io::Result<Contents> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Contents { folder: open(folder, flags, Mode::empty())?.into() })
    }

    /// Keeps the content of a file under this number.
    pub(super) fn keep(&self, copy: u64, victim: &File, status: &Status, means: Means) -> Result<Form, Missed> {
        let source = match reopen(victim).or_else(|_| reopen_as_owner(victim, status)) {
            Ok(source) => source,
            // A name may be removed without the right to read the file.
            Err(_) if means == Means::LinkOrCopy && status.names == 1 && self.link(copy, victim).is_ok() => {
                return Ok(Form::Link);
            }
            Err(_) => return Err(Missed::Unreadable),
        };
        // Through another name or a descriptor, a later write would change what is kept.
        let is_last_use = means == Means::LinkOrCopy && status.names == 1 && lease::has_no_writer(&source);
        if is_last_use && self.link(copy, victim).is_ok() {
            return Ok(Form::Link);
        }
        self.copy(&copy.to_string(), &source, status).map(|()| Form::Copy).map_err(|error| reason_of(&error))
    }

    /// Replaces a further name of a file by a copy, before the file is written.
    pub(super) fn unshare(&self, copy: u64, status: &Status) -> io::Result<()> {
        let (name, making) = (copy.to_string(), format!("{copy}.making"));
        let kept =
            openat(&self.folder, &name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?.into();
        let source = reopen(&kept).or_else(|_| reopen_as_owner(&kept, status))?;
        self.copy(&making, &source, status)?;
        Ok(renameat(&self.folder, making, &self.folder, name)?)
    }

    fn link(&self, copy: u64, victim: &File) -> io::Result<()> {
        Ok(linkat(CWD, link_of(victim), &self.folder, copy.to_string(), AtFlags::SYMLINK_FOLLOW)?)
    }

    fn copy(&self, name: &str, source: &File, status: &Status) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let target = File::from(openat(&self.folder, name, flags, Mode::RUSR | Mode::WUSR)?);
        let copied = fill(&target, source).and_then(|()| dress(&target, source, status));
        if copied.is_err() {
            let _ = unlinkat(&self.folder, name, AtFlags::empty());
        }
        copied
    }
}

/// Whether the disk, or the share of this user, is full.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn reason_of(error: &io::Error) -> Missed {
    if is_full(error) { Missed::DiskFull } else { Missed::Failed }
}

/// Opens a file for reading, without setting its access time where this user may avoid it.
fn reopen(victim: &File) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = open(link_of(victim), flags | OFlags::NOATIME, Mode::empty());
    Ok(opened.or_else(|_| open(link_of(victim), flags, Mode::empty()))?.into())
}

/// Opens a file for reading whose mode forbids that even to its owner. The caller waits, so only others see the mode in
/// between.
fn reopen_as_owner(victim: &File, status: &Status) -> io::Result<File> {
    let set = |mode: u32| std::fs::set_permissions(link_of(victim), Permissions::from_mode(mode));
    set(status.mode | 0o400)?;
    let opened = reopen(victim);
    set(status.mode)?;
    opened
}

/// Copies the content, with its holes.
fn fill(target: &File, source: &File) -> io::Result<()> {
    if ioctl_ficlone(target, source).is_ok() {
        return Ok(());
    }
    let size = source.metadata()?.len();
    if size > LARGE {
        pass_turn();
    }
    let mut at = 0;
    while at < size {
        // `ENXIO`: only a hole is left.
        let Ok(start) = seek(source, SeekFrom::Data(at)) else { break };
        let end = seek(source, SeekFrom::Hole(start))?.min(size);
        at = copy_part(target, source, start..end)?;
    }
    Ok(ftruncate(target, size)?)
}

/// Copies a part; returns where it ends, which is past the file if it has become shorter.
fn copy_part(target: &File, source: &File, part: std::ops::Range<u64>) -> io::Result<u64> {
    let (mut from, mut to) = (part.start, part.start);
    while from < part.end {
        let length = usize::try_from(part.end - from).unwrap_or(usize::MAX);
        match copy_file_range(source, Some(&mut from), target, Some(&mut to), length) {
            Ok(0) => return Ok(u64::MAX),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // Between some file systems the kernel does not copy.
            Err(rustix::io::Errno::XDEV | rustix::io::Errno::INVAL | rustix::io::Errno::OPNOTSUPP) => {
                return through_memory(target, source, from..part.end);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(from)
}

fn through_memory(mut target: &File, mut source: &File, part: std::ops::Range<u64>) -> io::Result<u64> {
    use std::io::{Read, Seek};
    source.seek(io::SeekFrom::Start(part.start))?;
    target.seek(io::SeekFrom::Start(part.start))?;
    let length = part.end - part.start;
    let copied = io::copy(&mut source.take(length), &mut target)?;
    Ok(if copied < length { u64::MAX } else { part.end })
}

/// Gives a copy the attributes, times and mode of the original.
fn dress(target: &File, source: &File, status: &Status) -> io::Result<()> {
    attributes(target, source);
    let [read, written] = status.times.map(|(seconds, nanos)| Timespec { tv_sec: seconds, tv_nsec: nanos as _ });
    futimens(target, &Timestamps { last_access: read, last_modification: written })?;
    target.set_permissions(Permissions::from_mode(status.mode & KEPT_BITS))
}

/// Copies the extended attributes that this user and the file system allow.
fn attributes(target: &File, source: &File) {
    // The first call returns the size, which is 0 for most files.
    let mut few = [0_u8; 0];
    let length = flistxattr(source, &mut few).unwrap_or(0).min(MAX_ATTRIBUTE);
    if length == 0 {
        return;
    }
    let mut names = vec![0_u8; length];
    let length = flistxattr(source, &mut names).unwrap_or(0);
    names.truncate(length);
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0_u8; MAX_ATTRIBUTE];
        let Ok(length) = fgetxattr(source, name, &mut value) else { continue };
        let _ = fsetxattr(target, name, value.get(..length).unwrap_or_default(), XattrFlags::empty());
    }
}

/// A time in seconds and nanoseconds since 1970.
fn since_1970(time: SystemTime) -> Option<(i64, i64)> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some((i64::try_from(since.as_secs()).ok()?, since.subsec_nanos().into()))
}

/// The metadata of a file.
pub(super) fn status_of(data: &std::fs::Metadata) -> Status {
    Status {
        mode: data.mode() & 0o7777,
        owner: (data.uid(), data.gid()),
        times: [(data.atime(), data.atime_nsec()), (data.mtime(), data.mtime_nsec())],
        born: data.created().ok().and_then(since_1970).unwrap_or_default(),
        place: (data.dev(), data.ino()),
        names: data.nlink(),
    }
}
