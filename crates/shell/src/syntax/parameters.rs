//! `${…}` and subscripts: a name, the element it refers to, and the operator applied to its value.

use super::parser::Parser;
use super::tree::{Element, LetterCase, Operator, Parameter, Part, Which, Word};
use super::words::Context;
use crate::model::value::UnknownReason;
use std::rc::Rc;

/// Maximum length in bytes of a subscript. A longer one is not treated as part of an assignment; the bound keeps
/// parsing linear.
const MAX_SUBSCRIPT: usize = 256;

impl Parser<'_> {
    pub(super) fn parameter_part(&self, parameter: Parameter, quoted: bool, start: usize) -> Part {
        Part::Parameter { parameter: Rc::new(parameter), quoted, origin: self.origin(start) }
    }

    pub(super) fn braced_parameter(&mut self, start: usize, quoted: bool, parts: &mut Vec<Part>) {
        let read = self.nested(b'}', |parser| {
            let parameter = parser.parameter(quoted);
            if !parser.eat("}") {
                parser.gap(start, UnknownReason::Unparsed);
                parser.skip_to_close(b'}');
            }
            parameter
        });
        match read {
            Some(parameter) => parts.push(self.parameter_part(parameter, quoted, start)),
            None => parts.push(Part::Unknown { origin: self.origin(start), why: UnknownReason::Limit }),
        }
    }

    fn parameter(&mut self, quoted: bool) -> Parameter {
        let flags = self.eat_flags();
        let prefix = match self.peek() {
            Some(b'#') if !matches!(self.peek_at(1), Some(b'}' | b':' | b'%' | b'#' | b'/') | None) => {
                Some(Operator::Length)
            }
            Some(b'#') if self.starts_with("##}") => Some(Operator::Length),
            Some(b'!') if !matches!(self.peek_at(1), Some(b'}' | b':' | b'%' | b'#' | b'/') | None) => {
                Some(Operator::Indirect)
            }
            Some(b'!') if self.starts_with("!#}") => Some(Operator::Indirect),
            _ => None,
        };
        self.at += usize::from(prefix.is_some());
        let start = self.at;
        // `${$(…)}`, `${${…}}`: zsh expands the inner expansion.
        let inner = self.peek() == Some(b'$') && matches!(self.peek_at(1), Some(b'(' | b'{'));
        let special = !inner && self.peek().is_some_and(|byte| b"@*#?$!-".contains(&byte));
        let length = self.rest().bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        self.at += if special { 1 } else { length };
        let name = self.slice(start, self.at).to_owned();
        let element = if self.peek() == Some(b'[') { self.element() } else { Element::None };
        let ends = self.peek() == Some(b'}');
        let operator = match (prefix, &element) {
            _ if flags || name.is_empty() => self.unread_operator(),
            (Some(Operator::Length), _) if ends => Operator::Length,
            // `${!a[@]}` lists subscripts.
            (Some(Operator::Indirect), Element::None | Element::At(_)) if ends => Operator::Indirect,
            (Some(_), _) => self.unread_operator(),
            (None, _) => self.operator(quoted),
        };
        Parameter { name, element, operator, bare: false }
    }

    /// Skips the flags that zsh allows before a name. Returns whether they include `(j: :)` or similar, which change
    /// the value; `=`, `~` and `^` request the default behavior of bash.
    fn eat_flags(&mut self) -> bool {
        let flags = self.eat("(");
        if flags {
            self.skip_to_close(b')');
        }
        while self.peek().is_some_and(|byte| b"=~^".contains(&byte)) {
            self.at += 1;
        }
        flags
    }

    /// Parses `[@]`, `[*]`, or a subscript that evaluates to the index of an element.
    fn element(&mut self) -> Element {
        let start = self.at;
        let length = self.subscript_length(0).unwrap_or(1);
        self.at += length;
        match self.slice(start, self.at) {
            "[@]" => Element::Each,
            "[*]" => Element::Joined,
            _ => Element::At(self.subscript(start, length)),
        }
    }

    /// Returns the length of `[…]` at `ahead` bytes after the cursor; nested brackets and substitutions are part of it.
    pub(super) fn subscript_length(&self, ahead: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (offset, byte) in self.rest().bytes().skip(ahead).take(MAX_SUBSCRIPT).enumerate() {
            match byte {
                b'[' | b'(' => depth += 1,
                b']' | b')' if depth > 1 => depth -= 1,
                b']' => return Some(offset + 1),
                b'\n' => return None,
                _ => {}
            }
        }
        None
    }

    /// Parses the inside of a subscript, which the shell evaluates.
    pub(super) fn subscript(&mut self, start: usize, length: usize) -> Word {
        let inside = self.slice(start + 1, start + length - 1).to_owned();
        let cursor = std::mem::replace(&mut self.at, start + length);
        let origin = self.origin(start);
        self.at = cursor;
        let parts = self.derived(&inside, origin, |parser| parser.heredoc_parts());
        Word { parts, origin }
    }

    fn unread_operator(&mut self) -> Operator {
        Operator::Other(self.operand(false, false))
    }

    fn operator(&mut self, quoted: bool) -> Operator {
        const WITH_OPERAND: [&str; 6] = [":-", "-", ":=", "=", ":+", "+"];
        if self.peek() == Some(b'}') {
            return Operator::Plain;
        }
        if let Some(text) = WITH_OPERAND.iter().find(|text| self.starts_with(text)) {
            self.at += text.len();
            let word = self.operand(quoted, false);
            let of_empty = text.starts_with(':');
            return match text.trim_start_matches(':') {
                "-" => Operator::Default { of_empty, word },
                "=" => Operator::Assign { of_empty, word },
                _ => Operator::Alternative { of_empty, word },
            };
        }
        if self.eat(":?") || self.eat("?") {
            return Operator::Required(self.operand(quoted, false));
        }
        self.pattern_operator(quoted)
    }

    fn pattern_operator(&mut self, quoted: bool) -> Operator {
        for (text, front, longest) in [("##", true, true), ("#", true, false), ("%%", false, true), ("%", false, false)]
        {
            if self.eat(text) {
                return Operator::Cut { front, longest, pattern: self.pattern(false) };
            }
        }
        if self.eat("/") {
            let which = match self.peek() {
                Some(b'/') => Which::All,
                Some(b'#') => Which::Front,
                Some(b'%') => Which::Back,
                _ => Which::First,
            };
            self.at += usize::from(which != Which::First);
            let pattern = self.pattern(true);
            let with = if self.eat("/") { self.operand(quoted, false) } else { Word::default() };
            return Operator::Replace { which, pattern, with };
        }
        if self.eat(":") {
            return Operator::Slice(self.operand(quoted, false));
        }
        for (sign, to) in [("^", LetterCase::Upper), (",", LetterCase::Lower), ("~", LetterCase::Turned)] {
            for first in [false, true] {
                let text = if first { format!("{sign}}}") } else { format!("{sign}{sign}}}") };
                if self.starts_with(&text) {
                    self.at += text.len() - 1;
                    return Operator::Case { to, first };
                }
            }
        }
        for (text, operator) in [("@P}", Operator::Prompt), ("@Q}", Operator::Quoted)] {
            if self.starts_with(text) {
                self.at += 2;
                return operator;
            }
        }
        self.unread_operator()
    }

    fn pattern(&mut self, slash_ends: bool) -> Word {
        let start = self.at;
        let parts = self.parts(Context::Pattern { slash_ends });
        Word { parts, origin: self.origin(start) }
    }

    fn operand(&mut self, quoted: bool, slash_ends: bool) -> Word {
        let start = self.at;
        let context = if quoted { Context::QuotedOperand { slash_ends } } else { Context::Operand { slash_ends } };
        let parts = self.parts(context);
        Word { parts, origin: self.origin(start) }
    }
}
