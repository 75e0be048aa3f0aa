//! How far the log was written, kept outside of it: whoever cuts off its newest records or takes it away leaves this.

use super::alarm::{Alarm, Subject, raise};
use super::log::{Log, Tail};
use crate::system::clock;
use crate::system::os::{self, Purpose};
use serde_json::{Value, json};
use std::fs::File;
use std::io;

/// `SEQ HASH`, of one length, so that it is replaced where it stands.
const LENGTH: usize = 20 + 1 + 64 + 1;

/// What a machine that lost its power may lose of a log that nobody waited for.
const LOST_WITH_POWER: u64 = 1000;

/// How the record that tells of lost records begins.
const LOST: &str = "{\"schema\":\"reflex/audit-v2\",\"kind\":\"log-lost\"";

/// Records that were written and are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// The last record that is there, or 0.
    pub after: u64,
    /// The last that was written.
    pub through: u64,
}

impl Missing {
    /// In words, as the end of a sentence.
    pub fn told(&self) -> String {
        match (self.after, self.through) {
            (after, through) if after == through => {
                format!("record {through} is another than the one that was written")
            }
            (after, through) if after + 1 == through => format!("record {through} is missing"),
            (after, through) => format!("records {} to {through} are missing", after + 1),
        }
    }

    /// What a record that tells of lost ones says; nothing for any other.
    pub(super) fn of_record(line: &str) -> Option<Missing> {
        let record: Value = line.starts_with(LOST).then(|| serde_json::from_str(line).ok()).flatten()?;
        let number = |key: &str| record.get(key).and_then(Value::as_u64);
        Some(Missing { after: number("after")?, through: number("through")? })
    }

    /// The record of it: the log itself says from now on that it is not whole.
    pub(super) fn record(&self, id: &str) -> String {
        let time = clock::timestamp(clock::now());
        json!({"id": id, "time": time, "after": self.after, "through": self.through}).to_string().replacen(
            '{',
            &format!("{LOST},"),
            1,
        )
    }

    /// Tells people and agents.
    pub(super) fn raise(&self, log: &Log, id: &str) {
        let text = format!("the audit log was cut: {}", self.told());
        let alarm = Alarm { record: id.into(), time: clock::now(), text, of: Subject::Log };
        log.folder().parent().map(|state| raise(state, &alarm));
    }
}

/// The file, open.
pub(super) struct Head {
    file: File,
    written: Option<(u64, String)>,
}

impl Head {
    /// That of a log.
    pub(super) fn from_log(log: &Log) -> io::Result<Head> {
        let file = os::open(&log.head(), Purpose::Head)?;
        let mut bytes = [0; LENGTH];
        let read = os::read_at(&file, &mut bytes, 0).unwrap_or(0);
        let written = (read == LENGTH).then(|| parsed(&bytes)).flatten();
        Ok(Head { file, written })
    }

    /// What the log had once and has no longer, by its end.
    pub(super) fn missing(&self, tail: &Tail) -> Option<Missing> {
        let (seq, hash) = self.written.as_ref()?;
        let missing = Missing { after: tail.seq, through: *seq };
        // Whoever is killed between the record and this leaves a log that goes on further.
        let is_there = tail.seq > *seq || tail.seq == *seq && tail.hash == *hash;
        (!is_there && !self.was_lost_with_power(missing)).then_some(missing)
    }

    /// The disk may have kept this and not the last records, if the machine went down since.
    fn was_lost_with_power(&self, missing: Missing) -> bool {
        let written = self.file.metadata().and_then(|data| data.modified()).ok();
        let is_before = written.zip(os::booted()).is_some_and(|(written, booted)| written < booted);
        is_before && missing.after > 0 && missing.through - missing.after <= LOST_WITH_POWER
    }

    /// Notes the end of the log. That nobody can do so leaves the log as it is.
    pub(super) fn put(&self, tail: &Tail) {
        let _ = os::write_at(&self.file, format!("{:020} {}\n", tail.seq, tail.hash).as_bytes(), 0);
    }
}

fn parsed(bytes: &[u8]) -> Option<(u64, String)> {
    let (seq, hash) = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.split_once(' ')?;
    Some((seq.parse().ok()?, hash.to_owned()))
}
