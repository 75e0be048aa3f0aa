//! Searches the audit log by words of people, and explains why a search cannot match.

use crate::commands::history::record::{Record, decision, logged, searched};
use crate::commands::setup::mode;
use crate::terminal::visible::visible;
use reflex_agents::AGENTS;
use reflex_host::rules::{nearest, renamed};
use reflex_host::store::{Log, Search, Test};
use serde_json::Value;
use std::{fmt, io};

/// Fields by which people search. The log has more, which match as well once a record has them.
const FIELDS: [&str; 26] = [
    "agent",
    "answered",
    "by",
    "category",
    "cwd",
    "decision",
    "detector",
    "grant",
    "id",
    "judge",
    "kept",
    "kind",
    "mode",
    "moment",
    "of",
    "pending",
    "policy",
    "risk",
    "session",
    "severity",
    "slow",
    "task",
    "tier",
    "tool",
    "unjudged",
    "workspace",
];

/// Fields whose values are known, with these values. The log may have further ones.
const VALUES: [(&str, &[&str]); 7] = [
    ("decision", &["block", "ask", "warn", "keep", "allow"]),
    (
        "kind",
        &[
            "call",
            "changes",
            "outcome",
            "approval",
            "denial",
            "revocation",
            "appeal",
            "attempt",
            "alarm",
            "allowance",
            "mode",
            "off",
            "on",
            "pin",
            "task-start",
            "task-end",
            "trust",
            "undo",
            "uninstall",
            "verification",
            "verify-live",
        ],
    ),
    ("risk", &["critical", "high", "medium", "low", "none"]),
    ("severity", &["critical", "high", "medium", "low", "info"]),
    ("tier", &["core", "recommended", "custom"]),
    ("slow", &["true"]),
    ("unjudged", &["true"]),
];

/// The words of a search, with the range of time.
pub(in crate::commands) struct Words<'w> {
    /// Each is a text, or `field=value`.
    pub(in crate::commands) words: &'w [String],
    /// Earliest time.
    pub(in crate::commands) since: Option<String>,
    /// Latest time.
    pub(in crate::commands) until: Option<String>,
}

/// The reason why a search has no result, other than that no record matches.
#[derive(Debug)]
pub(in crate::commands) enum SearchError {
    /// No record has such a field.
    UnknownField(String),
    /// No record has this value in a field whose values are known.
    UnknownValue { field: String, value: String, known: Vec<&'static str> },
    /// The log cannot be read.
    Unreadable(io::Error),
}

impl From<io::Error> for SearchError {
    fn from(error: io::Error) -> SearchError {
        SearchError::Unreadable(error)
    }
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchError::UnknownField(field) => {
                let near = suggestion(field, &FIELDS);
                write!(f, "unknown field `{}`{near}; known: {}", visible(field), FIELDS.join(", "))
            }
            SearchError::UnknownValue { field, value, known } => {
                let near = suggestion(value, known);
                write!(f, "unknown {field} `{}`{near}; known: {}", visible(value), known.join(", "))
            }
            SearchError::Unreadable(error) => write!(f, "the audit log: {error}"),
        }
    }
}

fn suggestion(word: &str, known: &[&str]) -> String {
    nearest(word, known).map_or(String::new(), |near| format!(", did you mean `{near}`?"))
}

/// Returns the newest records that contain all these words, oldest first.
///
/// # Errors
/// Nothing can match, because a field or a value is unknown; or the log cannot be read.
pub(in crate::commands) fn found(log: &Log, words: Words<'_>, limit: usize) -> Result<Vec<Record>, SearchError> {
    let (mut search, mut decisions) = (Search { since: words.since, until: words.until, ..Search::default() }, None);
    for word in words.words {
        match field_and_value(word) {
            Some(("decision", value)) => decisions = Some((searched(value), value)),
            Some((field, value)) => search.fields.push((field.into(), value.into())),
            None => search.texts.push(word.clone()),
        }
    }
    let found = match decisions {
        None => {
            let mut found = newest(log, &search, limit, None)?;
            found.retain(mode::may_be_read);
            found
        }
        Some((decisions, written)) => {
            // No record has an unknown decision. Of a record that holds the word, the test decides where it counts.
            let Some(word) = logged(decisions) else { return Err(unknown_value("decision", written)) };
            let mut search = search.clone();
            search.fields.push(("decision".into(), word.into()));
            let test = |record: &Record| decisions.contains(&decision(record)) && mode::may_be_read(record);
            newest(log, &search, limit, Some(&test))?
        }
    };
    if found.is_empty() {
        is_known(log, &search)?;
    }
    Ok(found)
}

/// Splits `field=value`; `None` for a text.
fn field_and_value(word: &str) -> Option<(&str, &str)> {
    let (field, value) = word.split_once('=')?;
    let is_field = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_field.then_some((field, value))
}

/// Checks that the fields and values of a search without a result exist at all.
fn is_known(log: &Log, search: &Search) -> Result<(), SearchError> {
    for (field, value) in &search.fields {
        if !FIELDS.contains(&field.as_str()) && !has(log, Search { keys: vec![field.clone()], ..Search::default() })? {
            return Err(SearchError::UnknownField(field.clone()));
        }
        let known = values(field);
        let of_value = || Search { fields: vec![(field.clone(), value.clone())], ..Search::default() };
        if !known.is_empty() && !known.contains(&value.as_str()) && !has(log, of_value())? {
            return Err(unknown_value(field, value));
        }
    }
    Ok(())
}

/// Whether a record matches that the reader may see.
fn has(log: &Log, search: Search) -> io::Result<bool> {
    Ok(!log.search_for(&search, 1, Some(&mode::may_be_read))?.is_empty())
}

fn unknown_value(field: &str, value: &str) -> SearchError {
    SearchError::UnknownValue { field: field.to_owned(), value: value.to_owned(), known: values(field) }
}

/// Returns the known values of a field; empty if it may have any.
fn values(field: &str) -> Vec<&'static str> {
    if field == "agent" {
        return AGENTS.iter().map(|agent| agent.name).collect();
    }
    VALUES.iter().find(|(name, _)| *name == field).map_or_else(Vec::new, |(_, values)| values.to_vec())
}

/// Returns the newest records that match the words as written, or as former and current names of rules and effects.
fn newest(log: &Log, search: &Search, limit: usize, test: Option<&Test<'_>>) -> io::Result<Vec<Record>> {
    let mut found = log.search_for(search, limit, test)?;
    let Some(other) = otherwise(search) else { return Ok(found) };
    found.extend(log.search_for(&other, limit, test)?);
    let number = |record: &Record| record.get("seq").and_then(Value::as_u64);
    found.sort_by_key(number);
    found.dedup();
    found.drain(..found.len().saturating_sub(limit));
    Ok(found)
}

/// Returns the same search with the other names of its rules.
fn otherwise(search: &Search) -> Option<Search> {
    let mut other = search.clone();
    let words = other.fields.iter_mut().map(|(_, value)| value).chain(&mut other.texts);
    let mut is_other = false;
    for word in words {
        let name = renamed::renamed(&renamed::RULES, word).or_else(|| renamed::formerly(&renamed::RULES, word));
        if let Some(name) = name {
            (*word, is_other) = (name.to_owned(), true);
        }
    }
    is_other.then_some(other)
}
