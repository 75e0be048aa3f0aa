//! The log at one moment, for who reads it while others write.

use super::chain::is_tombstone;
use super::log::{BRIEF_WAIT, CURRENT, Log};
use crate::system::os;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

/// So much of a part is read at once.
const STEP: usize = 1 << 20;

/// One file of the log as it was at that moment.
pub(super) struct Part {
    /// Where it was.
    pub(super) path: PathBuf,
    length: u64,
    /// The part that was written to: another file may stand at its path by now.
    opened: Option<File>,
}

impl Part {
    /// A file that is written to no more, if it is there.
    pub(super) fn at(path: PathBuf) -> Option<Part> {
        let length = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        Some(Part { path, length, opened: None })
    }

    /// So many of its bytes belong to that moment.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// The file; nothing where the records have been purged meanwhile.
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

    /// Its lines with their ends, as long as `each` says `true`. The last one has no end if its writer was killed.
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

    /// Whether it begins with what stands in the place of all parts before it.
    fn is_after_purge(&self) -> io::Result<bool> {
        let mut start = [0; 128];
        let Some(file) = self.open()? else { return Ok(false) };
        let length = os::read_at(&file, &mut start, 0)?;
        Ok(is_tombstone(&String::from_utf8_lossy(start.get(..length).unwrap_or_default())))
    }
}

impl Log {
    /// Its files, oldest first. It is taken while no hook writes, so that no line is torn and no part closed meanwhile;
    /// who cannot have the lock reads all the same.
    ///
    /// # Errors
    /// The folder or a file cannot be read; that it is not there is an empty log.
    pub(super) fn snapshot(&self) -> io::Result<Vec<Part>> {
        if !self.folder().is_dir() {
            return Ok(Vec::new());
        }
        let _lock = self.lock(BRIEF_WAIT).ok();
        self.whole_parts()
    }

    /// The same for who has the lock.
    pub(super) fn whole_parts(&self) -> io::Result<Vec<Part>> {
        let mut parts = Vec::new();
        for path in self.parts()?.into_iter().rev() {
            let opened = File::open(&path)?;
            let length = opened.metadata()?.len();
            let opened = path.ends_with(CURRENT).then_some(opened);
            let part = Part { path, length, opened };
            let is_last = part.is_after_purge()?;
            parts.push(part);
            // What is older was purged, and who purged it was killed before it was gone.
            if is_last {
                break;
            }
        }
        parts.reverse();
        Ok(parts)
    }

    /// Every record in order; ends early when `each` says `false`.
    ///
    /// # Errors
    /// A file cannot be read, or `each` could not go on.
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
