//! Words: quotes, escapes, parameters, substitutions and patterns.

use super::lists::Stop;
use super::names::is_name;
use super::parser::Parser;
use super::tree::{Element, Node, Operator, Parameter, Part, Redirect, RedirectKind, Script, Statement, Word};
use crate::model::value::{Origin, UnknownReason};
use crate::text_tools::decode;
use std::rc::Rc;

/// The lexical context of a word, which determines its special characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// A word of a command; blanks and operators end it.
    Plain,
    /// The value of an assignment. A tilde is also expanded after `:`; braces are not.
    Assignment,
    /// The value of an assignment that is an operand of `export` or `declare`. bash also expands braces there.
    Declaration,
    /// Between `${name-` and `}`.
    Operand { slash_ends: bool },
    /// An operand that is a pattern.
    Pattern { slash_ends: bool },
    /// An operand inside double quotes.
    QuotedOperand { slash_ends: bool },
    /// Between double quotes.
    Double,
    /// The body of a here-document whose delimiter is not quoted.
    Heredoc,
    /// Between `((` and `))`.
    Arithmetic,
}

impl Context {
    fn is_quoted(self) -> bool {
        matches!(self, Context::Double | Context::Heredoc | Context::QuotedOperand { .. })
    }

    fn ends_at(self, byte: u8) -> bool {
        match self {
            Context::Plain | Context::Assignment | Context::Declaration => {
                matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')')
            }
            Context::Operand { slash_ends }
            | Context::Pattern { slash_ends }
            | Context::QuotedOperand { slash_ends } => byte == b'}' || (slash_ends && byte == b'/'),
            Context::Double => byte == b'"',
            Context::Heredoc | Context::Arithmetic => false,
        }
    }
}

impl Parser<'_> {
    /// Parses the word at the cursor; `None` if the cursor is not at a word.
    pub(super) fn word(&mut self) -> Option<Word> {
        let start = self.at;
        let parts = self.parts(Context::Plain);
        (self.at > start).then(|| Word { parts, origin: self.origin(start) })
    }

    /// Parses a word after `=~`. Only a blank outside parentheses ends it.
    pub(super) fn expression_word(&mut self) -> Option<Word> {
        let start = self.at;
        let mut parts = Vec::new();
        let mut open = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' if open == 0 => break,
                b'(' => open += 1,
                b')' => open = open.saturating_sub(1),
                _ => {}
            }
            match byte {
                b'(' | b')' | b'|' | b'<' | b'>' | b'&' | b';' | b' ' | b'\t' | b'\n' | b'\r' => {
                    self.plain(1, Context::Plain, &mut parts);
                }
                _ => {
                    let before = self.at;
                    parts.extend(self.parts(Context::Plain));
                    if self.at == before {
                        self.bump();
                    }
                }
            }
        }
        (self.at > start).then(|| Word { parts, origin: self.origin(start) })
    }

    /// Parses the value of an assignment, which may be empty.
    pub(super) fn assigned_word(&mut self) -> Word {
        let start = self.at;
        let parts = self.parts(Context::Assignment);
        Word { parts, origin: self.origin(start) }
    }

    /// Parses the value of an assignment that is an operand of `export` or `declare`, which may be empty.
    pub(super) fn declared_word(&mut self) -> Word {
        let start = self.at;
        let parts = self.parts(Context::Declaration);
        Word { parts, origin: self.origin(start) }
    }

    /// Parses a text as the body of a here-document: only expansions are special.
    pub(crate) fn heredoc_parts(&mut self) -> Vec<Part> {
        self.parts(Context::Heredoc)
    }

    pub(super) fn parts(&mut self, context: Context) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut braces = 0u32;
        while let Some(byte) = self.peek() {
            if context.ends_at(byte) || (byte == b'\r' && context == Context::Plain && self.peek_at(1) == Some(b'\n')) {
                break;
            }
            let unquoted = matches!(context, Context::Plain | Context::Assignment | Context::Declaration);
            match byte {
                b'\\' => self.escape(context, &mut parts),
                b'\'' if !context.is_quoted() && context != Context::Arithmetic => self.single_quoted(&mut parts),
                b'"' if context != Context::Heredoc => self.double_quoted(context, &mut parts),
                b'$' => self.dollar(context, &mut parts),
                b'`' => self.backquoted(context, &mut parts),
                b'<' | b'>' if unquoted => {
                    if self.peek_at(1) != Some(b'(') {
                        break;
                    }
                    self.process_substitution(&mut parts);
                }
                // zsh: `=(…)` is a process substitution too.
                b'=' if context == Context::Plain && parts.is_empty() && self.peek_at(1) == Some(b'(') => {
                    self.process_substitution(&mut parts);
                }
                b'(' if matches!(context, Context::Pattern { .. }) => {
                    if !self.extended_glob(&mut parts) {
                        self.plain(1, context, &mut parts);
                    }
                }
                b'(' if unquoted => {
                    if !self.extended_glob(&mut parts) {
                        break;
                    }
                }
                b'*' | b'?' if !context.is_quoted() && context != Context::Arithmetic => {
                    self.push_glob(1, &mut parts);
                }
                b'[' if !context.is_quoted() && context != Context::Arithmetic => {
                    let length = self.bracket_length();
                    if length > 1 { self.push_glob(length, &mut parts) } else { self.plain(1, context, &mut parts) }
                }
                b'~' if unquoted && self.tilde_counts(context, &parts) => self.tilde(&mut parts),
                b'{' | b'}' | b',' if matches!(context, Context::Plain | Context::Declaration) => {
                    self.brace(byte, &mut braces, &mut parts);
                }
                _ => self.plain(self.run_length(context), context, &mut parts),
            }
        }
        parts
    }

    /// Returns the number of bytes at the cursor without special meaning.
    fn run_length(&self, context: Context) -> usize {
        let special = |byte: &u8| {
            context.ends_at(*byte)
                || matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`')
                || matches!(byte, b'<' | b'>' | b'(' | b')' | b'*' | b'?' | b'[' | b'~' | b'{' | b'}' | b',' | b'\r')
        };
        let rest = self.rest().as_bytes();
        1 + rest.get(1..).unwrap_or(&[]).iter().position(special).unwrap_or(rest.len().saturating_sub(1))
    }

    fn plain(&mut self, length: usize, context: Context, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at = (self.at + length).min(self.text.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        self.push_text(self.slice(start, self.at), context.is_quoted(), start, parts);
    }

    fn push_text(&self, new: &str, new_quoted: bool, start: usize, parts: &mut Vec<Part>) {
        let new_origin = self.origin(start);
        match parts.last_mut() {
            Some(Part::Text { text, quoted, origin }) if *quoted == new_quoted => {
                text.push_str(new);
                origin.span = origin.span.join(new_origin.span);
            }
            _ => {
                if parts.is_empty() {
                    // Nearly all words have one part, and a long text has many words.
                    parts.reserve_exact(1);
                }
                parts.push(Part::Text { text: new.into(), quoted: new_quoted, origin: new_origin });
            }
        }
    }

    fn push_glob(&mut self, length: usize, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += length;
        parts.push(Part::Glob { text: self.slice(start, self.at).into(), origin: self.origin(start) });
    }

    fn escape(&mut self, context: Context, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 1;
        let Some(next) = self.peek() else {
            return self.push_text("\\", context.is_quoted(), start, parts);
        };
        if next == b'\n' {
            self.at += 1;
            return;
        }
        let keeps_backslash = match context {
            Context::Double | Context::QuotedOperand { .. } => !matches!(next, b'$' | b'`' | b'"' | b'\\' | b'}'),
            Context::Heredoc => !matches!(next, b'$' | b'`' | b'\\'),
            Context::Plain
            | Context::Assignment
            | Context::Declaration
            | Context::Operand { .. }
            | Context::Pattern { .. }
            | Context::Arithmetic => false,
        };
        let from = if keeps_backslash { start } else { self.at };
        self.bump();
        self.push_text(self.slice(from, self.at), true, start, parts);
    }

    fn single_quoted(&mut self, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 1;
        let inside = self.at;
        let length = self.rest().bytes().position(|byte| byte == b'\'');
        let end = length.map_or(self.text.len(), |length| inside + length);
        self.at = if length.is_some() { end + 1 } else { end };
        if length.is_none() {
            self.gap(start, UnknownReason::Unfinished);
        }
        self.push_text(self.slice(inside, end), true, start, parts);
    }

    fn double_quoted(&mut self, context: Context, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 1;
        if context == Context::Arithmetic {
            return;
        }
        let inner = self.nested(b'"', |parser| {
            let inner = parser.parts(Context::Double);
            if !parser.eat("\"") {
                parser.gap(start, UnknownReason::Unfinished);
            }
            inner
        });
        match inner {
            // An empty pair of quotes still makes a word; `"$@"` without parameters makes none.
            Some(inner) if inner.is_empty() => self.push_text("", true, start, parts),
            Some(inner) => inner.into_iter().for_each(|part| merge(part, parts)),
            None => parts.push(Part::Unknown { origin: self.origin(start), why: UnknownReason::Limit }),
        }
    }

    fn backquoted(&mut self, context: Context, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.peek() {
                None => break self.gap(start, UnknownReason::Unparsed),
                Some(b'`') => break self.at += 1,
                Some(b'\\') if matches!(self.peek_at(1), Some(b'`' | b'\\' | b'$')) => self.at += 1,
                Some(b'\\') if context == Context::Double && self.peek_at(1) == Some(b'"') => self.at += 1,
                Some(_) => {}
            }
            let from = self.at;
            self.bump();
            inner.push_str(self.slice(from, self.at));
        }
        let origin = self.origin(start);
        if self.depth >= 40 {
            // Each level copies its text, so nested backquotes have a lower limit than constructs that are parsed in
            // place.
            self.gap(start, UnknownReason::Limit);
            return parts.push(Part::Unknown { origin, why: UnknownReason::Limit });
        }
        let script = self.derived(&inner, origin, |parser| parser.script());
        parts.push(Part::Output { script: Rc::new(script), quoted: context.is_quoted(), origin });
    }

    fn dollar(&mut self, context: Context, parts: &mut Vec<Part>) {
        let start = self.at;
        let quoted = context.is_quoted();
        match self.peek_at(1) {
            Some(b'\'') if !quoted => {
                self.at += 2;
                let text = self.ansi_c();
                self.push_text(&text, true, start, parts);
            }
            Some(b'"') if !quoted => {
                self.at += 1;
                self.double_quoted(context, parts);
            }
            Some(b'(') if self.peek_at(2) == Some(b'(') && self.arithmetic_ends_at(self.at + 3).is_some() => {
                self.at += 3;
                let inner = self.arithmetic_parts();
                parts.push(Part::Arithmetic { parts: inner, origin: self.origin(start) });
            }
            Some(b'(') => {
                self.at += 2;
                self.substitution(start, quoted, parts);
            }
            Some(b'[') => {
                self.at += 1;
                let length = self.subscript_length(0).unwrap_or(1);
                let inside = self.slice(self.at + 1, (self.at + length).saturating_sub(1)).to_owned();
                self.at += length;
                let origin = self.origin(start);
                let parts_inside = self.derived(&inside, origin, |parser| parser.heredoc_parts());
                parts.push(Part::Arithmetic { parts: parts_inside, origin });
            }
            Some(b'{') => {
                self.at += 2;
                self.braced_parameter(start, quoted, parts);
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.at += 1;
                let length =
                    self.rest().bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
                self.at += length;
                let name = self.slice(start + 1, self.at).to_owned();
                parts.push(self.plain_parameter(name, quoted, start));
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?$!-".contains(&byte) => {
                self.at += 2;
                let name = char::from(byte).to_string();
                parts.push(self.plain_parameter(name, quoted, start));
            }
            _ => self.plain(1, context, parts),
        }
    }

    /// `$name`
    fn plain_parameter(&self, name: String, quoted: bool, start: usize) -> Part {
        let parameter = Parameter { name, element: Element::None, operator: Operator::Plain, bare: true };
        self.parameter_part(parameter, quoted, start)
    }

    fn substitution(&mut self, start: usize, quoted: bool, parts: &mut Vec<Part>) {
        let script = self.nested(b')', |parser| {
            let script = parser.list(Stop::Paren);
            if !parser.eat(")") {
                parser.gap(start, UnknownReason::Unparsed);
            }
            script
        });
        let origin = self.origin(start);
        let script = script.map(|script| printing_file(script, origin));
        parts.push(match script {
            Some(script) => Part::Output { script: Rc::new(script), quoted, origin },
            None => Part::Unknown { origin, why: UnknownReason::Limit },
        });
    }

    fn process_substitution(&mut self, parts: &mut Vec<Part>) {
        let start = self.at;
        let writes = self.peek() == Some(b'>');
        self.at += 2;
        let mut inner = Vec::new();
        self.substitution(start, true, &mut inner);
        parts.extend(inner.into_iter().map(|part| {
            let Part::Output { script, origin, .. } = &part else { return part };
            Part::Process { script: script.clone(), writes, origin: *origin }
        }));
    }

    /// Returns the offset of the `))` that matches the `((` at the cursor; `None` if it is not arithmetic.
    pub(super) fn arithmetic_ends(&self) -> Option<usize> {
        self.arithmetic_ends_at(self.at + 2)
    }

    fn arithmetic_ends_at(&self, inside: usize) -> Option<usize> {
        // A longer text is read as commands in parentheses; the bound keeps parsing linear.
        const MAX_ARITHMETIC: usize = 2048;
        let mut depth = 0usize;
        let bytes = self.text.as_bytes();
        for (at, byte) in bytes.iter().enumerate().skip(inside).take(MAX_ARITHMETIC) {
            match byte {
                b'(' => depth += 1,
                b')' if depth > 0 => depth -= 1,
                b')' => return (bytes.get(at + 1) == Some(&b')')).then_some(at),
                _ => {}
            }
        }
        None
    }

    /// Parses the inside of `(( … ))`, which is known to be closed, and moves past the end.
    pub(super) fn arithmetic_parts(&mut self) -> Vec<Part> {
        let end = self.arithmetic_ends_at(self.at).unwrap_or(self.text.len());
        let start = self.at;
        if self.is_too_deep() {
            self.at = (end + 2).min(self.text.len());
            self.gap(start, UnknownReason::Limit);
            return vec![Part::Unknown { origin: self.origin(start), why: UnknownReason::Limit }];
        }
        self.depth += 1;
        let parts = self.arithmetic_parts_until(end);
        self.depth -= 1;
        parts
    }

    fn arithmetic_parts_until(&mut self, end: usize) -> Vec<Part> {
        let mut parts = Vec::new();
        while self.at < end {
            let before = self.at;
            match self.peek() {
                Some(b'$') => self.dollar(Context::Arithmetic, &mut parts),
                Some(b'`') => self.backquoted(Context::Arithmetic, &mut parts),
                // Quotes have no meaning in arithmetic.
                Some(b'"') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                _ => {
                    let rest = self.slice(self.at, end).as_bytes();
                    let special = |byte: &u8| matches!(byte, b'$' | b'`' | b'"' | b'\\');
                    let length = 1 + rest
                        .get(1..)
                        .unwrap_or(&[])
                        .iter()
                        .position(special)
                        .unwrap_or(rest.len().saturating_sub(1));
                    self.plain(length, Context::Arithmetic, &mut parts);
                }
            }
            debug_assert!(self.at > before);
        }
        self.at = self.at.max(end);
        self.eat("))");
        parts
    }

    /// Returns the length of `[…]` at the cursor if it is a pattern, else 1.
    pub(super) fn bracket_length(&self) -> usize {
        // A longer set is not treated as a pattern; the bound keeps parsing linear.
        const MAX_SET: usize = 128;
        let rest = self.rest().as_bytes();
        let mut at = 1;
        if matches!(rest.get(at), Some(b'!' | b'^')) {
            at += 1;
        }
        let first = at;
        while let Some(byte) = rest.get(at).filter(|_| at < MAX_SET) {
            match byte {
                b']' if at > first => return at + 1,
                // `[[:alpha:]]`: the class ends with its own bracket.
                b'[' if rest.get(at + 1) == Some(&b':') => {
                    let class = rest.get(at + 2..).unwrap_or(&[]).iter().take(MAX_SET);
                    let chars = class.take_while(|byte| byte.is_ascii_alphabetic()).count();
                    let end = at + 2 + chars;
                    at = if rest.get(end..end + 2) == Some(b":]") { end + 2 } else { at + 1 };
                }
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' | b'`' => return 1,
                _ => at += 1,
            }
        }
        1
    }

    /// Parses `?(a|b)`, `*(…)`, `+(…)`, `@(…)` or `!(…)`. The character before the parenthesis makes it a pattern.
    /// After another pattern, `(…)` contains zsh's qualifiers.
    fn extended_glob(&mut self, parts: &mut Vec<Part>) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.text.as_bytes().get(at)).copied();
        let mark = before.filter(|byte| !parts.is_empty() && b"?*+@!".contains(byte));
        let Some(mark) = mark else { return false };
        let start = self.at - 1;
        self.at += 1;
        if !self.skip_to_close(b')') {
            self.gap(start, UnknownReason::Unparsed);
        }
        drop_last(parts);
        let text = self.slice(start, self.at).to_owned();
        debug_assert!(text.as_bytes().first() == Some(&mark));
        parts.push(Part::Glob { text, origin: self.origin(start) });
        true
    }

    fn tilde_counts(&self, context: Context, parts: &[Part]) -> bool {
        match parts.last() {
            None => true,
            // Braces are expanded before tildes.
            Some(Part::Brace { mark: '{' | ',', .. }) => true,
            Some(Part::Text { text, quoted: false, .. }) if context != Context::Plain => text.ends_with(':'),
            // bash treats `of=~` as an assignment anywhere in a command; `--option=~` is not one.
            Some(Part::Text { text, quoted: false, .. }) => text.strip_suffix('=').is_some_and(is_name),
            Some(_) => false,
        }
    }

    fn tilde(&mut self, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 1;
        let is_user = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-+".contains(byte);
        let length = self.rest().bytes().take_while(is_user).count();
        self.at += length;
        let in_braces = matches!(parts.last(), Some(Part::Brace { .. }));
        let ends =
            self.peek().is_none_or(|byte| b"/ \t\n\r;&|<>():".contains(&byte) || (in_braces && b",}".contains(&byte)));
        let user = self.slice(start + 1, self.at).to_owned();
        if ends {
            parts.push(Part::Tilde { user, origin: self.origin(start) });
        } else {
            self.push_text(&format!("~{user}"), false, start, parts);
        }
    }

    fn brace(&mut self, byte: u8, open: &mut u32, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 1;
        match byte {
            b'{' => *open += 1,
            b',' if *open == 0 => return self.push_text(",", false, start, parts),
            b'}' if *open == 0 => return self.push_text("}", false, start, parts),
            b'}' => *open -= 1,
            _ => {}
        }
        parts.push(Part::Brace { mark: char::from(byte), origin: self.origin(start) });
    }

    /// Parses and decodes the inside of `$'…'`, and moves past the closing quote.
    fn ansi_c(&mut self) -> String {
        let mut text = Vec::new();
        loop {
            match self.peek() {
                None => break,
                Some(b'\'') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => {
                    self.at += 1;
                    let (bytes, length) = decode::escape(self.rest().as_bytes());
                    text.extend(bytes);
                    self.at += length;
                    while !self.text.is_char_boundary(self.at) {
                        self.at += 1;
                    }
                }
                Some(byte) => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Removes the last character, which turned out to begin a pattern.
fn drop_last(parts: &mut Vec<Part>) {
    let empty = match parts.last_mut() {
        Some(Part::Text { text, .. } | Part::Glob { text, .. }) => {
            text.pop();
            text.is_empty()
        }
        _ => false,
    };
    if empty {
        parts.pop();
    }
}

fn merge(part: Part, parts: &mut Vec<Part>) {
    match (part, parts.last_mut()) {
        (Part::Text { text, quoted, origin }, Some(Part::Text { text: last, quoted: was, origin: before }))
            if quoted == *was =>
        {
            last.push_str(&text);
            before.span = before.span.join(origin.span);
        }
        (part, _) => parts.push(part),
    }
}

/// `$(<file)` prints the file, as `$(cat file)` does.
fn printing_file(mut script: Script, origin: Origin) -> Script {
    let [Statement { node: Node::Simple(simple), .. }] = script.statements.as_mut_slice() else { return script };
    let reads = matches!(simple.redirects.as_slice(), [Redirect { kind: RedirectKind::Read, descriptor: None, .. }]);
    if reads && simple.words.is_empty() && simple.assignments.is_empty() {
        let text = Part::Text { text: "cat".into(), quoted: false, origin };
        simple.words.push(Word { parts: vec![text], origin });
        simple.words.extend(simple.redirects.drain(..).map(|redirect| redirect.target));
    }
    script
}
