//! YAML values with source positions.

use crate::problem::Problems;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use std::fmt;
use std::ops::Range;

/// A value and its byte range in the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Located {
    pub(crate) value: Yaml,
    pub(crate) span: Range<usize>,
}

/// A value. Scalars other than strings keep their spelling.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Yaml {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Located>),
    Map(Vec<(Key, Located)>),
}

/// A key and its byte range.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

/// Parses all documents of a text, without empty ones. Invalid YAML is reported.
pub(crate) fn documents(text: &str, problems: &mut Problems<'_>) -> Vec<Located> {
    // A low limit stops an alias bomb early: people's files are small.
    let budget = serde_saphyr::budget! { max_events: 200_000, max_aliases: 1_000, max_depth: 64, max_nodes: 100_000 };
    // Only `true` and `false` are booleans: `no` as a pattern is a string.
    let options = serde_saphyr::options! { budget: budget, with_snippet: false, strict_booleans: true };
    match serde_saphyr::from_multiple_with_options::<Spanned<Raw>>(text, options) {
        Ok(all) => {
            let all = all.into_iter().map(|one| located(one, text));
            all.filter(|one| one.value != Yaml::Null).collect()
        }
        Err(error) => {
            let at = error
                .location()
                .map_or(0, |location| offset(text, location.line() as usize, location.column() as usize));
            let message = error.to_string();
            let message = message.lines().next().unwrap_or("syntax error");
            let message = match message {
                _ if message.contains("udget") => "it expands beyond the size limit",
                _ if message.contains("DuplicateKey") => "duplicate key",
                _ => message.rsplit_once(": ").map_or(message, |(_, rest)| rest),
            };
            problems.error(&(at..at + 1), format!("this is not YAML: {message}"), "");
            Vec::new()
        }
    }
}

/// Converts line and column, from 1, to a byte offset.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = text.get(before..).unwrap_or("");
    before + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at)
}

enum Raw {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

fn located(raw: Spanned<Raw>, text: &str) -> Located {
    let mut span = bytes(&raw.referenced, text);
    let value = match raw.value {
        Raw::Null => Yaml::Null,
        Raw::Bool(flag) => Yaml::Bool(flag),
        Raw::Number(number) => Yaml::Number(spelled(text, &span, number)),
        Raw::Text(text) => Yaml::Text(text),
        Raw::List(items) => {
            let items: Vec<Located> = items.into_iter().map(|item| located(item, text)).collect();
            span.end = items.last().map_or(span.end, |last| last.span.end.max(span.end));
            Yaml::List(items)
        }
        Raw::Map(entries) => {
            let entry = |(key, value): (Spanned<String>, Spanned<Raw>)| {
                (Key { span: bytes(&key.referenced, text), text: key.value }, located(value, text))
            };
            let entries: Vec<(Key, Located)> = entries.into_iter().map(entry).collect();
            span.end = entries.last().map_or(span.end, |(_, last)| last.span.end.max(span.end));
            Yaml::Map(entries)
        }
    };
    Located { value, span }
}

/// A number in its original spelling: `1.10` must not become `1.1` if a string is expected.
fn spelled(text: &str, span: &Range<usize>, number: String) -> String {
    let written = text.get(span.clone()).unwrap_or("").trim();
    let is_same = matches!((written.parse::<f64>(), number.parse::<f64>()), (Ok(one), Ok(other)) if one == other);
    if is_same { written.to_owned() } else { number }
}

fn bytes(location: &serde_saphyr::Location, text: &str) -> Range<usize> {
    let span = location.span();
    let known = span.byte_offset().zip(span.byte_len());
    let (start, length) = match known {
        Some((start, length)) => (start as usize, length as usize),
        None => (offset(text, location.line() as usize, location.column() as usize), span.len() as usize),
    };
    start.min(text.len())..(start + length).min(text.len())
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Raw;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_unit<E>(self) -> Result<Raw, E> {
                Ok(Raw::Null)
            }
            fn visit_none<E>(self) -> Result<Raw, E> {
                Ok(Raw::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
                Ok(Raw::Bool(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
                Ok(Raw::Number(value.to_string()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
                Ok(Raw::Number(value.to_string()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
                Ok(Raw::Number(value.to_string()))
            }
            fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
                Ok(Raw::Text(value.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Raw::List(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
                let mut map = Vec::new();
                while let Some(entry) = entries.next_entry()? {
                    map.push(entry);
                }
                Ok(Raw::Map(map))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Located {
    /// The text of a scalar.
    pub(crate) fn text(&self) -> Option<String> {
        match &self.value {
            Yaml::Text(text) | Yaml::Number(text) => Some(text.clone()),
            Yaml::Bool(flag) => Some(flag.to_string()),
            Yaml::Null => Some(String::new()),
            Yaml::List(_) | Yaml::Map(_) => None,
        }
    }

    /// The texts of a list of scalars, with their byte ranges. A single scalar is a list of one.
    pub(crate) fn texts(&self) -> Option<Vec<(String, Range<usize>)>> {
        match &self.value {
            Yaml::List(items) => items.iter().map(|item| Some((item.text()?, item.span.clone()))).collect(),
            Yaml::Null => Some(Vec::new()),
            Yaml::Text(_) | Yaml::Number(_) | Yaml::Bool(_) | Yaml::Map(_) => {
                Some(vec![(self.text()?, self.span.clone())])
            }
        }
    }

    /// The entries of a map.
    pub(crate) fn entries(&self) -> Option<&[(Key, Located)]> {
        match &self.value {
            Yaml::Map(entries) => Some(entries),
            Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) | Yaml::Text(_) | Yaml::List(_) => None,
        }
    }

    /// The items of a list. Any other value is a list of one.
    pub(crate) fn items(&self) -> &[Located] {
        match &self.value {
            Yaml::List(items) => items,
            Yaml::Null => &[],
            Yaml::Bool(_) | Yaml::Number(_) | Yaml::Text(_) | Yaml::Map(_) => std::slice::from_ref(self),
        }
    }

    /// The value as JSON, for examples that are events.
    pub(crate) fn json(&self) -> serde_json::Value {
        match &self.value {
            Yaml::Null => serde_json::Value::Null,
            Yaml::Bool(flag) => (*flag).into(),
            Yaml::Number(number) => as_json(number),
            Yaml::Text(text) => text.as_str().into(),
            Yaml::List(items) => items.iter().map(Located::json).collect(),
            Yaml::Map(entries) => entries.iter().map(|(key, value)| (key.text.clone(), value.json())).collect(),
        }
    }
}

/// Converts a number to JSON, which does not allow every spelling of YAML.
fn as_json(number: &str) -> serde_json::Value {
    let read = serde_json::from_str(number).ok().or_else(|| number.parse::<i64>().ok().map(Into::into));
    read.or_else(|| number.parse::<f64>().ok().map(Into::into)).unwrap_or_else(|| number.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, text: &str, json: serde_json::Value) {
        let file = format!("a: {written}\n");
        let mut problems = Problems::new("a.yaml", &file);
        let read = documents(&file, &mut problems);
        let (_, value) = &read[0].entries().unwrap()[0];
        assert_eq!((value.text().as_deref(), value.json()), (Some(text), json), "{written}");
    }

    #[test]
    fn words_are_the_texts_that_they_are() {
        for word in ["yes", "no", "on", "off", "y", "n", "Yes", "OFF"] {
            check(word, word, word.into());
        }
        check("true", "true", true.into());
        check("False", "false", false.into());
    }

    #[test]
    fn numbers_keep_their_spelling() {
        check("1.10", "1.10", 1.1.into());
        check("007", "007", 7.into());
        check("-3", "-3", (-3).into());
        check("1e3", "1e3", 1000.0.into());
        check("0x10", "16", 16.into());
        check("'1.10'", "1.10", "1.10".into());
        check("1.2.3", "1.2.3", "1.2.3".into());
    }
}
