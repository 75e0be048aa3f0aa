//! The audit log: JSON lines in a hash chain, appended by any number of concurrent hooks.
//!
//! `audit/current.jsonl` is appended to, `audit/SEQUENCE.jsonl` are earlier parts. Each line ends
//! `,"seq":N,"prev":"HASH","hash":"HASH"}`; its hash is the SHA-256 of everything before `,"hash"`, and `prev` is the
//! hash of the line before it.

use super::state::Store;
use crate::system::files::{make_folder, private, wait_for};
use crate::system::os::{self, Purpose};
use crate::system::{hex, random};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Maximum time to wait for other hooks that write. After it, the record is left beside the log.
pub(super) const MAX_WAIT: Duration = Duration::from_millis(700);

/// Maximum time to wait for a lock that a call does not need: all waits of a call together stay below the timeout of
/// the watchdog.
pub(super) const BRIEF_WAIT: Duration = Duration::from_millis(300);

pub(super) const CURRENT: &str = "current.jsonl";

/// The `prev` hash of the first line.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The log of one user on one machine.
#[derive(Debug, Clone)]
pub struct Log {
    folder: PathBuf,
}

/// The end of the chain.
#[derive(Debug)]
pub(super) struct Tail {
    /// The number of the last line; 0 if the log is empty.
    pub(super) seq: u64,
    /// The hash of the last line.
    pub(super) hash: String,
    /// The current part and its length, if it was opened to find the end.
    pub(super) current: Option<(File, u64)>,
}

impl Tail {
    /// An end without an open file.
    pub(super) fn new(seq: u64, hash: &str) -> Tail {
        Tail { seq, hash: hash.into(), current: None }
    }
}

/// The end of the log at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogEnd(Option<(u64, Option<SystemTime>)>);

impl Store {
    /// The audit log.
    pub fn log(&self) -> Log {
        Log { folder: self.folder.join("audit") }
    }
}

impl Log {
    #[cfg(test)]
    pub(super) fn in_folder(folder: PathBuf) -> Log {
        Log { folder }
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The end of the log, to see whether it has grown.
    pub(crate) fn end(&self) -> LogEnd {
        let current = fs::metadata(self.folder.join(CURRENT));
        LogEnd(current.ok().map(|data| (data.len(), data.modified().ok())))
    }

    /// The file that stores the number and hash of the last record.
    pub(super) fn head(&self) -> PathBuf {
        self.folder.with_extension("head")
    }

    /// The files of the log, oldest first.
    pub(super) fn parts(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut parts = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
            let number = name.strip_suffix(".jsonl").is_some_and(|stem| stem.bytes().all(|byte| byte.is_ascii_digit()));
            if number || name == CURRENT {
                parts.push(path);
            }
        }
        // Digits sort before `c`, so the current part comes last.
        parts.sort();
        Ok(parts)
    }

    /// Runs `work` while no other hook writes.
    pub(super) fn locked<T>(
        &self,
        wait: Duration,
        work: impl FnOnce(&Log, &mut Tail) -> io::Result<T>,
    ) -> io::Result<T> {
        let _lock = self.lock(wait)?;
        let mut tail = self.tail()?;
        work(self, &mut tail)
    }

    pub(super) fn lock(&self, wait: Duration) -> io::Result<File> {
        let lock = self.open("lock")?;
        wait_for(&lock, wait)?;
        Ok(lock)
    }

    fn open(&self, name: &str) -> io::Result<File> {
        let path = self.folder.join(name);
        // A symlink in the place of the log would redirect its lines.
        let open = || os::open(&path, Purpose::Log);
        match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_folder(&self.folder)?;
                open()
            }
            file => file,
        }
    }

    pub(super) fn current(&self) -> io::Result<(File, u64)> {
        let file = self.open(CURRENT)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other("the path of the log is not a file"));
        }
        Ok((file, found.len()))
    }

    /// The end of the chain. A last line that is torn because its writer was killed is removed; no client was answered
    /// with it, because the record is written before the answer.
    pub(super) fn tail(&self) -> io::Result<Tail> {
        let (current, length) = self.current()?;
        if let Some((tail, complete)) = end_of(&current, length)? {
            return Ok(Tail { current: Some((current, complete)), ..tail });
        }
        let parts = self.parts()?;
        let closed = parts.iter().rev().find(|path| !path.ends_with(CURRENT));
        let end = |path| File::open(path).and_then(|file| end_of(&file, file.metadata()?.len()));
        let last = closed.map(end).transpose()?.flatten();
        Ok(last.map_or_else(|| Tail::new(0, NOTHING), |(tail, _)| tail))
    }

    fn waiting_folder(&self) -> PathBuf {
        self.folder.join("waiting")
    }

    /// Records whose hooks could not wait for the log, oldest first.
    pub(super) fn waiting(&self) -> Vec<(PathBuf, String)> {
        let Ok(entries) = fs::read_dir(self.waiting_folder()) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        let complete = |path: PathBuf| {
            let text = fs::read_to_string(&path).ok()?;
            matches!(serde_json::from_str(&text), Ok(Value::Object(_))).then_some((path, text))
        };
        paths.into_iter().filter_map(complete).collect()
    }

    /// Writes a record to its own file, which needs no lock; the names sort by time.
    pub(super) fn leave_beside(&self, text: &str) -> io::Result<()> {
        let folder = self.waiting_folder();
        make_folder(&folder)?;
        let name = random::uuid();
        let draft = folder.join(format!("{name}.draft"));
        let mut file = private().write(true).create_new(true).open(&draft)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        fs::rename(draft, folder.join(format!("{name}.json")))
    }
}

/// The hash of a line, given everything before its hash field.
pub(super) fn hash_of(line: &str) -> String {
    hex::encode(&Sha256::digest(line.as_bytes()))
}

/// The number, `prev` and hash at the end of a line without its newline.
pub(super) fn ending(line: &str) -> Option<(u64, &str, &str)> {
    let (before, hash) = line.strip_suffix("\"}")?.rsplit_once(",\"hash\":\"")?;
    let (before, prev) = before.strip_suffix('"')?.rsplit_once(",\"prev\":\"")?;
    let seq = before.rsplit_once(",\"seq\":")?.1.parse().ok()?;
    (hash.len() == NOTHING.len() && prev.len() == NOTHING.len()).then_some((seq, prev, hash))
}

/// The end of the chain in a file of `length` bytes, and the length of its complete lines; `None` if it has none.
fn end_of(file: &File, length: u64) -> io::Result<Option<(Tail, u64)>> {
    /// Longer than the ending of any line.
    const ENDING: u64 = 256;
    if length == 0 {
        return Ok(None);
    }
    let from = length.saturating_sub(ENDING);
    let bytes = read_at(file, from, length - from)?;
    let text = String::from_utf8_lossy(&bytes);
    if let Some((seq, _, hash)) = text.strip_suffix('\n').and_then(ending) {
        return Ok(Some((Tail::new(seq, hash), length)));
    }
    let complete = end_of_complete_lines(file, length)?;
    file.set_len(complete)?;
    // Lines without a valid ending are skipped here; `verify` reports them.
    let from = complete.saturating_sub(STEP);
    let bytes = read_at(file, from, complete - from)?;
    let text = String::from_utf8_lossy(&bytes);
    let end = text.lines().rev().find_map(ending);
    Ok(end.map(|(seq, _, hash)| (Tail::new(seq, hash), complete)))
}

/// Number of bytes of a file that are read at once.
const STEP: u64 = 64 * 1024;

fn end_of_complete_lines(file: &File, length: u64) -> io::Result<u64> {
    let mut end = length;
    while end > 0 {
        let from = end.saturating_sub(STEP);
        let bytes = read_at(file, from, end - from)?;
        if let Some(at) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(from + at as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}

fn read_at(file: &File, from: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    let mut filled = 0;
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match os::read_at(file, room, from + filled as u64) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}
