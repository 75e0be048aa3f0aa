//! Errors with a stable code, and the place in a file where there is one.

use reflex_rules::{Level, Problem};
use std::fmt;

/// The kind of an error. Its name is the `code` of the exception and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// An argument has the wrong form.
    InvalidArgument,
    /// A rule or a file of rules is invalid.
    InvalidRule,
}

impl Code {
    /// The name in exceptions: `ERR_INVALID_RULE`, …
    pub fn name(self) -> &'static str {
        match self {
            Code::InvalidArgument => "ERR_INVALID_ARGUMENT",
            Code::InvalidRule => "ERR_INVALID_RULE",
        }
    }
}

/// An error of the rule engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The kind.
    pub code: Code,
    /// The description, with the remedy if known.
    pub message: String,
    /// The file; `None` unless a file is invalid.
    pub file: Option<String>,
    /// The line in the file, from 1.
    pub line: Option<usize>,
}

impl Error {
    pub(crate) fn new(code: Code, message: String) -> Error {
        Error { code, message, file: None, line: None }
    }

    pub(crate) fn rule(message: String) -> Error {
        Error::new(Code::InvalidRule, message)
    }

    pub(crate) fn json(name: &str, error: &serde_json::Error) -> Error {
        Error::new(Code::InvalidArgument, format!("`{name}` is not valid JSON: {error}"))
    }

    /// The first error of a file. The message contains all of them, one per line.
    pub(crate) fn problems(problems: &[Problem]) -> Error {
        let errors = || problems.iter().filter(|problem| problem.level == Level::Error);
        let lines: Vec<String> = errors().map(Problem::to_string).collect();
        let first = errors().next();
        Error {
            code: Code::InvalidRule,
            message: lines.join("\n"),
            file: first.map(|problem| problem.file.clone()),
            line: first.map(|problem| problem.place.0),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
