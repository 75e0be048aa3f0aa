//! Words: quotes, escapes, parameters, substitutions, patterns.

use super::lists::Stop;
use super::{Operator, Parameter, Parser, Part, Word};
use crate::value::Why;
use std::rc::Rc;

/// What a word's characters mean where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    /// A word of a command: blanks and operators end it.
    Plain,
    /// The value of an assignment: a tilde behind `:` counts too, braces do not.
    Assignment,
    /// Between `${name-` and `}`.
    Operand { slash_ends: bool },
    /// The same inside double quotes.
    QuotedOperand { slash_ends: bool },
    /// Between double quotes.
    Double,
    /// A heredoc whose delimiter is not quoted.
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
            Context::Plain | Context::Assignment => matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')'),
            Context::Operand { slash_ends } | Context::QuotedOperand { slash_ends } => {
                byte == b'}' || (slash_ends && byte == b'/')
            }
            Context::Double => byte == b'"',
            Context::Heredoc | Context::Arithmetic => false,
        }
    }
}

impl Parser<'_> {
    /// The word at the cursor, `None` where none begins.
    pub(super) fn word(&mut self) -> Option<Word> {
        let start = self.at;
        let parts = self.parts(Context::Plain);
        (self.at > start).then(|| Word { parts, origin: self.origin(start) })
    }

    /// The value of an assignment, which may be empty.
    pub(super) fn assigned_word(&mut self) -> Word {
        let start = self.at;
        let parts = self.parts(Context::Assignment);
        Word { parts, origin: self.origin(start) }
    }

    pub(super) fn heredoc_parts(&mut self) -> Vec<Part> {
        self.parts(Context::Heredoc)
    }

    fn parts(&mut self, context: Context) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut braces = 0u32;
        while let Some(byte) = self.peek() {
            if context.ends_at(byte) || (byte == b'\r' && context == Context::Plain && self.peek_at(1) == Some(b'\n')) {
                break;
            }
            let unquoted = matches!(context, Context::Plain | Context::Assignment);
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
                b'{' | b'}' | b',' if context == Context::Plain => self.brace(byte, &mut braces, &mut parts),
                _ => self.plain(self.run_length(context), context, &mut parts),
            }
        }
        parts
    }

    /// The bytes from the cursor that mean nothing special.
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
        let text = self.slice(start, self.at).to_owned();
        self.push_text(&text, context.is_quoted(), start, parts);
    }

    fn push_text(&self, new: &str, new_quoted: bool, start: usize, parts: &mut Vec<Part>) {
        let new_origin = self.origin(start);
        match parts.last_mut() {
            Some(Part::Text { text, quoted, origin }) if *quoted == new_quoted => {
                text.push_str(new);
                origin.span = origin.span.join(new_origin.span);
            }
            _ => parts.push(Part::Text { text: new.into(), quoted: new_quoted, origin: new_origin }),
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
            Context::Plain | Context::Assignment | Context::Operand { .. } | Context::Arithmetic => false,
        };
        let from = if keeps_backslash { start } else { self.at };
        self.bump();
        let text = self.slice(from, self.at).to_owned();
        self.push_text(&text, true, start, parts);
    }

    fn single_quoted(&mut self, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 1;
        let inside = self.at;
        let length = self.rest().bytes().position(|byte| byte == b'\'');
        let end = length.map_or(self.text.len(), |length| inside + length);
        self.at = if length.is_some() { end + 1 } else { end };
        if length.is_none() {
            self.gap(start, Why::Unparsed);
        }
        let text = self.slice(inside, end).to_owned();
        self.push_text(&text, true, start, parts);
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
                parser.gap(start, Why::Unparsed);
            }
            inner
        });
        match inner {
            // An empty pair still makes a word; `"$@"` without parameters makes none.
            Some(inner) if inner.is_empty() => self.push_text("", true, start, parts),
            Some(inner) => inner.into_iter().for_each(|part| merge(part, parts)),
            None => parts.push(Part::Unknown { origin: self.origin(start), why: Why::Limit }),
        }
    }

    fn backquoted(&mut self, context: Context, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.peek() {
                None => break self.gap(start, Why::Unparsed),
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
            // Each level copies its text: nested backquotes are given up earlier than what is read in place.
            self.gap(start, Why::Limit);
            return parts.push(Part::Unknown { origin, why: Why::Limit });
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
            Some(b'[') if !quoted || context == Context::Double => {
                self.at += 1;
                let length = self.bracket_length().max(1);
                self.at += length;
                parts.push(Part::Arithmetic { parts: Vec::new(), origin: self.origin(start) });
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
                parts.push(self.parameter_part(Parameter { name, operator: Operator::Plain }, quoted, start));
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?$!-".contains(&byte) => {
                self.at += 2;
                let name = char::from(byte).to_string();
                parts.push(self.parameter_part(Parameter { name, operator: Operator::Plain }, quoted, start));
            }
            _ => self.plain(1, context, parts),
        }
    }

    fn parameter_part(&self, parameter: Parameter, quoted: bool, start: usize) -> Part {
        Part::Parameter { parameter: Rc::new(parameter), quoted, origin: self.origin(start) }
    }

    fn substitution(&mut self, start: usize, quoted: bool, parts: &mut Vec<Part>) {
        let script = self.nested(b')', |parser| {
            let script = parser.list(Stop::Paren);
            if !parser.eat(")") {
                parser.gap(start, Why::Unparsed);
            }
            script
        });
        let origin = self.origin(start);
        parts.push(match script {
            Some(script) => Part::Output { script: Rc::new(script), quoted, origin },
            None => Part::Unknown { origin, why: Why::Limit },
        });
    }

    fn process_substitution(&mut self, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 2;
        let mut inner = Vec::new();
        self.substitution(start, true, &mut inner);
        parts.extend(inner.into_iter().map(|part| {
            let Part::Output { script, origin, .. } = &part else { return part };
            Part::Process { script: script.clone(), origin: *origin }
        }));
    }

    fn braced_parameter(&mut self, start: usize, quoted: bool, parts: &mut Vec<Part>) {
        let read = self.nested(b'}', |parser| {
            let (name, operator) = parser.parameter_and_operator(quoted);
            if !parser.eat("}") {
                parser.gap(start, Why::Unparsed);
                parser.skip_to_close(b'}');
            }
            (name, operator)
        });
        match read {
            Some((name, operator)) => parts.push(self.parameter_part(Parameter { name, operator }, quoted, start)),
            None => parts.push(Part::Unknown { origin: self.origin(start), why: Why::Limit }),
        }
    }

    fn parameter_and_operator(&mut self, quoted: bool) -> (String, Operator) {
        let prefix = match self.peek() {
            Some(b'#') if !matches!(self.peek_at(1), Some(b'}') | None) => Some(Operator::Length),
            Some(b'!') if !matches!(self.peek_at(1), Some(b'}') | None) => Some(Operator::Indirect),
            _ => None,
        };
        self.at += usize::from(prefix.is_some());
        let start = self.at;
        // `${$(…)}`, `${${…}}`: zsh expands what it finds there.
        let inner = self.peek() == Some(b'$') && matches!(self.peek_at(1), Some(b'(' | b'{'));
        let special = !inner && self.peek().is_some_and(|byte| b"@*#?$!-".contains(&byte));
        let length = self.rest().bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        self.at += if special { 1 } else { length };
        let name = self.slice(start, self.at).to_owned();
        let subscript = self.peek() == Some(b'[');
        if subscript {
            self.at += self.bracket_length().max(1);
        }
        let element = self.slice(start + name.len(), self.at);
        let listed = matches!(element, "" | "[@]" | "[*]");
        let readable = listed || element.bytes().all(|byte| byte.is_ascii_digit() || b"[]".contains(&byte));
        let name = format!("{name}{element}");
        if let Some(prefix) = prefix {
            // `${!a[@]}` lists subscripts.
            let understood = self.peek() == Some(b'}') && (element.is_empty() || matches!(prefix, Operator::Length));
            return (name, if understood { prefix } else { self.unread_operator() });
        }
        if subscript && !readable {
            return (name, self.unread_operator());
        }
        (name, self.operator(quoted))
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
                return Operator::Cut { front, longest, pattern: self.operand(false, false) };
            }
        }
        if self.eat("/") {
            let all = self.eat("/");
            if self.starts_with("#") || self.starts_with("%") {
                return self.unread_operator();
            }
            let pattern = self.operand(false, true);
            let with = if self.eat("/") { self.operand(quoted, false) } else { Word::default() };
            return Operator::Replace { all, pattern, with };
        }
        if self.eat(":") {
            return Operator::Slice(self.operand(quoted, false));
        }
        if self.eat("^^") && self.peek() == Some(b'}') {
            return Operator::Upper;
        }
        if self.eat(",,") && self.peek() == Some(b'}') {
            return Operator::Lower;
        }
        self.unread_operator()
    }

    fn operand(&mut self, quoted: bool, slash_ends: bool) -> Word {
        let start = self.at;
        let context = if quoted { Context::QuotedOperand { slash_ends } } else { Context::Operand { slash_ends } };
        let parts = self.parts(context);
        Word { parts, origin: self.origin(start) }
    }

    /// `((` behind the cursor: where its `))` begins, if it is arithmetic at all.
    pub(super) fn arithmetic_ends(&self) -> Option<usize> {
        self.arithmetic_ends_at(self.at + 2)
    }

    fn arithmetic_ends_at(&self, inside: usize) -> Option<usize> {
        // What is longer is read as commands in parentheses; the bound keeps reading linear.
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

    /// The inside of `(( … ))`, whose end is known to be there; steps behind it.
    pub(super) fn arithmetic_parts(&mut self) -> Vec<Part> {
        let end = self.arithmetic_ends_at(self.at).unwrap_or(self.text.len());
        let start = self.at;
        if self.is_too_deep() {
            self.at = (end + 2).min(self.text.len());
            self.gap(start, Why::Limit);
            return vec![Part::Unknown { origin: self.origin(start), why: Why::Limit }];
        }
        self.depth += 1;
        let parts = self.arithmetic_parts_until(end);
        self.depth -= 1;
        parts
    }

    fn arithmetic_parts_until(&mut self, end: usize) -> Vec<Part> {
        let parts = self.substitutions_until(end);
        self.eat("))");
        parts
    }

    /// What is substituted between here and `end`; all else is stepped over.
    fn substitutions_until(&mut self, end: usize) -> Vec<Part> {
        let mut parts = Vec::new();
        while self.at < end {
            let before = self.at;
            match self.peek() {
                Some(b'$') => self.dollar(Context::Arithmetic, &mut parts),
                Some(b'`') => self.backquoted(Context::Arithmetic, &mut parts),
                _ => self.bump(),
            }
            debug_assert!(self.at > before);
        }
        self.at = self.at.max(end);
        parts.retain(|part| !matches!(part, Part::Text { .. }));
        parts
    }

    /// The length of `[…]` at the cursor if it is a pattern, else 1.
    fn bracket_length(&self) -> usize {
        // Longer sets are no patterns to us; the bound keeps reading linear.
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
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' | b'`' => return 1,
                _ => at += 1,
            }
        }
        1
    }

    /// `?(a|b)`, `*(…)`, `+(…)`, `@(…)`, `!(…)`: the character before the parenthesis makes it a pattern.
    fn extended_glob(&mut self, parts: &mut Vec<Part>) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.text.as_bytes().get(at));
        if parts.is_empty() || !before.is_some_and(|byte| b"?*+@!".contains(byte)) {
            return false;
        }
        let start = self.at;
        self.at += 1;
        let inside = self.at;
        if !self.skip_to_close(b')') {
            self.gap(start, Why::Unparsed);
        }
        let (end, origin) = (self.at, self.origin(start));
        parts.push(Part::Glob { text: "*".into(), origin });
        if self.slice(inside, end).contains(['$', '`']) {
            // What a pattern is made of runs too.
            self.at = inside;
            parts.extend(self.substitutions_until(end));
        }
        true
    }

    fn tilde_counts(&self, context: Context, parts: &[Part]) -> bool {
        match parts.last() {
            None => true,
            // A brace expression is taken apart first.
            Some(Part::Brace { mark: '{' | ',', .. }) => true,
            Some(Part::Text { text, quoted: false, .. }) if context == Context::Assignment => text.ends_with(':'),
            // bash takes `of=~` for an assignment wherever it stands; `--option=~` is none.
            Some(Part::Text { text, quoted: false, .. }) => text.strip_suffix('=').is_some_and(super::is_name),
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

    /// The inside of `$'…'`, decoded; steps behind the closing quote.
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
                    let (bytes, length) = crate::decode::escape(self.rest().as_bytes());
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
