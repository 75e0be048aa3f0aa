//! Windows, to the extent of the standard library. Owners and ancestor processes are not queried, so no file is trusted
//! as the user's own, no user is known to be a person, and the guard never loosens.

use super::model::{Kind, Pid, Purpose, Stat};
use std::fs::{self, DirBuilder, File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// Whether file names that differ only in case are the same.
pub(crate) const FOLDS_CASE: bool = true;

/// `FILE_FLAG_OPEN_REPARSE_POINT`: opens a symlink itself.
const OPEN_LINK: u32 = 0x0020_0000;

/// `CREATE_NEW_PROCESS_GROUP`.
const OWN_GROUP: u32 = 0x0200;

/// The program that ends a process with all its children.
const TASKKILL: &str = r"C:\Windows\System32\taskkill.exe";

/// The creation time of a file; a symlink is not followed.
pub(crate) fn created(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().ok()?.created().ok()
}

/// Opens one of the guard's own files.
pub(crate) fn open(path: &Path, purpose: Purpose) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match purpose {
        Purpose::Read | Purpose::Poll => options.read(true),
        Purpose::Log => options.read(true).append(true).create(true).custom_flags(OPEN_LINK),
        Purpose::Head => options.read(true).write(true).create(true).truncate(false).custom_flags(OPEN_LINK),
        Purpose::Change => options.read(true).write(true).custom_flags(OPEN_LINK),
        Purpose::Append => options.append(true).create(true),
    };
    let file = options.open(path)?;
    if matches!(purpose, Purpose::Log | Purpose::Head | Purpose::Change) && file.metadata()?.file_type().is_symlink() {
        return Err(io::Error::other("the path is a link"));
    }
    Ok(file)
}

/// Options that create a file. Its permissions come from its folder.
pub fn options_with_mode(_mode: u32) -> OpenOptions {
    OpenOptions::new()
}

/// The permissions for a file that replaces this one. The folder decides about the real ones.
pub(crate) fn mode_of(_data: &Metadata) -> u32 {
    0o600
}

/// Creates a folder with its parents. Below a user's folder only the user and the administrators can read it.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(folder)
}

/// Reads bytes from an offset on with one call, which may return fewer than requested.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(bytes, offset)
}

/// Writes all bytes at an offset.
pub(crate) fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_write(bytes, offset)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => {
                bytes = bytes.get(count..).unwrap_or(&[]);
                offset += count as u64;
            }
        }
    }
    Ok(())
}

/// Converts metadata that was read already. Owner and inode are unknown, and the file counts as writable by everyone.
pub(crate) fn stat_of(data: &Metadata) -> Stat {
    /// Time between 1601 and 1970, in units of 100 nanoseconds.
    const EPOCH: i64 = 116_444_736_000_000_000;
    const SECOND: i64 = 10_000_000;
    let ticks = i64::try_from(data.last_write_time()).unwrap_or(i64::MAX).saturating_sub(EPOCH);
    let modified = (ticks.div_euclid(SECOND), ticks.rem_euclid(SECOND) * 100);
    let kind = kind(data.file_type());
    Stat { kind, size: data.len(), place: None, mode: 0o777, owner: None, modified, changed: modified }
}

fn kind(kind: FileType) -> Kind {
    match () {
        () if kind.is_symlink() => Kind::Link,
        () if kind.is_dir() => Kind::Folder,
        () if kind.is_file() => Kind::File,
        () => Kind::Other,
    }
}

/// The metadata of a file; a symlink is not followed.
pub(crate) fn stat(path: &Path) -> io::Result<Stat> {
    fs::symlink_metadata(path).map(|data| stat_of(&data))
}

/// The metadata of a file; symlinks are followed.
pub(crate) fn stat_following_links(path: &Path) -> io::Result<Stat> {
    fs::metadata(path).map(|data| stat_of(&data))
}

/// A folder for lookups of several files.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Opens the folder at a path.
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        fs::read_dir(path).map(|_| Folder(path.to_owned()))
    }

    /// The metadata of an entry; a symlink is not followed.
    pub(crate) fn stat(&self, name: &Path) -> io::Result<Stat> {
        stat(&self.0.join(name))
    }
}

/// Whether something exists here that is known not to be a symlink.
pub(crate) fn is_no_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| !data.file_type().is_symlink())
}

/// Whether this user may write a file, or create files in a folder: access lists are not queried, so it counts as
/// writable.
pub(crate) fn is_writable(_path: &Path) -> bool {
    true
}

/// Creates a symlink to a file, which takes a privilege.
pub(crate) fn link(target: &Path, link: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, link)
}

/// Sets the permissions of a file: access lists are left alone.
pub(crate) fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// The user id of this process: not queried.
pub(crate) fn user() -> Option<u32> {
    None
}

/// The terminal of this process.
///
/// # Errors
/// Always: consoles are not supported yet.
pub fn terminal() -> io::Result<File> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "a console cannot be asked yet"))
}

/// The name of the terminal on standard input: a console has none.
pub(crate) fn terminal_of_input() -> Option<String> {
    None
}

/// A shell command that runs a line.
pub(crate) fn shell(line: &str) -> Command {
    let mut command = Command::new(r"C:\Windows\System32\cmd.exe");
    command.args(["/d", "/s", "/c"]).raw_arg(format!("\"{line}\""));
    command
}

/// Starts a program in a process group of its own, so that it can be ended with all its children.
pub fn in_new_process_group(command: &mut Command) {
    command.creation_flags(OWN_GROUP);
}

/// The way to end a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Asks it to end.
    Politely,
    /// Kills it (`/F`).
    AtOnce,
}

/// Ends a process with all its children; returns whether it existed.
pub(crate) fn end_group(leader: Pid, end: End) -> bool {
    taskkill(leader, end, &["/T"])
}

/// Ends one process, if it exists.
pub(crate) fn end(process: Pid, end: End) {
    taskkill(process, end, &[]);
}

fn taskkill(process: Pid, end: End, more: &[&str]) -> bool {
    let mut command = Command::new(TASKKILL);
    command.args(["/PID", &process.to_string()]).args(more);
    if end == End::AtOnce {
        command.arg("/F");
    }
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// The id of the parent process.
///
/// # Errors
/// Always: it is not queried yet.
pub(crate) fn parent() -> io::Result<Option<Pid>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fills a slice with random bytes from the system.
pub(crate) fn fill_random(bytes: &mut [u8]) {
    // Without random bytes from the system the process aborts.
    if getrandom::fill(bytes).is_err() {
        std::process::abort();
    }
}

/// The command that shows a desktop notification. The texts are variables of the script, not part of it.
pub(crate) fn desktop_notice(title: &str, text: &str) -> Option<Command> {
    const SCRIPT: &str = "$m=[Windows.UI.Notifications.ToastNotificationManager,Windows.UI.Notifications,ContentType=WindowsRuntime];\
        $x=$m::GetTemplateContent(1);$t=$x.GetElementsByTagName('text');\
        [void]$t.Item(0).AppendChild($x.CreateTextNode($env:REFLEX_TITLE));\
        [void]$t.Item(1).AppendChild($x.CreateTextNode($env:REFLEX_TEXT));\
        $m::CreateToastNotifier('Reflex').Show([Windows.UI.Notifications.ToastNotification]::new($x))";
    let root = std::env::var_os("SystemRoot")?;
    let program = Path::new(&root).join("System32/WindowsPowerShell/v1.0/powershell.exe");
    let mut command = Command::new(program);
    command.args(["-NoProfile", "-NonInteractive", "-Command", SCRIPT]);
    command.env("REFLEX_TITLE", title).env("REFLEX_TEXT", text);
    Some(command)
}

/// The reason why no desktop notification can be shown here: the system shows them itself.
pub(crate) fn desktop_obstacle() -> Option<&'static str> {
    None
}

/// The command that opens an address in the person's browser.
pub(crate) fn browser(url: &str) -> Option<Command> {
    let root = std::env::var_os("SystemRoot")?;
    let mut command = Command::new(Path::new(&root).join("System32/rundll32.exe"));
    command.args(["url.dll,FileProtocolHandler", url]);
    Some(command)
}

/// The home in the user database: not queried, so files below the environment's home only tighten.
pub(crate) fn home_of_user() -> Option<PathBuf> {
    None
}

/// The time at which the machine was started: not queried, so it excuses no lost record.
pub(crate) fn booted() -> Option<SystemTime> {
    None
}

/// An id of this boot of the machine: not queried, so no mode is in force.
pub(crate) fn boot() -> Option<String> {
    None
}

/// Milliseconds since the machine was started: not queried, so no mode is in force.
pub(crate) fn uptime() -> Option<u64> {
    None
}

/// Does nothing: on this system the user's rights alone decide which processes can read this one.
pub(crate) fn hide_memory() {}

/// A running process. It has no values, because processes cannot be queried.
pub(crate) enum Process {}

impl Process {
    /// The process with this id.
    pub(crate) fn of(_process: Pid) -> Option<Process> {
        None
    }

    /// The first arguments of its command line.
    pub(crate) fn words(&self, _limit: usize) -> Vec<String> {
        match *self {}
    }

    /// The path of its program.
    pub(crate) fn program(&self) -> String {
        match *self {}
    }

    /// Its initial environment.
    pub(crate) fn environment(&self) -> Vec<u8> {
        match *self {}
    }

    /// The id of its parent.
    pub(crate) fn parent(&self) -> Option<Pid> {
        match *self {}
    }

    /// Its start time.
    pub(crate) fn started(&self) -> Option<u64> {
        match *self {}
    }

    /// Whether it has a terminal.
    pub(crate) fn has_terminal(&self) -> Option<bool> {
        match *self {}
    }
}

/// All running processes: empty, because they cannot be queried.
pub(crate) fn running() -> Vec<(Pid, Pid)> {
    Vec::new()
}

/// Does nothing: orphans get no new parent on this system.
pub(crate) fn adopt_strays() {}

/// Leaves the network except for the loopback.
///
/// # Errors
/// Always: this system does not support it.
pub(crate) fn leave_network() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
