//! Follows the log and yields new records as they are written.

use super::log::{CURRENT, Log, ending};
use crate::system::os;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::Duration;

/// Polling interval.
const PAUSE: Duration = Duration::from_millis(100);

/// A position in the log from which it is followed.
pub struct LogFollower {
    log: Log,
    /// The current part, and the offset up to which it was read.
    current: Option<(File, u64)>,
    /// The beginning of an incomplete line.
    rest: Vec<u8>,
    /// The number of the last record that was passed on.
    seq: u64,
}

impl Log {
    /// A follower that starts at the end of the log.
    ///
    /// # Errors
    /// The current file cannot be read.
    pub fn follower(&self) -> io::Result<LogFollower> {
        let mut follower = LogFollower { log: self.clone(), current: None, rest: Vec::new(), seq: 0 };
        if let Some(file) = follower.newest()? {
            let end = file.metadata()?.len();
            follower.current = Some((file, end));
        }
        Ok(follower)
    }
}

impl LogFollower {
    /// Calls `each` with each record after `seq` as it is written, until it returns `false`. After each poll, it is
    /// called with an empty text.
    ///
    /// # Errors
    /// A file cannot be read, or `each` failed.
    pub fn follow(mut self, seq: u64, each: &mut dyn FnMut(&str) -> io::Result<bool>) -> io::Result<()> {
        self.seq = seq;
        loop {
            // Records appended to the old part before it was closed are read before the new part.
            if !self.read(each)? || !self.change(each)? || !each("")? {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn newest(&self) -> io::Result<Option<File>> {
        match File::open(self.log.folder().join(CURRENT)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => file.map(Some),
        }
    }

    /// Switches to the new file, if the current part was replaced.
    fn change(&mut self, each: &mut dyn FnMut(&str) -> io::Result<bool>) -> io::Result<bool> {
        let Some(file) = self.newest()? else { return Ok(true) };
        let other = match &self.current {
            Some((current, _)) => !os::stat_of(&current.metadata()?).is_same_file(&os::stat_of(&file.metadata()?)),
            None => true,
        };
        if !other {
            return Ok(true);
        }
        if !self.read(each)? {
            return Ok(false);
        }
        self.current = Some((file, 0));
        self.rest.clear();
        self.read(each)
    }

    fn read(&mut self, each: &mut dyn FnMut(&str) -> io::Result<bool>) -> io::Result<bool> {
        let Some((file, at)) = &mut self.current else { return Ok(true) };
        let length = file.metadata()?.len();
        if length < *at {
            // A torn line was truncated.
            (*at, self.rest) = (length, Vec::new());
        }
        file.seek(SeekFrom::Start(*at))?;
        *at += file.take(length - *at).read_to_end(&mut self.rest)? as u64;
        while let Some(end) = memchr::memchr(b'\n', &self.rest) {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches('\n');
            // After a purge, a new file contains older records.
            let seq = ending(text).map_or(u64::MAX, |(seq, ..)| seq);
            if seq > self.seq {
                self.seq = if seq == u64::MAX { self.seq } else { seq };
                if !each(text)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
