//! Writes records to the audit log, with their texts redacted.

use super::redact::{Kept, Record, Redactor, put};
use super::state::Store;
use crate::system::{clock, random};
use serde_json::{Map, Value};
use std::fs;
use std::io;

/// Schema of the audit log's records.
pub const SCHEMA: &str = "reflex/audit-v2";

impl Store {
    /// Appends a record, a JSON object; `durable` waits for the disk.
    ///
    /// # Errors
    /// The record could not be written.
    pub(crate) fn record(&self, record: &Kept, durable: bool) -> io::Result<()> {
        self.log().append(record, durable)
    }

    /// Records an event that is not a call: an approval, an attempt, a switch.
    ///
    /// # Errors
    /// The record could not be written.
    pub fn note(&self, kind: &'static str, fields: Value) -> io::Result<()> {
        self.record(&note(self, kind, &fields), true)
    }

    /// A person's words in the form in which they are stored, without secrets.
    pub fn clean(&self, text: &str) -> String {
        Redactor::new(self).clean(text).into()
    }

    /// A copy of an object in which every text is redacted.
    pub(crate) fn cleaned(&self, value: &Value) -> Option<Map<String, Value>> {
        serde_json::from_str(self.kept(value).text()).ok()
    }

    /// A document in which every text is redacted.
    pub(crate) fn kept(&self, value: &Value) -> Kept {
        Redactor::new(self).kept(value)
    }

    /// Sets whether records contain the texts of calls.
    ///
    /// # Errors
    /// The setting cannot be written.
    pub fn keep_texts(&self, keep: bool) -> io::Result<()> {
        let file = self.folder.join("audit/structure-only");
        match keep {
            false => put(&file, &Kept::trusted("")),
            true if file.exists() => fs::remove_file(file),
            true => Ok(()),
        }
    }
}

/// The record of an event that is not a call: an approval, an attempt, an alarm.
fn note(store: &Store, kind: &'static str, fields: &Value) -> Kept {
    let mut record = beginning(store, kind, &random::uuid());
    let redactor = Redactor::new(store);
    // The reason comes from outside and is truncated like a text of a call; all other fields are made by this program.
    let mut fields = fields.clone();
    if let Some(reason) = fields.get_mut("reason") {
        *reason = redactor.clean(reason.as_str().unwrap_or("")).into();
    }
    record.fields(&redactor.kept(&fields));
    record.finish()
}

/// The first fields of every record.
pub(crate) fn beginning(store: &Store, kind: &'static str, id: &str) -> Record {
    let mut record = Record::long();
    record.word("schema", SCHEMA);
    record.word("kind", kind);
    record.made("id", id);
    record.made("time", &clock::timestamp(clock::now()));
    record.made("host", &store.host());
    record
}
