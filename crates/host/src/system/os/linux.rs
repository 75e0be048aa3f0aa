//! Linux: processes from `/proc`, namespaces, the user database.

use super::model::Pid;
use super::unix::user;
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Whether file names that differ only in case are the same.
pub(crate) const FOLDS_CASE: bool = false;

/// Fills a slice with random bytes from the system. Keys and salts depend on them, so the process aborts if it gets
/// none.
pub(crate) fn fill_random(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(rest) = bytes.get_mut(at..).filter(|rest| !rest.is_empty()) {
        match rustix::rand::getrandom(&mut *rest, rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => at += count,
            Err(rustix::io::Errno::INTR) => {}
            // A sandbox that forbids the call may still provide the device.
            Err(_) if fs::File::open("/dev/urandom").and_then(|mut device| device.read_exact(rest)).is_ok() => return,
            Err(_) => std::process::abort(),
        }
    }
}

/// The creation time of a file; a symlink is not followed. Some file systems do not store it. The standard library
/// provides it only with glibc, and the release is linked with musl.
pub(crate) fn created(path: &Path) -> Option<SystemTime> {
    let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BTIME).ok()?;
    let is_kept = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    let since = Duration::new(u64::try_from(found.stx_btime.tv_sec).ok()?, found.stx_btime.tv_nsec);
    SystemTime::UNIX_EPOCH.checked_add(since).filter(|_| is_kept)
}

/// The home of this user in the user database.
pub(crate) fn home_of_user() -> Option<PathBuf> {
    let user = user()?.to_string();
    let database = fs::read_to_string("/etc/passwd").ok()?;
    let of_user = |line: &&str| line.split(':').nth(2) == Some(&user);
    database.lines().find(of_user)?.split(':').nth(5).map(PathBuf::from)
}

/// The command that shows a desktop notification; `None` if the program is not installed.
pub(crate) fn desktop_notice(title: &str, text: &str) -> Option<Command> {
    let program = Path::new("/usr/bin/notify-send");
    program.exists().then(|| {
        let mut command = Command::new(program);
        command.args(["--app-name=Reflex", "--", title, text]);
        command
    })
}

/// The reason why no desktop notification can be shown here, if there is one.
pub(crate) fn desktop_obstacle() -> Option<&'static str> {
    if !Path::new("/usr/bin/notify-send").exists() {
        return Some("notify-send is not installed");
    }
    let is_named = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
    let folder = std::env::var_os("XDG_RUNTIME_DIR");
    let is_usual = || folder.is_some_and(|folder| Path::new(&folder).join("bus").exists());
    (!is_named && !is_usual()).then_some("no desktop session, and so no notification service, was found")
}

/// The command that opens an address in the person's browser; `None` if the program is not installed.
pub(crate) fn browser(url: &str) -> Option<Command> {
    let program = Path::new("/usr/bin/xdg-open");
    program.exists().then(|| {
        let mut command = Command::new(program);
        command.arg(url);
        command
    })
}

/// The time at which the machine was started.
pub(crate) fn booted() -> Option<SystemTime> {
    let up = fs::read_to_string("/proc/uptime").ok()?;
    SystemTime::now().checked_sub(Duration::from_secs(up.split('.').next()?.parse().ok()?))
}

/// An id of this boot of the machine.
pub(crate) fn boot() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

/// Prevents other processes of the user from reading the memory of this one from now on.
pub(crate) fn hide_memory() {
    // If this is forbidden, the process runs on unprotected.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// A running process.
pub(crate) struct Process {
    folder: PathBuf,
}

impl Process {
    /// The process with this id.
    pub(crate) fn of(process: Pid) -> Option<Process> {
        let folder = PathBuf::from(format!("/proc/{process}"));
        folder.is_dir().then_some(Process { folder })
    }

    /// The first arguments of its command line.
    pub(crate) fn words(&self, limit: usize) -> Vec<String> {
        let line = fs::read(self.folder.join("cmdline")).unwrap_or_default();
        let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty()).take(limit);
        words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    /// The path of its program; empty if access is denied.
    pub(crate) fn program(&self) -> String {
        let program = fs::read_link(self.folder.join("exe")).ok();
        program.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Its initial environment, each `NAME=value` followed by a zero byte; empty if access is denied.
    pub(crate) fn environment(&self) -> Vec<u8> {
        fs::read(self.folder.join("environ")).unwrap_or_default()
    }

    /// The id of its parent.
    pub(crate) fn parent(&self) -> Option<Pid> {
        number(&field_of(&self.folder, 4)?)
    }

    /// Its start time, in clock ticks since boot.
    pub(crate) fn started(&self) -> Option<u64> {
        field_of(&self.folder, 22)?.parse().ok()
    }

    /// Whether it has a terminal.
    pub(crate) fn has_terminal(&self) -> Option<bool> {
        Some(field_of(&self.folder, 7)? != "0")
    }
}

/// A field of `stat`, counted from 1 and at least 3. The second is in parentheses and may contain any character.
fn field_of(folder: &Path, number: usize) -> Option<String> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(number.checked_sub(3)?).map(str::to_owned)
}

/// Parses the id of a process; `None` for 0.
fn number(field: &str) -> Option<Pid> {
    field.parse().ok().filter(|process| *process != 0)
}

/// All running processes, each with its parent, without zombies.
pub(crate) fn running() -> Vec<(Pid, Pid)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<Pid>().ok());
    let runs = |folder: &Path| field_of(folder, 3).filter(|state| state != "Z");
    numbers
        .filter_map(|process| {
            let folder = PathBuf::from(format!("/proc/{process}"));
            runs(&folder)?;
            Some((process, number(&field_of(&folder, 4)?)?))
        })
        .collect()
}

/// Makes this process the parent of orphaned descendants from now on, so that they are found.
pub(crate) fn adopt_strays() {
    // On an error, fewer strays are found.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Leaves the network except for the loopback.
///
/// # Errors
/// The system does not allow it.
pub(crate) fn leave_network() -> std::io::Result<()> {
    use rustix::process::{getgid, getuid};
    use rustix::thread::UnshareFlags;

    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    #[expect(deprecated, reason = "the one in its place is unsafe for the sake of flags that are not used here")]
    let left = rustix::thread::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET);
    left?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    raise_loopback()
}

/// Asks the kernel to bring up the first interface, which is the loopback.
fn raise_loopback() -> std::io::Result<()> {
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 5;
    const LOOPBACK: i32 = 1;
    const UP: u32 = 1;
    let mut message = Vec::new();
    message.extend(32_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 12]); // sequence number, port id, family and type of the interface
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0_u8; 256];
    recv(&socket, &mut answer[..], RecvFlags::empty())?;
    // The error number follows the header of 16 bytes: negative, or 0.
    let error = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map_or(0, i32::from_ne_bytes);
    if error == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(-error)) }
}
