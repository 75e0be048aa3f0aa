//! Linux and macOS.

use super::model::{Kind, Stat};
use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, Timespec, Timestamps, Uid, XattrFlags, chownat, flistxattr, lgetxattr,
    llistxattr, lsetxattr, utimensat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Maximum size of an attribute and of the list of names on Linux: `XATTR_SIZE_MAX`, `XATTR_LIST_MAX`.
const MAX_ATTRIBUTE: usize = 64 * 1024;

/// The metadata of a file; of a link, those of the link itself.
pub(crate) fn stat(path: &Path) -> io::Result<Stat> {
    Ok(stat_of(&path.symlink_metadata()?))
}

/// Converts metadata.
pub(crate) fn stat_of(data: &Metadata) -> Stat {
    let kind = match FileType::from_raw_mode(data.mode() as rustix::fs::RawMode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        FileType::Fifo => Kind::Pipe,
        FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Kind::Other,
    };
    Stat {
        kind,
        mode: data.mode() & 0o7777,
        owner: (data.uid(), data.gid()),
        times: [(data.atime(), data.atime_nsec()), (data.mtime(), data.mtime_nsec())],
        changed: (data.ctime(), data.ctime_nsec()),
        size: data.len(),
        place: (data.dev(), data.ino()),
        names: data.nlink(),
    }
}

/// Opens a file for a backup. No link is followed in any part of the path, so that a link that replaces a folder
/// after the judgement cannot redirect the copy.
#[cfg(target_os = "linux")]
pub(crate) fn open_original(path: &Path) -> io::Result<File> {
    use rustix::fs::{ResolveFlags, openat2};
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::io::retry_on_intr(|| openat2(CWD, path, how, Mode::empty(), ResolveFlags::NO_SYMLINKS)) {
        Ok(file) => Ok(file.into()),
        // `openat2` is missing before Linux 5.6, and container profiles may forbid it.
        Err(Errno::NOSYS | Errno::PERM) => open_checked(path),
        Err(error) => Err(error.into()),
    }
}

/// Opens a file for a backup. No link is followed in any part of the path.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open_original(path: &Path) -> io::Result<File> {
    open_checked(path)
}

fn open_checked(path: &Path) -> io::Result<File> {
    let file = open_source(path)?;
    match path.canonicalize()? == path && stat(path)?.place == stat_of(&file.metadata()?).place {
        true => Ok(file),
        false => Err(io::Error::other("a folder above it is a link")),
    }
}

/// Opens a file for reading. A link at the end is not followed, and a pipe does not block.
pub(crate) fn open_source(path: &Path) -> io::Result<File> {
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::io::retry_on_intr(|| rustix::fs::open(path, how, Mode::empty()))?.into())
}

/// Opens a file for rewriting its content. A link at the end is not followed.
pub(crate) fn open_target(path: &Path) -> io::Result<File> {
    let how = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::io::retry_on_intr(|| rustix::fs::open(path, how, Mode::empty()))?.into())
}

/// Creates a file with mode 0600.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Creates a folder and its ancestors with mode 0700.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Clones a file; the file system shares the blocks until one side is written.
#[cfg(target_os = "linux")]
pub(crate) fn share(to: &File, from: &File) -> io::Result<()> {
    Ok(rustix::fs::ioctl_ficlone(to, from)?)
}

/// Clones a file; the file system shares the blocks until one side is written.
#[cfg(not(target_os = "linux"))]
pub(crate) fn share(_to: &File, _from: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The extended attributes of an open file.
pub(crate) fn attributes_of(file: &File, path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    // Most files have none; the kernel clears a buffer of the size that it is asked for.
    let mut few = [0; 256];
    match flistxattr(file, &mut few) {
        Ok(0) | Err(Errno::NOTSUP) => Ok(Vec::new()),
        Ok(_) | Err(Errno::RANGE) => attributes(path),
        Err(error) => Err(error.into()),
    }
}

/// The extended attributes of a file; of a link, those of the link itself.
pub(crate) fn attributes(path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut names = vec![0; 256];
    let mut listed = llistxattr(path, &mut names);
    if listed == Err(Errno::RANGE) {
        names.resize(MAX_ATTRIBUTE, 0);
        listed = llistxattr(path, &mut names);
    }
    let length = match listed {
        Ok(length) => length,
        Err(Errno::NOTSUP) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    names.truncate(length);
    let mut found = Vec::new();
    for name in names.split(|byte| *byte == 0).filter(|name| is_kept(name)) {
        let mut value = vec![0; MAX_ATTRIBUTE];
        let length = lgetxattr(path, OsStr::from_bytes(name), &mut value)?;
        value.truncate(length);
        found.push((name.to_vec(), value));
    }
    Ok(found)
}

/// Whether an attribute is backed up. Security labels are not: the system sets them for each new file.
fn is_kept(name: &[u8]) -> bool {
    !name.is_empty() && !name.starts_with(b"security.selinux") && !name.starts_with(b"com.apple.provenance")
}

/// Sets extended attributes; other attributes of the file stay.
pub(crate) fn set_attributes(path: &Path, attributes: &[(Vec<u8>, Vec<u8>)]) -> io::Result<()> {
    for (name, value) in attributes {
        lsetxattr(path, OsStr::from_bytes(name), value, XattrFlags::empty())?;
    }
    Ok(())
}

/// Sets the owner, if this user may.
pub(crate) fn set_owner(path: &Path, (user, group): (u32, u32)) {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    // Only root may change owners; other users own their files already.
    let _ = chownat(CWD, path, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW);
}

/// Lets the owner read and write a file, if its mode forbids that.
pub(crate) fn make_accessible(path: &Path) {
    if let Ok(Stat { kind: Kind::File, mode, .. }) = stat(path)
        && mode & 0o600 != 0o600
    {
        let _ = set_mode(path, mode | 0o600);
    }
}

/// Sets the mode; the path must not be a link.
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Sets access and modification time; of a link, those of the link itself.
pub(crate) fn set_times(path: &Path, times: [(i64, i64); 2]) -> io::Result<()> {
    let [read, written] = times.map(|(seconds, nanos)| Timespec { tv_sec: seconds, tv_nsec: nanos as _ });
    let times = Timestamps { last_access: read, last_modification: written };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Creates a symbolic link.
pub(crate) fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

/// Creates a named pipe.
#[cfg(target_os = "linux")]
pub(crate) fn pipe(at: &Path) -> io::Result<()> {
    Ok(rustix::fs::mknodat(CWD, at, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

/// Creates a named pipe.
#[cfg(not(target_os = "linux"))]
pub(crate) fn pipe(_at: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The bytes of a path.
pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// The path with these bytes.
pub(crate) fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// A random number from the operating system.
pub(crate) fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    #[cfg(target_os = "linux")]
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    #[cfg(not(target_os = "linux"))]
    io::Read::read_exact(&mut File::open("/dev/urandom")?, &mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}
