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
const FIRST_LINE: u64 = 256;

/// Maximum number of interpreters that the kernel puts before a script.
const MAX_INTERPRETERS: usize = 5;

/// One file, by device and inode.
pub(super) type Identity = (u64, u64);

/// The judged parts of an image. An equal image runs without another judgement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Image {
    /// The program; `None` if the file was not found.
    pub(super) file: Option<Identity>,
    pub(super) argv: Vec<OsString>,
    pub(super) environment: Vec<OsString>,
    pub(super) cwd: PathBuf,
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

/// The parent of a process, and the time at which the process began, in clock ticks since boot.
fn stat(process: u32) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(of(process, "stat")).ok()?;
    // The name in parentheses may contain anything. The parent is the 4th field, the time the 22nd, proc_pid_stat(5).
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    Some((parent, fields.nth(17)?.parse().ok()?))
}

/// The time at which a process began; 0 if it is gone.
pub(super) fn since(process: u32) -> u64 {
    stat(process).map_or(0, |(_, since)| since)
}

/// The parent of a process and the time at which the parent began, as in [`Start::since`]. `None` for a process that is
/// gone, or whose parent is.
pub fn parent(process: u32) -> Option<(u32, u64)> {
    let (parent, _) = stat(process)?;
    Some((parent, stat(parent)?.1))
}

pub(super) fn cwd(process: u32) -> PathBuf {
    link(process, "cwd")
}

/// The file of the program that a process runs.
pub(super) fn program(process: u32) -> PathBuf {
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

/// The image of a process that is stopped at its exec.
pub(super) fn loaded(process: u32) -> io::Result<Image> {
    Ok(Image {
        file: Some(identity(&fs::metadata(of(process, "exe"))?)),
        argv: words(&fs::read(of(process, "cmdline"))?),
        environment: words(&fs::read(of(process, "environ"))?),
        cwd: cwd(process),
    })
}

/// The same as a start to judge.
pub(super) fn as_start(process: u32, image: &Image) -> Start {
    let file = program(process);
    Start {
        process,
        since: since(process),
        caller: PathBuf::new(),
        path: file.clone(),
        file,
        argv: image.argv.clone(),
        interpreted: Vec::new(),
        environment: image.environment.clone(),
        cwd: image.cwd.clone(),
        stage: Stage::Loaded,
    }
}

/// Splits text in which each word ends with a zero byte.
fn words(bytes: &[u8]) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        bytes.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_owned()).collect();
    words.pop();
    words
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
    let mut bytes = Vec::new();
    file.take(FIRST_LINE).read_to_end(&mut bytes).ok()?;
    let line = bytes.strip_prefix(b"#!")?;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = line.split(|byte| *byte == 0).next()?;
    let mut words = line.trim_ascii().splitn(2, is_blank);
    let name = words.next().filter(|name| !name.is_empty())?;
    let argument = words.next().map(<[u8]>::trim_ascii).filter(|argument| !argument.is_empty());
    let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    Some((text(name), argument.map(text)))
}
