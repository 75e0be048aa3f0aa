//! Writes records to the audit log, with their texts redacted.

use super::clean::{Kept, Record, Redactor, put};
use super::state::Store;
use crate::system::{clock, random};
use serde_json::{Map, Value};
use std::fs;
use std::io;

/// The form of the records of the audit log. Version 1 had no chain and lies in `audit/calls.jsonl`.
pub const SCHEMA: &str = "reflex/audit-v2";

impl Store {
    /// Appends a record, a JSON object; `durable` waits for the disk.
    ///
    /// # Errors
    /// It could be written nowhere.
    pub(crate) fn record(&self, record: &Kept, durable: bool) -> io::Result<()> {
        self.log().append(record, durable)
    }

    /// Records something that is no call: an approval, an attempt, a switch.
    ///
    /// # Errors
    /// It could be written nowhere.
    pub fn note(&self, kind: &'static str, fields: Value) -> io::Result<()> {
        self.record(&note(self, kind, &fields), true)
    }

    /// A person's words without secrets, as all that is kept of them.
    pub fn clean(&self, text: &str) -> String {
        Redactor::new(self).clean(text).into()
    }

    /// An object of which every text is clean.
    pub(crate) fn cleaned(&self, value: &Value) -> Option<Map<String, Value>> {
        serde_json::from_str(self.kept(value).text()).ok()
    }

    /// A document of which every text is clean.
    pub(crate) fn kept(&self, value: &Value) -> Kept {
        Redactor::new(self).kept(value)
    }

    /// Chooses whether records hold the texts of calls.
    ///
    /// # Errors
    /// The choice cannot be written.
    pub fn keep_texts(&self, keep: bool) -> io::Result<()> {
        let file = self.folder.join("audit/structure-only");
        match keep {
            false => put(&file, &Kept::own("")),
            true if file.exists() => fs::remove_file(file),
            true => Ok(()),
        }
    }
}

/// The record of something that is no call: an approval, an attempt, an alarm.
fn note(store: &Store, kind: &'static str, fields: &Value) -> Kept {
    let mut record = beginning(store, kind, &random::uuid());
    let scribe = Redactor::new(store);
    // The words of whoever did it are cut like those of a call; all else is ours.
    let mut fields = fields.clone();
    if let Some(reason) = fields.get_mut("reason") {
        *reason = scribe.clean(reason.as_str().unwrap_or("")).into();
    }
    record.fields(&scribe.kept(&fields));
    record.finish()
}

/// How each record begins.
pub(crate) fn beginning(store: &Store, kind: &'static str, id: &str) -> Record {
    let mut record = Record::long();
    record.word("schema", SCHEMA);
    record.word("kind", kind);
    record.made("id", id);
    record.made("time", &clock::timestamp(clock::now()));
    record.made("host", &store.host());
    record
}
