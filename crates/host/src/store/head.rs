//! The number and hash of the last record, stored outside of the log. It remains if newer records are cut off or the
//! log is removed.

use super::alarm::{Alarm, Subject, raise};
use super::log::{Log, Tail};
use crate::system::clock;
use crate::system::os::{self, Purpose};
use serde_json::{Value, json};
use std::fs::File;
use std::io;

/// Length of `SEQ HASH`, in bytes. It is fixed, so that the value is overwritten in place.
const LENGTH: usize = 20 + 1 + 64 + 1;

/// Maximum number of unsynced records that a power failure may lose.
const LOST_WITH_POWER: u64 = 1000;

/// The beginning of a record about lost records.
const LOST: &str = "{\"schema\":\"reflex/audit-v2\",\"kind\":\"log-lost\"";

/// Records that were written and are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// The number of the last record that exists, or 0.
    pub after: u64,
    /// The number of the last record that was written.
    pub through: u64,
}

impl Missing {
    /// The text for the end of a sentence.
    pub fn description(&self) -> String {
        match (self.after, self.through) {
            (after, through) if after == through => {
                format!("record {through} is another than the one that was written")
            }
            (after, through) if after + 1 == through => format!("record {through} is missing"),
            (after, through) => format!("records {} to {through} are missing", after + 1),
        }
    }

    /// Parses a record about lost records; `None` for any other.
    pub(super) fn of_record(line: &str) -> Option<Missing> {
        let record: Value = line.starts_with(LOST).then(|| serde_json::from_str(line).ok()).flatten()?;
        let number = |key: &str| record.get(key).and_then(Value::as_u64);
        Some(Missing { after: number("after")?, through: number("through")? })
    }

    /// The record of the loss, by which the log itself states that it is incomplete.
    pub(super) fn record(&self, id: &str) -> String {
        let time = clock::timestamp(clock::now());
        json!({"id": id, "time": time, "after": self.after, "through": self.through}).to_string().replacen(
            '{',
            &format!("{LOST},"),
            1,
        )
    }

    /// Raises an alarm for people and agents.
    pub(super) fn raise(&self, log: &Log, id: &str) {
        let text = format!("the audit log was cut: {}", self.description());
        let alarm = Alarm { record: id.into(), time: clock::now(), text, of: Subject::Log };
        log.folder().parent().map(|state| raise(state, &alarm));
    }
}

/// The open head file.
pub(super) struct Head {
    file: File,
    written: Option<(u64, String)>,
}

impl Head {
    /// Opens the head of a log.
    pub(super) fn from_log(log: &Log) -> io::Result<Head> {
        let file = os::open(&log.head(), Purpose::Head)?;
        let mut bytes = [0; LENGTH];
        let read = os::read_at(&file, &mut bytes, 0).unwrap_or(0);
        let written = (read == LENGTH).then(|| parsed(&bytes)).flatten();
        Ok(Head { file, written })
    }

    /// The records that the log has lost, given its current end.
    pub(super) fn missing(&self, tail: &Tail) -> Option<Missing> {
        let (seq, hash) = self.written.as_ref()?;
        let missing = Missing { after: tail.seq, through: *seq };
        // A hook that is killed between the record and the update of the head leaves a log that is longer than the head
        // states.
        let is_present = tail.seq > *seq || tail.seq == *seq && tail.hash == *hash;
        (!is_present && !self.was_lost_with_power(missing)).then_some(missing)
    }

    /// Whether the machine was restarted since: the disk may then have stored the head but not the last records.
    fn was_lost_with_power(&self, missing: Missing) -> bool {
        let written = self.file.metadata().and_then(|data| data.modified()).ok();
        let is_before = written.zip(os::booted()).is_some_and(|(written, booted)| written < booted);
        is_before && missing.after > 0 && missing.through - missing.after <= LOST_WITH_POWER
    }

    /// Stores the end of the log. A failure is ignored and leaves the log unchanged.
    pub(super) fn put(&self, tail: &Tail) {
        let _ = os::write_at(&self.file, format!("{:020} {}\n", tail.seq, tail.hash).as_bytes(), 0);
    }
}

fn parsed(bytes: &[u8]) -> Option<(u64, String)> {
    let (seq, hash) = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.split_once(' ')?;
    Some((seq.parse().ok()?, hash.to_owned()))
}
