//! What a word becomes: parameters, substitutions, braces and splitting.

use crate::interpret::interpreter::Interpreter;
use crate::model::value::{Origin, Piece, Value, Why};
use crate::model::work;
use crate::syntax::parser::Placement;
use crate::syntax::tree::{Part, Word};
use crate::text_tools::patterns::Pattern;
use braces::{MAX_BRACE_WORDS, MAX_BRACES, braces, grown};

use std::borrow::Cow;

mod braces;
mod operators;
mod parameters;

/// What parts words where the text does not set `IFS`.
const BLANKS: &str = " \t\n";

/// A piece of a word before it is split.
pub(super) enum Raw {
    /// Unquoted results are split at blanks and may hold patterns.
    Piece { piece: Piece, origin: Origin, splits: bool },
    /// Between the words of `"$@"`.
    Break,
}

impl Interpreter<'_> {
    /// The values that a word becomes: none, one or many.
    pub(crate) fn expand(&mut self, word: &Word) -> Vec<Value> {
        if !word.parts.iter().any(|part| matches!(part, Part::Brace { .. })) {
            return self.expand_parts(&word.parts);
        }
        let opened = word.parts.iter().filter(|part| matches!(part, Part::Brace { mark: '{', .. })).count();
        let alternatives = if opened > MAX_BRACES { Vec::new() } else { braces(&word.parts) };
        let has_room = work::spend(alternatives.len() as u64 * 2);
        if opened > MAX_BRACES || alternatives.len() > MAX_BRACE_WORDS || !has_room {
            self.gap(word.origin, Why::Limit);
            return vec![Value::piece(Piece::Unknown(Why::Limit), word.origin)];
        }
        alternatives.into_iter().flat_map(|parts| self.expand_parts(&grown(parts))).collect()
    }

    /// The values of all words of a command.
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

    /// A word that is nothing but text stands as it is.
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

    /// The value of a word where nothing is split: an assignment, a redirection, `case`.
    pub(crate) fn expand_whole(&mut self, word: &Word) -> Value {
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

    /// `None` if `IFS` is not known: then nor are the words that splitting makes.
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

    fn raw_part(&mut self, part: &Part, raw: &mut Vec<Raw>) {
        let whole = |piece: Piece, origin: Origin| Raw::Piece { piece, origin, splits: false };
        match part {
            Part::Text { text, origin, .. } => push_value(raw, self.with_holes(text, *origin), false),
            Part::Glob { text, origin } if text.contains('(') => {
                // What it stands for among files is not worked out; what it is made of runs.
                if text.contains(['$', '`']) {
                    let parts = self.parse(text, Placement::From(*origin), |parser| parser.heredoc_parts());
                    let _ = self.raw(&parts);
                }
                raw.push(whole(Piece::Glob("*".into()), *origin));
            }
            Part::Glob { text, origin } => raw.push(whole(Piece::Glob(text.clone()), *origin)),
            Part::Tilde { user, origin } => push_value(raw, self.home(user, *origin), false),
            Part::Brace { mark, origin } => raw.push(whole(Piece::Text(mark.to_string()), *origin)),
            Part::Unknown { origin, why } => raw.push(whole(Piece::Unknown(*why), *origin)),
            Part::Arithmetic { parts, origin } => {
                let word = Word { parts: parts.clone(), origin: *origin };
                let result = self.arithmetic_word(&word);
                raw.push(whole(result.map_or_else(number, |result| Piece::Text(result.to_string())), *origin));
            }
            Part::Output { script, quoted, origin } => {
                let printed = self.substitute(script, *origin);
                push_value(raw, trim_newlines(printed), !quoted);
            }
            Part::Process { script, writes, origin } => {
                let piece = self.process(script, *writes, *origin);
                raw.push(whole(piece, *origin));
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
                .unwrap_or_else(|| Value::piece(Piece::Unknown(Why::NotEvaluated), origin)),
            "" => match self.state.variable("HOME") {
                Some([home]) => home.clone(),
                _ => Value::piece(Piece::Home(String::new()), origin),
            },
            user => Value::piece(Piece::Home(user.into()), origin),
        }
    }

    /// A word that is matched against; `None` if it is not known.
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
                // What is not quoted may hold patterns.
                Raw::Piece { piece: Piece::Text(text), origin, splits: true } => (Piece::Glob(text), origin),
                Raw::Piece { piece, origin, .. } => (piece, origin),
                Raw::Break => (Piece::Text(" ".into()), word.origin),
            };
            value.pieces.extend(raw.into_iter().map(patterns));
        }
        Pattern::of(&value).filter(|_| known)
    }
}

/// A number that is not known is some digits.
pub(crate) fn number() -> Piece {
    Piece::Glob("[0-9]*".into())
}

fn text_of(text: String, origin: Origin) -> Raw {
    Raw::Piece { piece: Piece::Text(text), origin, splits: false }
}

fn push_value(raw: &mut Vec<Raw>, value: Value, splits: bool) {
    if value.pieces.is_empty() && !splits {
        // Quotes make a word even of nothing.
        raw.push(text_of(String::new(), Origin::default()));
    }
    raw.extend(value.pieces.into_iter().map(|(piece, origin)| Raw::Piece { piece, origin, splits }));
}

fn trim_newlines(mut value: Value) -> Value {
    while let Some((Piece::Text(text), _)) = value.pieces.last_mut() {
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
        if !text.is_empty() {
            break;
        }
        value.pieces.pop();
    }
    value
}

/// What would be split, where it is not known how.
fn unsplit(raw: Raw) -> Raw {
    match raw {
        Raw::Piece { piece: Piece::Text(_), origin, splits: true } => {
            Raw::Piece { piece: Piece::Unknown(Why::Branches), origin, splits: false }
        }
        Raw::Piece { .. } | Raw::Break => raw,
    }
}

/// Splits unquoted results at the separators and finds the patterns in them.
fn split(raw: Vec<Raw>, separators: &str) -> Vec<Value> {
    let mut fields = Fields::default();
    for raw in raw {
        match raw {
            Raw::Break => fields.end(),
            Raw::Piece { piece: Piece::Text(text), origin, splits: true } => fields.add(&text, origin, separators),
            Raw::Piece { piece: Piece::Text(text), .. } if text.is_empty() => _ = fields.begin(),
            Raw::Piece { piece: Piece::Text(text), origin, .. } => fields.begin().push_text(&text, origin),
            Raw::Piece { piece, origin, .. } => fields.begin().push_piece(piece, origin),
        }
    }
    fields.end();
    fields.words
}

/// The words that splitting has made so far.
#[derive(Default)]
struct Fields {
    words: Vec<Value>,
    word: Option<Value>,
    /// A blank ended the last word: another separator right behind it belongs to the same gap.
    after_blank: bool,
}

impl Fields {
    fn begin(&mut self) -> &mut Value {
        self.after_blank = false;
        self.word.get_or_insert_default()
    }

    fn end(&mut self) {
        self.words.extend(self.word.take());
        self.after_blank = false;
    }

    fn add(&mut self, text: &str, origin: Origin, separators: &str) {
        let mut rest = text;
        while let Some((at, separator)) = rest.char_indices().find(|(_, letter)| separators.contains(*letter)) {
            let (field, behind) = rest.split_at(at);
            self.add_field(field, origin);
            self.separate(separator);
            rest = behind.get(separator.len_utf8()..).unwrap_or("");
        }
        self.add_field(rest, origin);
    }

    fn add_field(&mut self, field: &str, origin: Origin) {
        if !field.is_empty() {
            push_patterns(field, origin, self.begin());
        }
    }

    /// Blanks only part words; each other separator ends one, even an empty one.
    fn separate(&mut self, separator: char) {
        let had_word = self.word.is_some();
        let is_blank = matches!(separator, ' ' | '\t' | '\n');
        if !had_word && !is_blank && !self.after_blank {
            self.words.push(Value::default());
        }
        let stays = self.after_blank && is_blank;
        self.end();
        self.after_blank = stays || (had_word && is_blank);
    }
}

fn push_patterns(field: &str, origin: Origin, word: &mut Value) {
    for text in field.split_inclusive(['*', '?']) {
        let bare = text.trim_end_matches(['*', '?']);
        if !bare.is_empty() {
            word.push_text(bare, origin);
        }
        if bare.len() < text.len() {
            word.push_piece(Piece::Glob(text.get(bare.len()..).unwrap_or("*").into()), origin);
        }
    }
}
