//! Parser state: the cursor, the nesting depth, and the here-documents whose bodies begin after the current line.

use super::tree::{Line, Part, Redirect, Word};
use crate::model::value::{DerivationId, Origin, Span, UnknownReason};
use crate::reading::Gap;
use std::cell::OnceCell;
use std::rc::Rc;

/// Maximum nesting depth of constructs. Hand-written scripts stay below 20; each level costs stack.
const MAX_DEPTH: u32 = 60;

/// Position of the parsed text in the source.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Placement {
    /// The text is a part of the source, beginning at this byte.
    At { start: u32, derivation: Option<DerivationId> },
    /// The text is derived; all of it has this origin.
    From(Origin),
}

pub(crate) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) depth: u32,
    placement: Placement,
    /// The line of the cursor.
    pub(super) line: Line,
    pub(super) heredocs: Vec<PendingHeredoc>,
    pub(crate) gaps: Vec<Gap>,
}

/// A here-document whose body begins after the current line.
pub(super) struct PendingHeredoc {
    pub(super) delimiter: String,
    pub(super) literal: bool,
    pub(super) strip_tabs: bool,
    pub(super) body: Rc<OnceCell<Word>>,
}

impl<'t> Parser<'t> {
    /// Creates a parser; `number` distinguishes this text from others.
    pub(crate) fn new(text: &'t str, placement: Placement, depth: u32, number: u32) -> Parser<'t> {
        let line = Line { text: number, number: 0 };
        Parser { text, at: 0, depth, placement, line, heredocs: Vec::new(), gaps: Vec::new() }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.rest().as_bytes().starts_with(text.as_bytes())
    }

    /// Moves past one character.
    pub(super) fn bump(&mut self) {
        self.at += self.rest().chars().next().map_or(1, char::len_utf8);
    }

    /// Moves past `text`, if it is next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or("")
    }

    pub(super) fn origin(&self, start: usize) -> Origin {
        match self.placement {
            Placement::From(origin) => origin,
            Placement::At { start: base, derivation } => {
                let at = |offset: usize| base.saturating_add(offset as u32);
                Origin { span: Span { start: at(start), end: at(self.at) }, derivation }
            }
        }
    }

    /// Returns the placement of a part of this text that begins at `start`.
    fn placement_at(&self, start: usize) -> Placement {
        match self.placement {
            Placement::From(origin) => Placement::From(origin),
            Placement::At { start: base, derivation } => {
                Placement::At { start: base.saturating_add(start as u32), derivation }
            }
        }
    }

    pub(super) fn gap(&mut self, start: usize, why: UnknownReason) {
        let origin = self.origin(start);
        self.gaps.push(Gap { origin, why });
    }

    pub(super) fn is_too_deep(&self) -> bool {
        self.depth >= MAX_DEPTH
    }

    /// Runs `inner` one level deeper. At the maximum depth, skips the construct up to its `close` instead, records a
    /// gap and returns `None`.
    pub(super) fn nested<T>(&mut self, close: u8, inner: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.is_too_deep() {
            let start = self.at;
            self.skip_to_close(close);
            self.gap(start, UnknownReason::Limit);
            return None;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        Some(result)
    }

    /// Parses a derived text one level deeper and keeps its gaps.
    pub(super) fn derived<T>(&mut self, text: &str, origin: Origin, inner: impl FnOnce(&mut Parser<'_>) -> T) -> T {
        let mut parser = Parser::new(text, Placement::From(origin), self.depth + 1, 0);
        parser.line = self.line;
        let result = inner(&mut parser);
        self.gaps.append(&mut parser.gaps);
        result
    }

    /// Moves past the `close` that ends the current construct, without recursion and in linear time. Returns whether it
    /// was found.
    pub(super) fn skip_to_close(&mut self, close: u8) -> bool {
        let mut open = vec![close];
        while let Some(byte) = self.peek() {
            self.at += 1;
            if open.last() == Some(&byte) {
                open.pop();
                if open.is_empty() {
                    return true;
                }
                continue;
            }
            match byte {
                b'\\' => self.at += 1,
                b'\'' if open.last() != Some(&b'"') => self.skip_past(b'\''),
                b'"' => open.push(b'"'),
                b'(' if open.last() != Some(&b'"') || self.text.as_bytes().get(self.at - 2) == Some(&b'$') => {
                    open.push(b')');
                }
                b'{' if open.last() != Some(&b'"') || self.text.as_bytes().get(self.at - 2) == Some(&b'$') => {
                    open.push(b'}');
                }
                _ => {}
            }
        }
        self.at = self.at.min(self.text.len());
        false
    }

    fn skip_past(&mut self, byte: u8) {
        match self.text.as_bytes().get(self.at..).and_then(|rest| rest.iter().position(|b| *b == byte)) {
            Some(offset) => self.at += offset + 1,
            None => self.at = self.text.len(),
        }
    }

    /// Skips blanks, line continuations and, if `lines`, newlines and comments.
    pub(super) fn skip_blanks(&mut self, lines: bool) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | 0x0b | 0x0c) => self.at += 1,
                Some(b'\r') if matches!(self.peek_at(1), Some(b'\n') | None) => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'\\') if self.starts_with("\\\r\n") => self.at += 3,
                Some(b'#') => self.skip_comment(),
                Some(b'\n') if lines => self.newline(),
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// Moves past a newline and the here-document bodies that follow it.
    pub(super) fn newline(&mut self) {
        self.at += 1;
        self.line.number += 1;
        self.read_heredocs();
    }

    pub(super) fn read_heredocs(&mut self) {
        for pending in std::mem::take(&mut self.heredocs) {
            let body = self.heredoc_body(&pending);
            let _ = pending.body.set(body);
        }
    }

    fn heredoc_body(&mut self, pending: &PendingHeredoc) -> Word {
        let start = self.at;
        let mut end = self.text.len();
        let mut resume = self.text.len();
        let mut line_start = start;
        let mut continued = false;
        for line in self.rest().split_inclusive('\n') {
            let continues = std::mem::replace(&mut continued, !pending.literal && ends_escaped(line));
            let bare = line.trim_end_matches(['\n', '\r']);
            let bare = if pending.strip_tabs { bare.trim_start_matches('\t') } else { bare };
            if bare == pending.delimiter && !continues {
                end = line_start;
                resume = line_start + line.len();
                break;
            }
            line_start += line.len();
        }
        self.at = end;
        let origin = self.origin(start);
        let raw = self.slice(start, end);
        let word = self.heredoc_word(raw, start, origin, pending);
        self.at = resume;
        word
    }

    fn heredoc_word(&mut self, raw: &str, start: usize, origin: Origin, pending: &PendingHeredoc) -> Word {
        let stripped = pending.strip_tabs.then(|| strip_tabs(raw));
        let body = stripped.as_deref().unwrap_or(raw);
        if pending.literal {
            return Word { parts: vec![Part::Text { text: body.into(), quoted: true, origin }], origin };
        }
        let placement = if stripped.is_some() { Placement::From(origin) } else { self.placement_at(start) };
        let mut parser = Parser::new(body, placement, self.depth + 1, 0);
        parser.line = self.line;
        let parts = parser.heredoc_parts();
        self.gaps.append(&mut parser.gaps);
        Word { parts, origin }
    }

    pub(super) fn add_heredoc(&mut self, redirect: &Redirect, strip_tabs: bool) {
        let is_quoted =
            |part: &Part| matches!(part, Part::Text { quoted: true, .. } | Part::Parameter { quoted: true, .. });
        let literal = redirect.target.parts.iter().any(is_quoted);
        let delimiter = redirect.target.parts.iter().map(part_text).collect();
        self.heredocs.push(PendingHeredoc { delimiter, literal, strip_tabs, body: redirect.heredoc.clone() });
    }
}

/// Whether the end of the line is escaped, so that the next line continues it.
fn ends_escaped(line: &str) -> bool {
    let bare = line.strip_suffix('\n').unwrap_or(line);
    (bare.len() - bare.trim_end_matches('\\').len()) % 2 == 1
}

fn strip_tabs(text: &str) -> String {
    text.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
}

/// Returns the text of a part in the delimiter of a here-document, where the shell does not expand.
fn part_text(part: &Part) -> String {
    match part {
        Part::Text { text, .. } | Part::Glob { text, .. } => text.clone(),
        Part::Tilde { user, .. } => format!("~{user}"),
        Part::Brace { mark, .. } => mark.to_string(),
        Part::Parameter { parameter, .. } => format!("${}", parameter.name),
        Part::Output { .. } | Part::Arithmetic { .. } | Part::Process { .. } | Part::Unknown { .. } => String::new(),
    }
}
