//! Problems in a file: their place, and a suggestion.

use std::fmt;
use std::ops::Range;

/// The level of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The file is in force, but a part of it has no effect or is misleading.
    Warning,
    /// The rule or the file is not in force.
    Error,
}

/// A problem in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its level.
    pub level: Level,
    /// The file's name as given by the caller.
    pub file: String,
    /// The byte range in the file.
    pub span: Range<usize>,
    /// Line and column of its start, from 1.
    pub place: (usize, usize),
    /// The description of the problem.
    pub message: String,
    /// The remedy; empty if unknown.
    pub help: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { file, place: (line, column), message, help, .. } = self;
        write!(f, "{file}:{line}:{column}: {message}")?;
        if help.is_empty() { Ok(()) } else { write!(f, ", {help}") }
    }
}

/// Collects the problems of one file.
#[derive(Debug)]
pub struct Problems<'t> {
    file: &'t str,
    text: &'t str,
    /// The problems in the order of detection.
    pub found: Vec<Problem>,
}

impl<'t> Problems<'t> {
    /// An empty collection for this file.
    pub fn new(file: &'t str, text: &'t str) -> Problems<'t> {
        Problems { file, text, found: Vec::new() }
    }

    /// Adds an error: the rule or file is not in force.
    pub fn error(&mut self, span: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.add(Level::Error, span, message.into(), help.into());
    }

    /// Adds a warning: the rule or file is in force, but suspicious.
    pub fn warning(&mut self, span: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.add(Level::Warning, span, message.into(), help.into());
    }

    fn add(&mut self, level: Level, span: &Range<usize>, message: String, help: String) {
        let place = place(self.text, span.start);
        self.found.push(Problem { level, file: self.file.into(), span: span.clone(), place, message, help });
    }

    /// Adds a problem for an unknown word, with the nearest known word.
    pub fn unknown(&mut self, level: Level, span: &Range<usize>, (what, word): (&str, &str), known: &[&str]) {
        let help = match nearest(word, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        self.add(level, span, format!("unknown {what} `{word}`"), help);
    }

    /// The place as `file:line`.
    pub fn at(&self, span: &Range<usize>) -> String {
        format!("{}:{}", self.file, place(self.text, span.start).0)
    }

    /// The errors so far.
    pub fn errors(&self) -> usize {
        self.found.iter().filter(|problem| problem.level == Level::Error).count()
    }
}

/// Line and column from 1. Columns count characters.
fn place(text: &str, at: usize) -> (usize, usize) {
    let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let before = text.get(..at).unwrap_or("");
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

/// Maximum number of characters of a word that are compared.
const MAX_CHARACTERS: usize = 64;

/// The known word that is most similar to this one, if any is similar enough.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    // No known word is longer, so the comparison of a longer one can be cut.
    let plain = |text: &str| -> String {
        text.to_lowercase().chars().filter(|ch| !['-', '_', ' '].contains(ch)).take(MAX_CHARACTERS).collect()
    };
    let wanted = plain(word);
    let ranked = known.iter().map(|name| (strsim::osa_distance(&wanted, &plain(name)), *name));
    let (away, name) = ranked.min_by_key(|(away, _)| *away)?;
    (away <= wanted.chars().count().max(3) / 3).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_probably_meant_is_found() {
        let check = |word, expected| {
            assert_eq!(nearest(word, &["conditions", "severity", "starts_with", "events"]), expected, "{word}");
        };
        check("condition", Some("conditions"));
        check("starts-with", Some("starts_with"));
        check("sevreity", Some("severity"));
        check("colour", None);
    }

    #[test]
    fn places_count_characters() {
        let mut problems = Problems::new("a.yaml", "é: 1\nb: é x\n");
        problems.error(&(12..13), "x", "");
        assert_eq!(problems.found[0].place, (2, 6));
    }
}
