//! What is wrong with a file, where, and what was probably meant.

use std::fmt;
use std::ops::Range;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The file is in force; something in it has no effect or is not what it looks like.
    Warning,
    /// The rule or the file is not in force.
    Error,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// How bad.
    pub level: Level,
    /// The file as it was named to us.
    pub file: String,
    /// The bytes of the file that are meant.
    pub span: Range<usize>,
    /// Line and column of their begin, from 1.
    pub place: (usize, usize),
    /// What is wrong, in our words.
    pub message: String,
    /// What to write instead; empty if nothing is known.
    pub help: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { file, place: (line, column), message, help, .. } = self;
        write!(f, "{file}:{line}:{column}: {message}")?;
        if help.is_empty() { Ok(()) } else { write!(f, ", {help}") }
    }
}

/// Collects what is wrong with one file.
#[derive(Debug)]
pub struct Problems<'t> {
    file: &'t str,
    text: &'t str,
    /// In the order in which they were found.
    pub found: Vec<Problem>,
}

impl<'t> Problems<'t> {
    /// None yet, of this file.
    pub fn new(file: &'t str, text: &'t str) -> Problems<'t> {
        Problems { file, text, found: Vec::new() }
    }

    /// The rule or file is not in force.
    pub fn error(&mut self, span: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.add(Level::Error, span, message.into(), help.into());
    }

    /// It is in force, and yet something is odd.
    pub fn warning(&mut self, span: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.add(Level::Warning, span, message.into(), help.into());
    }

    fn add(&mut self, level: Level, span: &Range<usize>, message: String, help: String) {
        let place = place(self.text, span.start);
        self.found.push(Problem { level, file: self.file.into(), span: span.clone(), place, message, help });
    }

    /// A word that is none of those that are known.
    pub fn unknown(&mut self, level: Level, span: &Range<usize>, (what, word): (&str, &str), known: &[&str]) {
        let help = match nearest(word, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        self.add(level, span, format!("unknown {what} `{word}`"), help);
    }

    /// `file:line` of a place.
    pub fn at(&self, span: &Range<usize>) -> String {
        format!("{}:{}", self.file, place(self.text, span.start).0)
    }

    /// The errors so far.
    pub fn errors(&self) -> usize {
        self.found.iter().filter(|problem| problem.level == Level::Error).count()
    }
}

/// Line and column from 1; columns count letters.
fn place(text: &str, at: usize) -> (usize, usize) {
    let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let before = text.get(..at).unwrap_or("");
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

/// So many letters of a word are compared with those of others.
const MAX_LETTERS: usize = 64;

/// The known word that is most like this one, if one is like it at all.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    // No known word is longer; a longer one is not compared letter by letter.
    let plain = |text: &str| -> String {
        text.to_lowercase().chars().filter(|letter| !['-', '_', ' '].contains(letter)).take(MAX_LETTERS).collect()
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
    fn places_count_letters() {
        let mut problems = Problems::new("a.yaml", "é: 1\nb: é x\n");
        problems.error(&(12..13), "x", "");
        assert_eq!(problems.found[0].place, (2, 6));
    }
}
