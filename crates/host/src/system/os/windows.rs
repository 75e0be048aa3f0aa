//! Windows, as far as the standard library goes. Owners and the processes above this one are not asked for: nothing here
//! is believed to be the user's own, nobody is known to be a person, and so nothing is loosened.

use super::model::{Kind, Pid, Purpose, Stat};
use std::fs::{self, DirBuilder, File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// Whether names that differ in their case only are one name.
pub(crate) const FOLDS_CASE: bool = true;

/// `FILE_FLAG_OPEN_REPARSE_POINT`: a link is opened itself.
const OPEN_LINK: u32 = 0x0020_0000;

/// `CREATE_NEW_PROCESS_GROUP`.
const OWN_GROUP: u32 = 0x0200;

/// Ends a process with all that it started.
const TASKKILL: &str = r"C:\Windows\System32\taskkill.exe";

/// When a file was created; a link is not followed.
pub(crate) fn created(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().ok()?.created().ok()
}

/// A file of ours.
pub(crate) fn open(path: &Path, purpose: Purpose) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match purpose {
        Purpose::Read | Purpose::Poll => options.read(true),
        Purpose::Log => options.read(true).append(true).create(true).custom_flags(OPEN_LINK),
        Purpose::Head => options.read(true).write(true).create(true).truncate(false).custom_flags(OPEN_LINK),
        Purpose::Append => options.append(true).create(true),
    };
    let file = options.open(path)?;
    if matches!(purpose, Purpose::Log | Purpose::Head) && file.metadata()?.file_type().is_symlink() {
        return Err(io::Error::other("a link stands in its place"));
    }
    Ok(file)
}

/// How a file is made: who may do what with it is told by its folder.
pub(crate) fn options_with_mode(_mode: u32) -> OpenOptions {
    OpenOptions::new()
}

/// Who may do what with a file, for those who make another in its place: its folder tells.
pub(crate) fn mode_of(_data: &Metadata) -> u32 {
    0o600
}

/// A folder with those above it. Within the folder of a user only they and the administrators can look into it.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(folder)
}

/// Some bytes of a file from an offset on, as many as it gives at once.
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

/// What the system has said already. Whose the file is and where it lies is not known; everybody is taken to write it.
pub(crate) fn stat_of(data: &Metadata) -> Stat {
    /// Between 1601 and 1970, in the hundreds of nanoseconds that the system counts in.
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

/// What stands at a path; of a link the link itself.
pub(crate) fn stat(path: &Path) -> io::Result<Stat> {
    fs::symlink_metadata(path).map(|data| stat_of(&data))
}

/// What stands at a path, where its links lead.
pub(crate) fn stat_behind_links(path: &Path) -> io::Result<Stat> {
    fs::metadata(path).map(|data| stat_of(&data))
}

/// A folder of which several files are asked.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// The folder at a path.
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        fs::read_dir(path).map(|_| Folder(path.to_owned()))
    }

    /// What has this name in it; of a link the link itself.
    pub(crate) fn stat(&self, name: &Path) -> io::Result<Stat> {
        stat(&self.0.join(name))
    }
}

/// Whether something stands here that is known to be no link.
pub(crate) fn is_no_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| !data.file_type().is_symlink())
}

/// Who runs this process: not asked for.
pub(crate) fn user() -> Option<u32> {
    None
}

/// The terminal of this process.
///
/// # Errors
/// Always: a console is not asked yet.
pub fn terminal() -> io::Result<File> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "a console cannot be asked yet"))
}

/// The name of the terminal on standard input: consoles have none.
pub(crate) fn terminal_of_input() -> Option<String> {
    None
}

/// A line for the shell.
pub(crate) fn shell(line: &str) -> Command {
    let mut command = Command::new(r"C:\Windows\System32\cmd.exe");
    command.args(["/d", "/s", "/c"]).raw_arg(format!("\"{line}\""));
    command
}

/// Has a program start in a group of its own, so that it can be ended with all that it starts.
pub fn in_group_of_its_own(command: &mut Command) {
    command.creation_flags(OWN_GROUP);
}

/// How a process is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It is asked to.
    Politely,
    /// It is not asked.
    AtOnce,
}

/// Ends a process with all that it started; whether there was one.
pub(crate) fn end_group(leader: Pid, end: End) -> bool {
    taskkill(leader, end, &["/T"])
}

/// Ends one process, if it is there.
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

/// Who started this process.
///
/// # Errors
/// Always: it is not asked for yet.
pub(crate) fn parent() -> Result<Option<Pid>, String> {
    Err("on Windows the programs that started this one cannot be seen yet".into())
}

/// Fills a slice with random bytes of the system.
pub(crate) fn fill_random(bytes: &mut [u8]) {
    // Who has no random bytes gets none of ours either.
    if getrandom::fill(bytes).is_err() {
        std::process::abort();
    }
}

/// What shows a notice on the desktop. The texts are variables of the script, not part of it.
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

/// What opens an address in the person's browser.
pub(crate) fn browser(url: &str) -> Option<Command> {
    let root = std::env::var_os("SystemRoot")?;
    let mut command = Command::new(Path::new(&root).join("System32/rundll32.exe"));
    command.args(["url.dll,FileProtocolHandler", url]);
    Some(command)
}

/// The home that the user database names: not asked for, so that what lies in that of the environment only tightens.
pub(crate) fn home_of_user() -> Option<PathBuf> {
    None
}

/// When the machine was started: not asked for, so that no lost record is excused by it.
pub(crate) fn booted() -> Option<SystemTime> {
    None
}

/// Names this start of the machine: not asked for, so that no mode holds.
pub(crate) fn boot() -> Option<String> {
    None
}

/// Milliseconds since the machine was started: not asked for, so that no mode holds.
pub(crate) fn uptime() -> Option<u64> {
    None
}

/// The system has no such wish of a process: who may look into it, its user's rights tell.
pub(crate) fn hide_memory() {}

/// A process that runs. None can be seen.
pub(crate) enum Process {}

impl Process {
    /// The one with this number.
    pub(crate) fn of(_process: Pid) -> Option<Process> {
        None
    }

    /// The first words of its command line.
    pub(crate) fn words(&self, _most: usize) -> Vec<String> {
        match *self {}
    }

    /// The path of its program.
    pub(crate) fn program(&self) -> String {
        match *self {}
    }

    /// The variables it was started with.
    pub(crate) fn environment(&self) -> Vec<u8> {
        match *self {}
    }

    /// Who started it.
    pub(crate) fn parent(&self) -> Option<Pid> {
        match *self {}
    }

    /// When it was started.
    pub(crate) fn started(&self) -> Option<u64> {
        match *self {}
    }

    /// Whether it has a terminal.
    pub(crate) fn has_terminal(&self) -> Option<bool> {
        match *self {}
    }
}

/// All processes that run: none can be seen.
pub(crate) fn running() -> Vec<(Pid, Pid)> {
    Vec::new()
}

/// What lost its parent has none here.
pub(crate) fn adopt_strays() {}

/// Leaves the network, all but the loopback.
///
/// # Errors
/// Always: nobody can do that here.
pub(crate) fn leave_network() -> Result<(), String> {
    Err("this system has no way to do that".into())
}
