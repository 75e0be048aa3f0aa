//! The image of a process, and the image that a start would load: `/proc`, the file to start, and its `#!` line.

use super::notice;
use crate::start::{Stage, Start};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a file in which the kernel looks for a `#!` line, `BINPRM_BUF_SIZE`.
const FIRST_LINE: usize = 256;

/// Size that the arguments and variables of most processes keep to.
const MOST_CONTENTS: usize = 8192;

/// Maximum number of interpreters that the kernel puts before a script.
const MAX_INTERPRETERS: usize = 5;

/// One file, by device and inode.
pub(super) type Identity = (u64, u64);

/// The judged parts of an image. A loaded image that is equal runs without another judgement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'s> {
    /// The program; `None` if the file was not found.
    pub(super) file: Option<Identity>,
    pub(super) argv: &'s [OsString],
    pub(super) environment: &'s [OsString],
    pub(super) cwd: &'s Path,
}

/// The same parts of an image that the kernel has loaded.
#[derive(Debug)]
pub(super) struct Image {
    file: Identity,
    /// The arguments, each ended by a zero byte.
    argv: Vec<u8>,
    /// The variables in the same form.
    environment: Vec<u8>,
    cwd: PathBuf,
}

/// A file as its caller finds it.
pub(super) enum Found {
    /// It exists.
    File {
        identity: Identity,
        /// Its real path. Empty if it has none.
        path: PathBuf,
        /// The words that the kernel puts before the rest of the arguments, if it is a script.
        interpreters: Vec<OsString>,
        /// The last interpreter.
        program: Option<Identity>,
    },
    /// It does not.
    Missing,
    /// It cannot be looked up from here.
    Unknown,
}

pub(super) fn identity(data: &Metadata) -> Identity {
    (data.dev(), data.ino())
}

fn of(process: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{process}/{name}"))
}

fn link(process: u32, name: &str) -> PathBuf {
    fs::read_link(of(process, name)).unwrap_or_default()
}

/// The process of a thread.
pub(super) fn process_of(thread: libc::pid_t) -> Option<u32> {
    if notice::is_process(thread) {
        return u32::try_from(thread).ok();
    }
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// The parent of a process, and the time at which the process began, in clock ticks since boot. Zeroes if it is gone.
pub(super) fn origin(process: u32) -> (u32, u64) {
    stat(process).unwrap_or_default()
}

fn stat(process: u32) -> Option<(u32, u64)> {
    let stat = contents(&of(process, "stat")).ok()?;
    // The name in parentheses may contain anything. The parent is the 4th field, the time the 22nd, proc_pid_stat(5).
    let after = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = std::str::from_utf8(stat.get(after + 1..)?).ok()?.split_ascii_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    Some((parent, fields.nth(17)?.parse().ok()?))
}

/// Reads a file of `/proc`. Its size is unknown, so `fs::read` would begin with 32 bytes and take many calls.
fn contents(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(MOST_CONTENTS);
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The time at which a process began, as in [`Start::since`](crate::Start::since); 0 if it is gone.
pub fn since(process: u32) -> u64 {
    origin(process).1
}

/// The parent of a process and the time at which the parent began. `None` for a process that is gone, or whose parent
/// is.
pub fn parent(process: u32) -> Option<(u32, u64)> {
    let (parent, _) = stat(process)?;
    Some((parent, stat(parent)?.1))
}

pub(super) fn cwd(process: u32) -> PathBuf {
    link(process, "cwd")
}

/// The file of the program that a process runs, as long as its start waits for an answer. Empty if it is unknown.
pub fn program(process: u32) -> PathBuf {
    real(link(process, "exe"))
}

/// The real path of an open file.
fn path_of(file: &File) -> PathBuf {
    real(fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default())
}

/// The path; empty if the kernel says that no file has it.
fn real(path: PathBuf) -> PathBuf {
    let is_gone = path.as_os_str().as_bytes().ends_with(b" (deleted)") && !path.exists();
    if is_gone || !path.is_absolute() || path.starts_with("/memfd:") { PathBuf::new() } else { path }
}

impl Image {
    /// The image of a process that is stopped at its exec.
    pub(super) fn loaded(process: u32) -> io::Result<Image> {
        Ok(Image {
            file: identity(&fs::metadata(of(process, "exe"))?),
            argv: contents(&of(process, "cmdline"))?,
            environment: contents(&of(process, "environ"))?,
            cwd: cwd(process),
        })
    }

    pub(super) fn is(&self, expected: Expected<'_>) -> bool {
        expected.file == Some(self.file)
            && is_list(&self.argv, expected.argv)
            && is_list(&self.environment, expected.environment)
            && expected.cwd == self.cwd
    }

    /// The image as a start to judge.
    pub(super) fn as_start(&self, process: u32) -> Start {
        let (file, (parent, since)) = (program(process), origin(process));
        Start {
            process,
            since,
            parent,
            path: file.clone(),
            file,
            argv: words(&self.argv),
            interpreted: Vec::new(),
            environment: words(&self.environment),
            cwd: self.cwd.clone(),
            stage: Stage::Loaded,
        }
    }
}

/// Whether these bytes are the words, each ended by a zero byte.
fn is_list(bytes: &[u8], words: &[OsString]) -> bool {
    let rest = words.iter().try_fold(bytes, |bytes, word| bytes.strip_prefix(word.as_bytes())?.strip_prefix(b"\0"));
    rest.is_some_and(<[u8]>::is_empty)
}

/// Splits text in which each word ends with a zero byte.
fn words(bytes: &[u8]) -> Vec<OsString> {
    let words = bytes.strip_suffix(b"\0").map(|bytes| bytes.split(|byte| *byte == 0));
    words.into_iter().flatten().map(|word| OsStr::from_bytes(word).to_owned()).collect()
}

/// The file that a process names in a call, relative to its working directory or to one of its descriptors.
pub(super) fn find(process: u32, descriptor: Option<i32>, path: &OsStr) -> Found {
    let base = match descriptor {
        Some(descriptor) => of(process, &format!("fd/{descriptor}")),
        None => of(process, "cwd"),
    };
    let path = Path::new(path);
    // Looked up from here, `self` would be this process.
    let own = [("/proc/self", ""), ("/proc/thread-self", ""), ("/dev/fd", "fd")];
    let of_caller = own.iter().find_map(|(from, to)| Some(of(process, to).join(path.strip_prefix(from).ok()?)));
    if of_caller.is_none() && (path.starts_with("/proc") || path.starts_with("/dev")) {
        return Found::Unknown;
    }
    let full = match path.strip_prefix("/") {
        _ if of_caller.is_some() => of_caller.unwrap_or_default(),
        Ok(below) => of(process, "root").join(below),
        Err(_) if path.as_os_str().is_empty() => base,
        Err(_) => base.join(path),
    };
    let file = match open(&full) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Found::Missing;
        }
        // A program may be executable without being readable.
        Err(_) => return unreadable(&full),
    };
    let Ok(data) = file.metadata() else { return Found::Unknown };
    if !data.is_file() {
        return Found::Unknown;
    }
    let path = path_of(&file);
    let mut interpreters = Vec::new();
    let program = interpreter(process, file, &mut interpreters);
    Found::File { identity: identity(&data), path, interpreters, program }
}

/// Opens a file that a process names. Opening a pipe without a writer would never return.
fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

fn unreadable(full: &Path) -> Found {
    let opened = File::options().read(true).custom_flags(libc::O_PATH).open(full);
    let Ok((file, data)) = opened.and_then(|file| file.metadata().map(|data| (file, data))) else {
        return Found::Unknown;
    };
    let path = path_of(&file);
    Found::File { identity: identity(&data), path, interpreters: Vec::new(), program: None }
}

/// Reads the `#!` line of a script, and that of its interpreter if this is a script, too. Adds the words that the kernel
/// puts before the name of the script, and returns the program that runs in the end.
fn interpreter(process: u32, mut file: File, words: &mut Vec<OsString>) -> Option<Identity> {
    let mut program = None;
    for _ in 0..=MAX_INTERPRETERS {
        let Some(line) = first_line(&mut file) else { break };
        let (name, argument) = line;
        let path = Path::new(&name);
        let full = match path.strip_prefix("/") {
            Ok(below) => of(process, "root").join(below),
            Err(_) => of(process, "cwd").join(path),
        };
        let mut before = vec![name];
        before.extend(argument);
        words.splice(0..0, before);
        file = open(&full).ok()?;
        program = file.metadata().ok().map(|data| identity(&data));
    }
    program
}

/// The interpreter and its one argument in a `#!` line.
fn first_line(file: &mut File) -> Option<(OsString, Option<OsString>)> {
    let mut bytes = [0; FIRST_LINE];
    // One read, as in the kernel, which takes what it gets.
    let length = file.read(&mut bytes).ok()?;
    let line = bytes.get(..length)?.strip_prefix(b"#!")?;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = line.split(|byte| *byte == 0).next()?;
    let mut words = line.trim_ascii().splitn(2, is_blank);
    let name = words.next().filter(|name| !name.is_empty())?;
    let argument = words.next().map(<[u8]>::trim_ascii).filter(|argument| !argument.is_empty());
    let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    Some((text(name), argument.map(text)))
}
