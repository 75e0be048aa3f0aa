//! Expansion of a word: parameters, substitutions, braces and field splitting.

use super::braces::{MAX_BRACE_WORDS, MAX_BRACES, braces, grown};
use super::fields::{Raw, number, push_value, split, trim_newlines, unsplit};
use crate::interpret::interpreter::Interpreter;
use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::syntax::parser::Placement;
use crate::syntax::tree::{Part, Word};
use crate::text_tools::patterns::Pattern;
use reflex_work as work;
use std::borrow::Cow;

/// The field separators of a text that does not set `IFS`.
const BLANKS: &str = " \t\n";

impl Interpreter<'_> {
    /// Returns the values that a word expands to: zero, one or many.
    pub(crate) fn expand(&mut self, word: &Word) -> Vec<Value> {
        if !has_braces(word) {
            return self.expand_parts(&word.parts);
        }
        match self.alternatives(word) {
            Some(alternatives) => alternatives.iter().flat_map(|word| self.expand_parts(&word.parts)).collect(),
            None => vec![Value::piece(Piece::Unknown(UnknownReason::Limit), word.origin)],
        }
    }

    /// Returns the values of an assigned word, which is not split: several if it is an operand of `export` or `declare`
    /// with braces, as bash makes an assignment of each alternative.
    pub(crate) fn expand_assigned(&mut self, word: &Word) -> Vec<Value> {
        if !has_braces(word) {
            return vec![self.expand_fully(word)];
        }
        match self.alternatives(word) {
            Some(alternatives) => alternatives.iter().map(|word| self.expand_fully(word)).collect(),
            None => vec![Value::piece(Piece::Unknown(UnknownReason::Limit), word.origin)],
        }
    }

    /// Returns the words to which the braces of a word expand. Above a limit, adds a gap and returns `None`.
    fn alternatives(&mut self, word: &Word) -> Option<Vec<Word>> {
        let opened = word.parts.iter().filter(|part| matches!(part, Part::Brace { mark: '{', .. })).count();
        let alternatives = if opened > MAX_BRACES { Vec::new() } else { braces(&word.parts) };
        let has_room = work::spend(alternatives.len() as u64 * 2);
        if opened > MAX_BRACES || alternatives.len() > MAX_BRACE_WORDS || !has_room {
            self.gap(word.origin, UnknownReason::Limit);
            return None;
        }
        let words = alternatives.into_iter().map(|parts| Word { parts: grown(parts), origin: word.origin });
        Some(words.collect())
    }

    /// Returns the values of all words of a command.
    pub(crate) fn expand_all(&mut self, words: &[Word]) -> Vec<Value> {
        let mut values = Vec::with_capacity(words.len());
        for word in words {
            match self.plain(word) {
                Some(value) => values.push(value),
                None => values.extend(self.expand(word)),
            }
        }
        values
    }

    /// Returns the value of a word that consists only of text.
    fn plain(&self, word: &Word) -> Option<Value> {
        match word.parts.as_slice() {
            [Part::Text { text, .. }] if text.is_empty() => Some(Value::default()),
            [Part::Text { text, origin, .. }] if self.holes.is_empty() => Some(Value::text(text.as_str(), *origin)),
            _ => None,
        }
    }

    fn expand_parts(&mut self, parts: &[Part]) -> Vec<Value> {
        let raw = self.raw(parts);
        match self.known_separators() {
            Some(separators) => split(raw, &separators),
            None => split(raw.into_iter().map(unsplit).collect(), ""),
        }
    }

    /// Returns the value of a word that is not split: in an assignment, a redirection, `case`.
    pub(crate) fn expand_fully(&mut self, word: &Word) -> Value {
        let mut value = Value::default();
        for raw in self.raw(&word.parts) {
            match raw {
                Raw::Piece { piece: Piece::Text(text), origin, .. } => value.push_text(&text, origin),
                Raw::Piece { piece, origin, .. } => value.push_piece(piece, origin),
                Raw::Break => value.push_text(" ", word.origin),
            }
        }
        value
    }

    pub(crate) fn separators(&self) -> String {
        self.known_separators().map_or_else(|| BLANKS.into(), Cow::into_owned)
    }

    /// Returns the separators in `IFS`; `None` if they are unknown, and with them the words that splitting produces.
    fn known_separators(&self) -> Option<Cow<'_, str>> {
        match self.state.variable("IFS") {
            Some([value]) => value.literal(),
            _ => Some(Cow::Borrowed(BLANKS)),
        }
    }

    fn raw(&mut self, parts: &[Part]) -> Vec<Raw> {
        let mut raw = Vec::with_capacity(parts.len());
        for part in parts {
            self.raw_part(part, &mut raw);
        }
        raw
    }

    pub(super) fn raw_part(&mut self, part: &Part, raw: &mut Vec<Raw>) {
        let unsplit = |piece: Piece, origin: Origin| Raw::Piece { piece, origin, splits: false };
        match part {
            Part::Text { text, origin, .. } => push_value(raw, self.with_holes(text, *origin), false),
            Part::Glob { text, origin } if text.contains('(') => {
                // The files that it matches are not evaluated, but the substitutions inside run.
                if text.contains(['$', '`']) {
                    let parts = self.parse(text, Placement::From(*origin), |parser| parser.heredoc_parts());
                    let _ = self.raw(&parts);
                }
                raw.push(unsplit(Piece::Glob("*".into()), *origin));
            }
            Part::Glob { text, origin } => raw.push(unsplit(Piece::Glob(text.clone()), *origin)),
            Part::Tilde { user, origin } => push_value(raw, self.home(user, *origin), false),
            Part::Brace { mark, origin } => raw.push(unsplit(Piece::Text(mark.to_string()), *origin)),
            Part::Unknown { origin, why } => raw.push(unsplit(Piece::Unknown(*why), *origin)),
            Part::Arithmetic { parts, origin } => {
                let word = Word { parts: parts.clone(), origin: *origin };
                let result = self.arithmetic_word(&word);
                raw.push(unsplit(result.map_or_else(number, |result| Piece::Text(result.to_string())), *origin));
            }
            Part::Output { script, quoted, origin } => {
                let printed = self.substitute(script, *origin);
                push_value(raw, trim_newlines(printed), !quoted);
            }
            Part::Process { script, writes, origin } => {
                let piece = self.process(script, *writes, *origin);
                raw.push(unsplit(piece, *origin));
            }
            Part::Parameter { parameter, quoted, origin } => self.raw_parameter(parameter, *quoted, *origin, raw),
        }
    }

    fn home(&self, user: &str, origin: Origin) -> Value {
        match user {
            "+" => self.state.folder_value(origin),
            "-" => self
                .state
                .folders
                .value_before(origin)
                .unwrap_or_else(|| Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin)),
            "" => match self.state.variable("HOME") {
                Some([home]) => home.clone(),
                _ => Value::piece(Piece::Home(String::new()), origin),
            },
            user => Value::piece(Piece::Home(user.into()), origin),
        }
    }

    /// Returns a word as a pattern; `None` if it is unknown.
    pub(crate) fn pattern(&mut self, word: &Word) -> Option<Pattern> {
        let mut value = Value::default();
        let mut known = true;
        for part in &word.parts {
            if let Part::Glob { text, origin } = part {
                let expands = text.contains(['$', '`', '\'', '"']);
                known &= !expands;
                if expands {
                    self.raw_part(part, &mut Vec::new());
                }
                value.pieces.push((Piece::Glob(text.clone()), *origin));
                continue;
            }
            let mut raw = Vec::new();
            self.raw_part(part, &mut raw);
            let patterns = |piece: Raw| match piece {
                // Unquoted text may contain patterns.
                Raw::Piece { piece: Piece::Text(text), origin, splits: true } => (Piece::Glob(text), origin),
                Raw::Piece { piece, origin, .. } => (piece, origin),
                Raw::Break => (Piece::Text(" ".into()), word.origin),
            };
            value.pieces.extend(raw.into_iter().map(patterns));
        }
        Pattern::from_value(&value).filter(|_| known)
    }
}

fn has_braces(word: &Word) -> bool {
    word.parts.iter().any(|part| matches!(part, Part::Brace { .. }))
}
