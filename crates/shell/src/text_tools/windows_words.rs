//! Words of PowerShell and cmd: lists in one word, patterns, paths with backslashes.

use crate::model::value::{Origin, Piece, Value};

/// Joins several values to one word, separated by pieces that are a single comma.
pub(crate) fn list(values: Vec<Value>) -> Value {
    let mut values = values.into_iter();
    let mut word = values.next().unwrap_or_default();
    for value in values {
        let origin = value.origin();
        word.pieces.push((Piece::Text(",".into()), origin));
        word.pieces.extend(value.pieces);
    }
    word
}

/// Converts `*` and `?` in a word to patterns. Both shells leave their expansion to the commands.
pub(crate) fn with_patterns(word: &Value) -> Value {
    let mut value = Value::default();
    for (piece, origin) in &word.pieces {
        match piece.as_text().filter(|text| text.contains(['*', '?'])) {
            Some(text) => push_patterns(&mut value, text, *origin),
            None => value.pieces.push((piece.clone(), *origin)),
        }
    }
    value
}

/// Appends a text; each path component that contains a wildcard is a separate pattern.
fn push_patterns(value: &mut Value, text: &str, origin: Origin) {
    for part in text.split_inclusive(['/', '\\']) {
        let name = part.trim_end_matches(['/', '\\']);
        if !name.contains(['*', '?']) {
            value.push_text(part, origin);
            continue;
        }
        // `*.*` matches every file.
        let pattern = if name == "*.*" { "*" } else { name };
        value.pieces.push((Piece::Glob(pattern.into()), origin));
        if let Some(separator) = part.get(name.len()..).filter(|separator| !separator.is_empty()) {
            value.push_text(separator, origin);
        }
    }
}

/// Replaces the backslashes in a path with slashes.
pub(crate) fn with_slashes(value: &Value) -> Value {
    let slashed = |piece: &Piece| match piece.as_text() {
        Some(text) => Piece::Text(text.replace('\\', "/")),
        None => piece.clone(),
    };
    Value { pieces: value.pieces.iter().map(|(piece, origin)| (slashed(piece), *origin)).collect() }
}

/// Restores the `%` marks of unknown variables, for a text that another cmd expands.
pub(crate) fn with_marks(text: Value) -> Value {
    let marked = |(piece, origin): (Piece, Origin)| {
        let mark = if let Piece::Variable(name) = &piece { Some(format!("%{name}%")) } else { None };
        (mark.map_or(piece, Piece::Text), origin)
    };
    Value { pieces: text.pieces.into_iter().map(marked).collect() }
}
