//! The pieces of a word before field splitting, and the resulting fields.

use crate::model::value::{Origin, Piece, UnknownReason, Value};

/// A piece of a word before field splitting.
pub(super) enum Raw {
    /// A piece. Unquoted results are split at separators and may contain patterns.
    Piece { piece: Piece, origin: Origin, splits: bool },
    /// A boundary between the words of `"$@"`.
    Break,
}

/// Returns an unknown number, as a pattern of digits.
pub(super) fn number() -> Piece {
    Piece::Glob("[0-9]*".into())
}

pub(super) fn text_of(text: String, origin: Origin) -> Raw {
    Raw::Piece { piece: Piece::Text(text), origin, splits: false }
}

pub(super) fn push_value(raw: &mut Vec<Raw>, value: Value, splits: bool) {
    if value.pieces.is_empty() && !splits {
        // A quoted empty value is still a word.
        raw.push(text_of(String::new(), Origin::default()));
    }
    raw.extend(value.pieces.into_iter().map(|(piece, origin)| Raw::Piece { piece, origin, splits }));
}

pub(super) fn trim_newlines(mut value: Value) -> Value {
    while let Some((Piece::Text(text), _)) = value.pieces.last_mut() {
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
        if !text.is_empty() {
            break;
        }
        value.pieces.pop();
    }
    value
}

/// Makes text unknown that would be split at unknown separators.
pub(super) fn unsplit(raw: Raw) -> Raw {
    match raw {
        Raw::Piece { piece: Piece::Text(_), origin, splits: true } => {
            Raw::Piece { piece: Piece::Unknown(UnknownReason::Branches), origin, splits: false }
        }
        Raw::Piece { .. } | Raw::Break => raw,
    }
}

/// Splits unquoted results at the separators and marks the patterns in them.
pub(super) fn split(raw: Vec<Raw>, separators: &str) -> Vec<Value> {
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

/// The words produced by splitting so far.
#[derive(Default)]
struct Fields {
    words: Vec<Value>,
    word: Option<Value>,
    /// Whether a blank ended the last word: a separator that follows directly belongs to the same gap.
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
        while let Some((at, separator)) = rest.char_indices().find(|(_, ch)| separators.contains(*ch)) {
            let (field, after) = rest.split_at(at);
            self.add_field(field, origin);
            self.separate(separator);
            rest = after.get(separator.len_utf8()..).unwrap_or("");
        }
        self.add_field(rest, origin);
    }

    fn add_field(&mut self, field: &str, origin: Origin) {
        if !field.is_empty() {
            push_patterns(field, origin, self.begin());
        }
    }

    /// Applies a separator. Blanks only separate words; any other separator ends one, even an empty one.
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
