//! Writes blobs: takes a tree of values and returns bytes. Equal parts are stored once.

use super::error::EncodeError;
use crate::node::{BOOL, LIST, MAGIC, MAP, NIL, NUMBER, TEXT, start};
use serde_json::Value;
use std::collections::HashMap;

/// Encodes `value` as a blob.
///
/// Numbers must be integers below 2^29; strings, lists and maps are limited only by their offsets (512 MiB in total).
///
/// # Errors
/// A number out of range, or a blob that would be too large.
pub fn encode(value: &Value) -> Result<Vec<u8>, EncodeError> {
    encode_apart(value, &[])
}

/// Like [`encode`], but stores the texts under the map keys `seldom` in a separate part, so that rarely read data does
/// not share pages with data that every call reads.
///
/// # Errors
/// Like [`encode`].
pub(super) fn encode_apart(value: &Value, seldom: &[&str]) -> Result<Vec<u8>, EncodeError> {
    let mut writer = Writer { bytes: MAGIC.to_vec(), known: HashMap::new() };
    writer.bytes.extend([0; 4]);
    writer.texts_under(value, seldom);
    let root = writer.node(value)?;
    if writer.bytes.len() >= 1 << 29 {
        return Err(EncodeError::TooLarge);
    }
    if let Some(place) = writer.bytes.get_mut(8..12) {
        place.copy_from_slice(&root.to_le_bytes());
    }
    Ok(writer.bytes)
}

struct Writer {
    bytes: Vec<u8>,
    known: HashMap<Vec<u8>, u32>,
}

impl Writer {
    /// Writes the texts directly under one of these keys; later references to equal texts reuse them.
    fn texts_under(&mut self, value: &Value, keys: &[&str]) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    if let (Value::String(text), true) = (value, keys.contains(&key.as_str())) {
                        self.text(text);
                    } else {
                        self.texts_under(value, keys);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.texts_under(item, keys)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn node(&mut self, value: &Value) -> Result<u32, EncodeError> {
        Ok(match value {
            Value::Null => NIL,
            Value::Bool(flag) => u32::from(*flag) << 3 | BOOL,
            Value::Number(number) => number_word(number)?,
            Value::String(text) => self.text(text) << 3 | TEXT,
            Value::Array(items) => self.list(items)? << 3 | LIST,
            Value::Object(map) => self.map(map)? << 3 | MAP,
        })
    }

    fn text(&mut self, text: &str) -> u32 {
        let mut record = length(text.len());
        record.extend_from_slice(text.as_bytes());
        record.resize(record.len().next_multiple_of(4), 0);
        self.record(record)
    }

    fn list(&mut self, items: &[Value]) -> Result<u32, EncodeError> {
        let mut record = length(items.len());
        for item in items {
            record.extend(self.node(item)?.to_le_bytes());
        }
        Ok(self.record(record))
    }

    fn map(&mut self, map: &serde_json::Map<String, Value>) -> Result<u32, EncodeError> {
        let mut entries: Vec<_> = map.iter().collect();
        entries.sort_by_key(|(key, _)| key.as_bytes());
        let mut record = length(entries.len());
        for (key, _) in &entries {
            record.extend(start(key.as_bytes()).to_le_bytes());
        }
        for (key, value) in entries {
            let key = self.text(key);
            record.extend(key.to_le_bytes());
            record.extend(self.node(value)?.to_le_bytes());
        }
        Ok(self.record(record))
    }

    fn record(&mut self, record: Vec<u8>) -> u32 {
        if let Some(offset) = self.known.get(&record) {
            return *offset;
        }
        let offset = self.bytes.len() as u32;
        self.bytes.extend_from_slice(&record);
        self.known.insert(record, offset);
        offset
    }
}

fn length(count: usize) -> Vec<u8> {
    (count as u32).to_le_bytes().to_vec()
}

fn number_word(number: &serde_json::Number) -> Result<u32, EncodeError> {
    match number.as_u64() {
        Some(small) if small < 1 << 29 => Ok((small as u32) << 3 | NUMBER),
        _ => Err(EncodeError::Number(number.clone())),
    }
}
