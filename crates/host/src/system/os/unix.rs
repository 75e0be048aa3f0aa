//! The parts that Linux and macOS share: POSIX files, owners, terminals and processes.

use super::model::{Kind, Pid, Purpose, Stat};
use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, statat};
use rustix::process::{Signal, getppid, getuid, kill_process, kill_process_group};
use rustix::time::ClockId;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Opens one of the guard's own files. The standard library needs two system calls for a file that started programs do
/// not inherit.
pub(crate) fn open(path: &Path, purpose: Purpose) -> io::Result<File> {
    let how = match purpose {
        Purpose::Read => OFlags::RDONLY,
        Purpose::Poll => OFlags::RDONLY | OFlags::NONBLOCK,
        Purpose::Log => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW,
        Purpose::Head => OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK,
        Purpose::Change => OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK,
        Purpose::Append => OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE,
    };
    let mode = Mode::RUSR | Mode::WUSR;
    Ok(rustix::io::retry_on_intr(|| rustix::fs::open(path, how | OFlags::CLOEXEC, mode))?.into())
}

/// Milliseconds since the machine was started, including sleep. Setting the clock does not affect them.
pub(crate) fn uptime() -> Option<u64> {
    #[cfg(target_os = "linux")]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    const CLOCK: ClockId = ClockId::Monotonic;
    let time = rustix::time::clock_gettime(CLOCK);
    u64::try_from(time.tv_sec * 1000 + time.tv_nsec / 1_000_000).ok()
}

/// Options that create a file with these permissions.
pub fn options_with_mode(mode: u32) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(mode);
    options
}

/// The permissions of a file.
pub(crate) fn mode_of(data: &Metadata) -> u32 {
    data.mode() & 0o777
}

/// Creates a folder that only its owner can read, with its parents.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Reads bytes from an offset on with one call, which may return fewer than requested.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(bytes, offset)
}

/// Writes all bytes at an offset.
pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Converts metadata that was read already.
pub(crate) fn stat_of(data: &Metadata) -> Stat {
    Stat {
        kind: kind(FileType::from_raw_mode(data.mode() as rustix::fs::RawMode)),
        size: data.len(),
        place: Some((data.dev(), data.ino())),
        mode: data.mode(),
        owner: Some(data.uid()),
        modified: (data.mtime(), data.mtime_nsec()),
        changed: (data.ctime(), data.ctime_nsec()),
    }
}

/// The metadata of a file; a symlink is not followed.
pub(crate) fn stat(path: &Path) -> io::Result<Stat> {
    stat_in(CWD, path, AtFlags::SYMLINK_NOFOLLOW)
}

/// The metadata of a file; symlinks are followed.
pub(crate) fn stat_following_links(path: &Path) -> io::Result<Stat> {
    stat_in(CWD, path, AtFlags::empty())
}

/// An open folder. Lookups in it do not resolve its path again.
pub(crate) struct Folder(OwnedFd);

impl Folder {
    /// Opens the folder at a path.
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Folder(rustix::fs::open(path, how, Mode::empty())?))
    }

    /// The metadata of an entry; a symlink is not followed.
    pub(crate) fn stat(&self, name: &Path) -> io::Result<Stat> {
        stat_in(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
    }
}

#[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "the systems count these in different types")]
fn stat_in(folder: impl AsFd, name: &Path, how: AtFlags) -> io::Result<Stat> {
    let found = statat(folder, name, how)?;
    Ok(Stat {
        kind: kind(FileType::from_raw_mode(found.st_mode)),
        size: u64::try_from(found.st_size).unwrap_or(u64::MAX),
        place: Some((found.st_dev as u64, found.st_ino as u64)),
        mode: found.st_mode.into(),
        owner: Some(found.st_uid),
        modified: (found.st_mtime as i64, found.st_mtime_nsec as i64),
        changed: (found.st_ctime as i64, found.st_ctime_nsec as i64),
    })
}

fn kind(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        FileType::Fifo | FileType::Socket => Kind::Pipe,
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Kind::Other,
    }
}

/// Whether something exists here that is known not to be a symlink.
pub(crate) fn is_no_link(path: &Path) -> bool {
    matches!(rustix::fs::readlink(path, Vec::new()), Err(rustix::io::Errno::INVAL))
}

/// Whether this user may write a file, or create files in a folder.
pub(crate) fn is_writable(path: &Path) -> bool {
    rustix::fs::access(path, Access::WRITE_OK).is_ok()
}

/// Creates a symlink.
pub(crate) fn link(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Sets the permissions of a file.
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// The user id of this process.
pub(crate) fn user() -> Option<u32> {
    Some(getuid().as_raw())
}

/// The terminal of this process, regardless of its standard input and output.
///
/// # Errors
/// The process has no terminal.
pub fn terminal() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/tty")
}

/// The name of the terminal on standard input.
pub(crate) fn terminal_of_input() -> Option<String> {
    let name = rustix::termios::ttyname(io::stdin(), Vec::new()).ok()?;
    Some(name.to_string_lossy().into_owned())
}

/// A shell command that runs a line.
pub(crate) fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]);
    command
}

/// Starts a program in a process group of its own, so that it can be ended with all its children.
pub fn in_new_process_group(command: &mut Command) {
    command.process_group(0);
}

/// The way to end a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Asks it to end (`SIGTERM`).
    Politely,
    /// Kills it (`SIGKILL`).
    AtOnce,
}

/// Ends a process group; returns whether it existed.
pub(crate) fn end_group(leader: Pid, end: End) -> bool {
    raw(leader).is_some_and(|group| kill_process_group(group, signal(end)).is_ok())
}

/// Ends one process, if it exists.
pub(crate) fn end(process: Pid, end: End) {
    if let Some(process) = raw(process) {
        // A process that has ended already is not an error.
        let _ = kill_process(process, signal(end));
    }
}

fn signal(end: End) -> Signal {
    match end {
        End::Politely => Signal::TERM,
        End::AtOnce => Signal::KILL,
    }
}

fn raw(process: Pid) -> Option<rustix::process::Pid> {
    i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw)
}

/// The id of the parent process.
///
/// # Errors
/// Never on these systems.
pub(crate) fn parent() -> io::Result<Option<Pid>> {
    Ok(getppid().and_then(|parent| Pid::try_from(parent.as_raw_nonzero().get()).ok()))
}
