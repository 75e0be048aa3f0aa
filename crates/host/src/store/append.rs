//! Appends records to the audit log.

use super::head::Head;
use super::log::{CURRENT, Log, MAX_WAIT, Tail, hash_of};
use super::redact::Kept;
use crate::system::random;
use std::fs;
use std::io::{self, Write};

/// Size in bytes above which a part is closed.
const PART_BYTES: u64 = 64 * 1024 * 1024;

impl Log {
    /// Appends one record, preceded by those that were left beside the log. `durable` waits for the disk.
    ///
    /// # Errors
    /// The record could not be written.
    pub(super) fn append(&self, record: &Kept, durable: bool) -> io::Result<()> {
        let record = record.text();
        // If the lock is held by another process or unsupported by the file system, the record is left beside the log,
        // which needs no lock.
        let Ok(_lock) = self.lock(MAX_WAIT) else { return self.leave_beside(record) };
        let mut tail = self.tail()?;
        for (path, waiting) in self.waiting() {
            self.write(&mut tail, &waiting, true)?;
            fs::remove_file(path)?;
        }
        self.write(&mut tail, record, durable)
    }

    /// Writes one line. A partial write is undone, so that the next line is not appended to a torn one.
    ///
    /// If earlier records are missing, a record about the loss is written first and an alarm is raised.
    pub(super) fn write(&self, tail: &mut Tail, text: &str, durable: bool) -> io::Result<()> {
        let head = Head::from_log(self).ok();
        if let Some(missing) = head.as_ref().and_then(|head| head.missing(tail)) {
            let id = random::uuid();
            self.line(tail, &missing.record(&id), true)?;
            missing.raise(self, &id);
        }
        self.line(tail, text, durable)?;
        head.iter().for_each(|head| head.put(tail));
        Ok(())
    }

    fn line(&self, tail: &mut Tail, text: &str, durable: bool) -> io::Result<()> {
        let body = text.strip_suffix('}').unwrap_or(text);
        let mut line = format!("{body},\"seq\":{},\"prev\":\"{}\"", tail.seq + 1, tail.hash);
        let hash = hash_of(&line);
        line.push_str(",\"hash\":\"");
        line.push_str(&hash);
        line.push_str("\"}\n");
        let (mut file, before) = match tail.current.take() {
            Some(opened) => opened,
            None => self.current()?,
        };
        if let Err(error) = file.write_all(line.as_bytes()) {
            let _ = file.set_len(before);
            return Err(error);
        }
        *tail = Tail::new(tail.seq + 1, &hash);
        if before > PART_BYTES {
            fs::rename(self.folder().join(CURRENT), self.folder().join(format!("{:012}.jsonl", tail.seq)))?;
        }
        if durable { file.sync_data() } else { Ok(()) }
    }
}
