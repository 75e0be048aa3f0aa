//! A snapshot of the log, for readers that run while hooks write.

use super::chain::is_tombstone;
use super::log::{BRIEF_WAIT, CURRENT, Log};
use crate::system::os;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

/// Size of the read buffer, in bytes.
const STEP: usize = 1 << 20;

/// One file of the log in a snapshot.
pub(super) struct Part {
    /// The path at the time of the snapshot.
    pub(super) path: PathBuf,
    length: u64,
    /// The current part: its path may name another file by now.
    opened: Option<File>,
}

impl Part {
    /// Number of bytes that belong to the snapshot.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Opens the file; `None` if its records have been purged meanwhile.
    pub(super) fn open(&self) -> io::Result<Option<File>> {
        let file = match &self.opened {
            Some(file) => file.try_clone(),
            None => File::open(&self.path),
        };
        match file {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => file.map(Some),
        }
    }

    /// Calls `each` with every line, including its newline, until it returns `false`. The last line has no newline if
    /// its writer was killed.
    pub(super) fn lines(&self, each: &mut dyn FnMut(&[u8]) -> io::Result<bool>) -> io::Result<bool> {
        let Some(file) = self.open()? else { return Ok(true) };
        let mut lines = BufReader::with_capacity(STEP, file.take(self.length));
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            if !each(&line)? {
                return Ok(false);
            }
            line.clear();
        }
        Ok(true)
    }

    /// Whether the file begins with a tombstone, which replaces all parts before it.
    fn is_after_purge(&self) -> io::Result<bool> {
        let mut start = [0; 128];
        let Some(file) = self.open()? else { return Ok(false) };
        let length = os::read_at(&file, &mut start, 0)?;
        Ok(is_tombstone(&String::from_utf8_lossy(start.get(..length).unwrap_or_default())))
    }
}

impl Log {
    /// The files of the log, oldest first. It is taken under the lock, so that no line is torn and no part is closed
    /// meanwhile; if the lock cannot be acquired, it is taken without.
    ///
    /// # Errors
    /// The folder or a file cannot be read. A missing folder is an empty log.
    pub(super) fn snapshot(&self) -> io::Result<Vec<Part>> {
        if !self.folder().is_dir() {
            return Ok(Vec::new());
        }
        let _lock = self.lock(BRIEF_WAIT).ok();
        self.complete_parts()
    }

    /// Like [`Log::snapshot`], for a caller that holds the lock.
    pub(super) fn complete_parts(&self) -> io::Result<Vec<Part>> {
        let mut parts = Vec::new();
        for path in self.parts()?.into_iter().rev() {
            let opened = File::open(&path)?;
            let length = opened.metadata()?.len();
            let opened = path.ends_with(CURRENT).then_some(opened);
            let part = Part { path, length, opened };
            let is_last = part.is_after_purge()?;
            parts.push(part);
            // Older parts were purged, but the purging process was killed before it had removed them.
            if is_last {
                break;
            }
        }
        parts.reverse();
        Ok(parts)
    }

    /// Calls `each` with every record in order, until it returns `false`.
    ///
    /// # Errors
    /// A file cannot be read, or `each` failed.
    pub fn each(&self, each: &mut dyn FnMut(&str) -> io::Result<bool>) -> io::Result<()> {
        for part in self.snapshot()? {
            let goes_on = part.lines(&mut |line| {
                let text = String::from_utf8_lossy(line);
                each(text.trim_end_matches('\n'))
            })?;
            if !goes_on {
                break;
            }
        }
        Ok(())
    }
}
