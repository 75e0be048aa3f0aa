//! Parsing of untrusted JSON: limits, leniency where it is safe, and errors that name the field.

use reflex_engine::{Moment, parse_json};
use serde_json::{Map, Value};
use std::fmt;

/// The error for a payload that is not a valid event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadEvent {
    /// The missing or invalid field; empty if the payload cannot be parsed at all.
    pub field: String,
    /// Description of the problem, to follow the field's name.
    pub problem: String,
    /// The moment, if it could be read.
    pub moment: Option<Moment>,
}

impl fmt::Display for BadEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            write!(f, "{}", self.problem)
        } else {
            write!(f, "`{}` {}", self.field, self.problem)
        }
    }
}

impl std::error::Error for BadEvent {}

impl BadEvent {
    pub(crate) fn new(field: &str, problem: impl Into<String>) -> BadEvent {
        BadEvent { field: field.into(), problem: problem.into(), moment: None }
    }
}

/// Parses an object of any depth. Byte-order marks are skipped; lone surrogates become U+FFFD.
///
/// # Errors
/// Returns an error if the bytes are empty, not UTF-8, not JSON, or not an object.
pub fn object(bytes: &[u8]) -> Result<Map<String, Value>, BadEvent> {
    let mut bytes = bytes;
    // Each program that passes a text on may have added one.
    while let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        bytes = rest;
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(BadEvent::new("", "the input is empty"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| BadEvent::new("", "the input is not UTF-8"))?;
    let value = parse_json(text).or_else(|error| {
        let mended = without_lone_surrogates(text);
        if mended == text { Err(error) } else { parse_json(&mended) }
    });
    match value {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(BadEvent::new("", "the input is JSON but no object")),
        Err(error) => Err(BadEvent::new("", format!("the input is not JSON: {error}"))),
    }
}

/// Replaces escaped lone surrogates by U+FFFD. JavaScript writes them, and other JSON parsers reject them.
fn without_lone_surrogates(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let unit = surrogate(escape);
        let pair = unit.is_some_and(|unit| unit < 0xdc00)
            && surrogate(escape.get(6..).unwrap_or("")).is_some_and(|low| low >= 0xdc00);
        let (taken, kept) = match unit {
            Some(_) if pair => (12, escape.get(..12).unwrap_or("")),
            Some(_) => (6, "\\ufffd"),
            None => (2.min(escape.len()), escape.get(..2).unwrap_or(escape)),
        };
        mended.push_str(kept);
        rest = escape.get(taken..).unwrap_or("");
    }
    mended.push_str(rest);
    mended
}

fn surrogate(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok().filter(|unit| (0xd800..=0xdfff).contains(unit))
}

/// Returns a required string.
pub(crate) fn required<'a>(object: &'a Map<String, Value>, field: &str) -> Result<&'a str, BadEvent> {
    optional(object, field)?.ok_or_else(|| BadEvent::new(field, "is missing"))
}

/// Returns a string that may be absent or null.
pub(crate) fn optional<'a>(object: &'a Map<String, Value>, field: &str) -> Result<Option<&'a str>, BadEvent> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(BadEvent::new(field, "is not a text")),
    }
}

/// Returns a list of strings, or a single string as a list; empty if the field is absent.
pub(crate) fn texts(object: &Map<String, Value>, field: &str) -> Result<Vec<String>, BadEvent> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text.clone()]),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| {
                item.as_str().map(str::to_owned).ok_or_else(|| BadEvent::new(field, "holds something else than texts"))
            })
            .collect(),
        Some(_) => Err(BadEvent::new(field, "is neither a text nor a list of texts")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_mended_and_pairs_kept() {
        let object = object(br#"{"a":"x\ud83dy","b":"\ud83d\ude00","c":"\\ud83d"}"#).unwrap();
        assert_eq!(object["a"], "x\u{fffd}y");
        assert_eq!(object["b"], "\u{1f600}");
        assert_eq!(object["c"], "\\ud83d");
    }

    #[test]
    fn what_is_no_object_says_so() {
        let problem = |bytes: &[u8]| object(bytes).unwrap_err().to_string();
        assert_eq!(problem(b" \n"), "the input is empty");
        assert_eq!(problem(b"\xff{}"), "the input is not UTF-8");
        assert_eq!(problem(b"[]"), "the input is JSON but no object");
        assert!(problem(b"{\"a\":").starts_with("the input is not JSON"));
        assert!(object(b"\xef\xbb\xbf\xef\xbb\xbf{}").is_ok());
    }
}
