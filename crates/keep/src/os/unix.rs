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

/// Attributes and their names are not longer than this on any common file system.
const MAX_ATTRIBUTE: usize = 64 * 1024;

/// What stands at a path; of a link the link itself.
pub(crate) fn stat(path: &Path) -> io::Result<Stat> {
    Ok(stat_of(&path.symlink_metadata()?))
}

/// What the system has said already.
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

/// Opens a file that is to be kept. No link is followed on the way to it either: what was judged is what is copied, also
/// if somebody puts a link in a folder's place in between.
#[cfg(target_os = "linux")]
pub(crate) fn open_original(path: &Path) -> io::Result<File> {
    use rustix::fs::{ResolveFlags, openat2};
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::io::retry_on_intr(|| openat2(CWD, path, how, Mode::empty(), ResolveFlags::NO_SYMLINKS)) {
        Ok(file) => Ok(file.into()),
        // Older kernels do not have it, and containers may not let it through.
        Err(Errno::NOSYS | Errno::PERM) => open_checked(path),
        Err(error) => Err(error.into()),
    }
}

/// Opens a file that is to be kept. No link is followed on the way to it either.
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

/// Opens a file for copying. A link at its end is not followed, a pipe not waited for.
pub(crate) fn open_source(path: &Path) -> io::Result<File> {
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::io::retry_on_intr(|| rustix::fs::open(path, how, Mode::empty()))?.into())
}

/// Opens a file whose content is written anew. A link is not followed.
pub(crate) fn open_target(path: &Path) -> io::Result<File> {
    let how = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::io::retry_on_intr(|| rustix::fs::open(path, how, Mode::empty()))?.into())
}

/// A new file that only its owner can read.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// A new folder that only its owner can look into, with those above it.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a copy that shares its bytes with the source until one of them is written to.
#[cfg(target_os = "linux")]
pub(crate) fn share(to: &File, from: &File) -> io::Result<()> {
    Ok(rustix::fs::ioctl_ficlone(to, from)?)
}

/// Makes a copy that shares its bytes with the source until one of them is written to.
#[cfg(not(target_os = "linux"))]
pub(crate) fn share(_to: &File, _from: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The extended attributes of an open file.
pub(crate) fn attributes_of(file: &File, path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    // Most files have none, which the first question tells.
    let mut few = [0; 256];
    match flistxattr(file, &mut few) {
        Ok(0) | Err(Errno::NOTSUP) => Ok(Vec::new()),
        Ok(_) | Err(Errno::RANGE) => attributes(path),
        Err(error) => Err(error.into()),
    }
}

/// The extended attributes of what stands at a path; of a link those of the link.
pub(crate) fn attributes(path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut names = vec![0; MAX_ATTRIBUTE];
    let length = match llistxattr(path, &mut names) {
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

/// Labels of the security system are the system's own: it gives each new file its label.
fn is_kept(name: &[u8]) -> bool {
    !name.is_empty() && !name.starts_with(b"security.selinux") && !name.starts_with(b"com.apple.provenance")
}

/// Gives a file its attributes.
pub(crate) fn set_attributes(path: &Path, attributes: &[(Vec<u8>, Vec<u8>)]) -> io::Result<()> {
    for (name, value) in attributes {
        lsetxattr(path, OsStr::from_bytes(name), value, XattrFlags::empty())?;
    }
    Ok(())
}

/// Gives a file to its owner, where this user may.
pub(crate) fn set_owner(path: &Path, (user, group): (u32, u32)) {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    // Only the superuser gives files away; for everybody else their own is theirs already.
    let _ = chownat(CWD, path, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW);
}

/// Sets who may do what with a file that is no link.
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Sets when a file was read and written; of a link the link's own times.
pub(crate) fn set_times(path: &Path, times: [(i64, i64); 2]) -> io::Result<()> {
    let [read, written] = times.map(|(seconds, nanos)| Timespec { tv_sec: seconds, tv_nsec: nanos as _ });
    let times = Timestamps { last_access: read, last_modification: written };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Makes a symbolic link.
pub(crate) fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

/// Makes a named pipe.
#[cfg(target_os = "linux")]
pub(crate) fn pipe(at: &Path) -> io::Result<()> {
    Ok(rustix::fs::mknodat(CWD, at, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

/// Makes a named pipe.
#[cfg(not(target_os = "linux"))]
pub(crate) fn pipe(_at: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A path as the bytes that it is made of.
pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// The path that these bytes are.
pub(crate) fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// A number that nobody can guess.
pub(crate) fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    #[cfg(target_os = "linux")]
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    #[cfg(not(target_os = "linux"))]
    io::Read::read_exact(&mut File::open("/dev/urandom")?, &mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}
