//! What Linux and macOS share: files, owners, terminals and processes of POSIX.

use super::model::{Kind, Pid, Purpose, Stat};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, statat};
use rustix::process::{Signal, getppid, getuid, kill_process, kill_process_group};
use rustix::time::ClockId;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// A file of ours. The standard library asks the system twice for one that programs which are started do not have.
pub(crate) fn open(path: &Path, purpose: Purpose) -> io::Result<File> {
    let how = match purpose {
        Purpose::Read => OFlags::RDONLY,
        Purpose::Poll => OFlags::RDONLY | OFlags::NONBLOCK,
        Purpose::Log => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW,
        Purpose::Head => OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK,
        Purpose::Append => OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE,
    };
    let mode = Mode::RUSR | Mode::WUSR;
    Ok(rustix::io::retry_on_intr(|| rustix::fs::open(path, how | OFlags::CLOEXEC, mode))?.into())
}

/// Milliseconds since the machine was started, with the time that it slept. No clock that can be set changes them.
pub(crate) fn uptime() -> Option<u64> {
    #[cfg(target_os = "linux")]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    const CLOCK: ClockId = ClockId::Monotonic;
    let time = rustix::time::clock_gettime(CLOCK);
    u64::try_from(time.tv_sec * 1000 + time.tv_nsec / 1_000_000).ok()
}

/// How a file is made with these permissions.
pub(crate) fn options_with_mode(mode: u32) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(mode);
    options
}

/// Who may do what with a file.
pub(crate) fn mode_of(data: &Metadata) -> u32 {
    data.mode() & 0o777
}

/// A folder that only its owner can look into, with those above it.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Some bytes of a file from an offset on, as many as it gives at once.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(bytes, offset)
}

/// Writes all bytes at an offset.
pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// What the system has said already.
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

/// What stands at a path; of a link the link itself.
pub(crate) fn stat(path: &Path) -> io::Result<Stat> {
    stat_in(CWD, path, AtFlags::SYMLINK_NOFOLLOW)
}

/// What stands at a path, where its links lead.
pub(crate) fn stat_behind_links(path: &Path) -> io::Result<Stat> {
    stat_in(CWD, path, AtFlags::empty())
}

/// An open folder: what is asked there is not looked up by the way to it each time.
pub(crate) struct Folder(OwnedFd);

impl Folder {
    /// The folder at a path.
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Folder(rustix::fs::open(path, how, Mode::empty())?))
    }

    /// What has this name in it; of a link the link itself.
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

/// Whether something stands here that is known to be no link.
pub(crate) fn is_no_link(path: &Path) -> bool {
    matches!(rustix::fs::readlink(path, Vec::new()), Err(rustix::io::Errno::INVAL))
}

/// Who runs this process.
pub(crate) fn user() -> Option<u32> {
    Some(getuid().as_raw())
}

/// The terminal of this process, wherever its input and output lead.
///
/// # Errors
/// There is none.
pub fn terminal() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/tty")
}

/// The name of the terminal on standard input.
pub(crate) fn terminal_of_input() -> Option<String> {
    let name = rustix::termios::ttyname(io::stdin(), Vec::new()).ok()?;
    Some(name.to_string_lossy().into_owned())
}

/// A line for the shell.
pub(crate) fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]);
    command
}

/// Has a program start in a group of its own, so that it can be ended with all that it starts.
pub fn in_group_of_its_own(command: &mut Command) {
    command.process_group(0);
}

/// How a process is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It is asked to.
    Politely,
    /// It is not asked.
    AtOnce,
}

/// Ends a group; whether there was one.
pub(crate) fn end_group(leader: Pid, end: End) -> bool {
    raw(leader).is_some_and(|group| kill_process_group(group, signal(end)).is_ok())
}

/// Ends one process, if it is there.
pub(crate) fn end(process: Pid, end: End) {
    if let Some(process) = raw(process) {
        // Who has gone is no error.
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

/// Who started this process.
///
/// # Errors
/// Never on these systems.
pub(crate) fn parent() -> Result<Option<Pid>, String> {
    Ok(getppid().and_then(|parent| Pid::try_from(parent.as_raw_nonzero().get()).ok()))
}
