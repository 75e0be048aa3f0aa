//! New records of the log as they are written.

use super::log::{CURRENT, Log, ending};
use crate::system::os;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::Duration;

/// So often is looked whether there is something new.
const PAUSE: Duration = Duration::from_millis(100);

/// A place in the log from which on it is followed.
pub struct LogFollower {
    log: Log,
    /// The part that is written to, and how far it was read.
    current: Option<(File, u64)>,
    /// What was read and has no end yet.
    rest: Vec<u8>,
    /// The number of the last record that was given.
    seq: u64,
}

impl Log {
    /// The log from now on.
    ///
    /// # Errors
    /// Its last file cannot be read.
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
    /// Gives each record that comes after `seq` as it is written, until `each` says `false`; it is asked with an empty
    /// text while there is nothing new.
    ///
    /// # Errors
    /// A file cannot be read, or `each` could not go on.
    pub fn follow(mut self, seq: u64, each: &mut dyn FnMut(&str) -> io::Result<bool>) -> io::Result<()> {
        self.seq = seq;
        loop {
            // Whatever came into the old part before it was closed is read before the new one.
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

    /// Another file, if one stands in the place of the one that was read.
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
            // A torn line was taken back.
            (*at, self.rest) = (length, Vec::new());
        }
        file.seek(SeekFrom::Start(*at))?;
        *at += file.take(length - *at).read_to_end(&mut self.rest)? as u64;
        while let Some(end) = memchr::memchr(b'\n', &self.rest) {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches('\n');
            // After a purge older records stand in a new file.
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
