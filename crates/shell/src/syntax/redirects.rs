//! Redirections: their operators, descriptors and targets.

use super::names::name_length;
use super::parser::Parser;
use super::tree::{Descriptor, Redirect, RedirectKind, Word};
use crate::model::value::UnknownReason;
use std::cell::OnceCell;
use std::rc::Rc;

impl Parser<'_> {
    /// Parses a redirection, with the descriptor before it, if any.
    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        if !self.peek()?.is_ascii_digit() && !matches!(self.peek()?, b'<' | b'>' | b'&' | b'{') {
            return None;
        }
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let before = digits.max(named_descriptor(rest));
        let operator = rest.get(before..)?;
        let (text, kind) = REDIRECTS.iter().find(|(text, _)| operator.starts_with(text))?;
        let process =
            matches!(kind, RedirectKind::Read | RedirectKind::Write) && operator.as_bytes().get(1) == Some(&b'(');
        if process {
            return None;
        }
        let descriptor = match rest.get(..before).unwrap_or("") {
            "" => None,
            name if name.starts_with('{') => Some(Descriptor::Named(name.trim_matches(['{', '}']).to_owned())),
            digits => digits.parse().ok().map(Descriptor::Number),
        };
        let strip_tabs = *text == "<<-";
        self.at += before + text.len();
        self.skip_blanks(false);
        let start = self.at;
        let target = self.word().unwrap_or_else(|| {
            self.gap(start, UnknownReason::Unfinished);
            Word::default()
        });
        let redirect = Redirect { descriptor, kind: *kind, target, heredoc: Rc::new(OnceCell::new()) };
        if *kind == RedirectKind::Heredoc {
            self.add_heredoc(&redirect, strip_tabs);
        }
        Some(redirect)
    }
}

/// The operators, longest first.
const REDIRECTS: [(&str, RedirectKind); 12] = [
    ("<<<", RedirectKind::HereString),
    ("<<-", RedirectKind::Heredoc),
    ("<<", RedirectKind::Heredoc),
    ("<>", RedirectKind::ReadWrite),
    ("<&", RedirectKind::Duplicate { reads: true }),
    ("<", RedirectKind::Read),
    (">>", RedirectKind::Append),
    (">|", RedirectKind::Write),
    (">&", RedirectKind::Duplicate { reads: false }),
    (">", RedirectKind::Write),
    ("&>>", RedirectKind::WriteBoth { appends: true }),
    ("&>", RedirectKind::WriteBoth { appends: false }),
];

/// Returns the length of `{name}` before a redirection, else 0.
fn named_descriptor(text: &str) -> usize {
    let name = text.strip_prefix('{').map_or(0, name_length);
    if name > 0 && text.as_bytes().get(name + 1) == Some(&b'}') { name + 2 } else { 0 }
}
