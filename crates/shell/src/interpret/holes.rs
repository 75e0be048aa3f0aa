//! Marks for pieces that are not text, in a text that is read again: one character per piece, inside and outside of
//! quotes.

use super::interpreter::Interpreter;
use crate::model::value::{Origin, Piece, Value};

/// The first code point of a private use plane, whose characters have no meaning of their own.
const FIRST_MARK: u32 = 0xf_0000;

const MAX_HOLES: usize = 0xfffd;

impl Interpreter<'_> {
    /// Returns a text with marks for its unknown pieces; `None` if it has no known text.
    pub(crate) fn readable(&mut self, text: &Value) -> Option<String> {
        let is_known = |piece: &Piece| matches!(piece, Piece::Text(text) if !text.trim().is_empty());
        if !text.pieces.iter().any(|(piece, _)| is_known(piece)) {
            return None;
        }
        let mut read = String::new();
        for (piece, origin) in &text.pieces {
            match piece {
                Piece::Text(text) | Piece::Glob(text) => read.push_str(text),
                Piece::Resolved => {}
                Piece::Home(_) | Piece::Variable(_) | Piece::Output(_) | Piece::Unknown(_) => {
                    read.push(self.hole(piece.clone(), *origin));
                }
            }
        }
        Some(read)
    }

    fn hole(&mut self, piece: Piece, origin: Origin) -> char {
        if self.holes.len() < MAX_HOLES {
            self.holes.push((piece, origin));
        }
        char::from_u32(FIRST_MARK + self.holes.len() as u32 - 1).unwrap_or('?')
    }

    /// Returns the text with the pieces in place of their marks.
    pub(crate) fn with_holes(&self, text: &str, origin: Origin) -> Value {
        let mut value = Value::default();
        if self.holes.is_empty() {
            value.push_text(text, origin);
            return value;
        }
        let mut begin = 0;
        for (at, ch) in text.char_indices() {
            let Some(hole) = self.hole_at(ch) else { continue };
            let before = text.get(begin..at).unwrap_or("");
            if !before.is_empty() {
                value.push_text(before, origin);
            }
            value.pieces.push(hole.clone());
            begin = at + ch.len_utf8();
        }
        let rest = text.get(begin..).unwrap_or("");
        if !rest.is_empty() || value.pieces.is_empty() {
            value.push_text(rest, origin);
        }
        value
    }

    fn hole_at(&self, ch: char) -> Option<&(Piece, Origin)> {
        self.holes.get(u32::from(ch).checked_sub(FIRST_MARK)? as usize)
    }
}
