//! Strings and variables: quotes, dollar signs and backticks.

use super::reader::Reader;
use super::scan;
use crate::languages::windows;
use crate::model::value::{Origin, Piece, Printed, UnknownReason, Value};

/// Whether a value is a script block.
pub(super) fn is_block(value: &Value) -> bool {
    value.literal().is_some_and(|text| text.starts_with('{') && text.ends_with('}'))
}

/// Converts a text to a script block.
pub(super) fn as_block(value: &Value) -> Value {
    if is_block(value) {
        return value.clone();
    }
    let origin = value.origin();
    let mut block = Value::text("{", origin);
    block.push(value.clone());
    block.push_text("}", origin);
    block
}

/// Returns the character that a backtick and the next character represent.
pub(super) fn escaped(ch: char) -> char {
    match ch {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'e' => '\u{1b}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        ch => ch,
    }
}

impl<'a> Reader<'_, '_, 'a> {
    /// Reads a string in single quotes.
    pub(super) fn single_quoted(&mut self) -> Value {
        let start = self.at;
        self.bump();
        let inside = self.at;
        self.at = scan::past_quote(self.text, inside, '\'');
        let raw = self.text.get(inside..self.at).unwrap_or("");
        let closed = raw.chars().last().is_some_and(|ch| scan::plain(ch) == '\'');
        if !closed {
            self.gap(start, UnknownReason::Unparsed);
        }
        let raw =
            if closed { raw.trim_end_matches(['\'', '\u{2018}', '\u{2019}', '\u{201a}', '\u{201b}']) } else { raw };
        let doubled = self.text.get(inside + raw.len()..self.at).unwrap_or("").chars().count().saturating_sub(1) / 2;
        let text = format!("{}{}", raw.replace("''", "'"), "'".repeat(doubled));
        let origin = self.origin_from(start);
        self.on.with_holes(&text, origin)
    }

    /// Reads a string in double quotes.
    pub(super) fn double_quoted(&mut self) -> Value {
        let start = self.at;
        self.bump();
        let mut value = Value::default();
        loop {
            match self.ch() {
                None => {
                    self.gap(start, UnknownReason::Unparsed);
                    break;
                }
                Some('"') if self.peek_at(1) == Some('"') => {
                    self.bump();
                    self.string_char(&mut value, '"');
                }
                Some('"') => {
                    self.bump();
                    break;
                }
                Some(_) => self.string_part(&mut value),
            }
        }
        self.finish(value, start)
    }

    /// Reads a here-string.
    pub(super) fn here_string(&mut self) -> Value {
        let start = self.at;
        let expands = self.peek_at(1) == Some('"');
        let (begin, end, after) = scan::here_string(self.text, self.at);
        let body = self.text.get(begin..end).unwrap_or("");
        let value = if expands {
            let mut reader = self.part(body, begin);
            let mut value = Value::default();
            while reader.ch().is_some() {
                reader.string_part(&mut value);
            }
            value
        } else {
            let origin = self.origin_of(begin, end);
            self.on.with_holes(body, origin)
        };
        self.at = after;
        self.finish(value, start)
    }

    /// Completes a value; an empty one becomes an empty text with an origin.
    pub(super) fn finish(&self, value: Value, start: usize) -> Value {
        let origin = self.origin_from(start);
        if value.pieces.is_empty() {
            return Value::text("", origin);
        }
        let mut filled = Value::default();
        for (piece, origin) in value.pieces {
            match piece.as_text() {
                Some(text) => filled.push(self.on.with_holes(text, origin)),
                None => filled.pieces.push((piece, origin)),
            }
        }
        filled
    }

    pub(super) fn string_char(&mut self, value: &mut Value, ch: char) {
        let start = self.at;
        self.bump();
        let origin = self.origin_from(start);
        value.push_text(ch.encode_utf8(&mut [0; 4]), origin);
    }

    /// Reads one character or expansion inside double quotes.
    fn string_part(&mut self, value: &mut Value) {
        match self.ch() {
            Some('`') => self.escape(value),
            Some('$') => self.expansion(value),
            _ => {
                let start = self.at;
                let plain = self.take(|ch| !matches!(scan::plain(ch), '`' | '$' | '"'));
                if plain.is_empty() {
                    let ch = self.ch().unwrap_or('"');
                    return self.string_char(value, ch);
                }
                let origin = self.origin_from(start);
                value.push_text(plain, origin);
            }
        }
    }

    fn escape(&mut self, value: &mut Value) {
        let start = self.at;
        self.bump();
        if self.rest().starts_with("u{") {
            self.at += 2;
            let code = self.take(|ch| ch != '}' && ch != '\n');
            self.bump();
            let ch = u32::from_str_radix(code, 16).ok().and_then(char::from_u32).unwrap_or('?');
            let origin = self.origin_from(start);
            return value.push_text(ch.encode_utf8(&mut [0; 4]), origin);
        }
        if let Some(ch) = self.rest().chars().next() {
            self.string_char(value, escaped(ch));
        }
    }

    /// Expands `$x`, `${x}` or `$(…)` inside a text; a dollar sign before any other character is literal.
    pub(super) fn expansion(&mut self, value: &mut Value) {
        let start = self.at;
        let named = self.peek_at(1).is_some_and(|ch| begins_name(ch) || ch == '{' || ch == '(');
        if !named {
            return self.string_char(value, '$');
        }
        let values = self.dollar(true);
        let origin = self.origin_from(start);
        for (index, part) in values.into_iter().enumerate() {
            if index > 0 {
                value.push_text(" ", origin);
            }
            value.push(part);
        }
    }

    /// Evaluates a dollar expression. A colon belongs to the name only if another name follows it.
    pub(super) fn dollar(&mut self, in_text: bool) -> Vec<Value> {
        let start = self.at;
        self.bump();
        match self.ch() {
            Some('(') => {
                let part = self.bracket();
                self.inside(part).values
            }
            Some('{') => {
                let (name, _) = self.bracket();
                let name = name.replace('`', "");
                self.variable(&name, start)
            }
            Some('$' | '?' | '^') => {
                self.bump();
                vec![self.unknown(start, UnknownReason::NotEvaluated)]
            }
            _ => {
                let mut end = self.at + self.take_name().len();
                let rest = self.text.get(end..).unwrap_or("");
                let scoped = rest.strip_prefix(':').filter(|rest| rest.starts_with(begins_name));
                if scoped.is_some() && !rest.starts_with("::") {
                    self.at = end + 1;
                    self.take_name();
                    end = self.at;
                }
                self.at = end;
                let name = self.text.get(start + 1..end).unwrap_or("").to_owned();
                if name.is_empty() && !in_text {
                    return vec![self.finish(Value::text("$", self.origin_from(start)), start)];
                }
                self.variable(&name, start)
            }
        }
    }

    fn take_name(&mut self) -> &str {
        let start = self.at;
        self.take(|ch| ch.is_alphanumeric() || ch == '_');
        self.text.get(start..self.at).unwrap_or("")
    }

    /// Returns the values of a variable.
    pub(super) fn variable(&mut self, name: &str, start: usize) -> Vec<Value> {
        let origin = self.origin_from(start);
        let name = without_scope(name);
        let lower = name.to_lowercase();
        if let Some(name) = lower.strip_prefix("env:").and_then(|_| name.get(4..)) {
            return vec![windows::environment(&self.on.state, name, origin)];
        }
        if let Some(values) = self.get(&lower) {
            return values;
        }
        let text = |text: &str| vec![Value::text(text, origin)];
        match lower.as_str() {
            "null" => Vec::new(),
            "true" => text("True"),
            "false" => text("False"),
            "profile" => vec![profile(origin)],
            "home" => vec![Value::piece(Piece::Home(String::new()), origin)],
            "pwd" => vec![self.on.state.folder_value(origin)],
            "shellid" => text("Microsoft.PowerShell"),
            "pshome" => text("C:\\Windows\\System32\\WindowsPowerShell\\v1.0"),
            "verbosepreference" | "debugpreference" => text("SilentlyContinue"),
            "ofs" => text(" "),
            "psscriptroot" => vec![Value::piece(Piece::Output(Printed::WorkingDirectory), origin)],
            "args" | "input" => Vec::new(),
            _ => vec![Value::piece(Piece::Unknown(UnknownReason::Input), origin)],
        }
    }
}

/// Returns the path of the profile that PowerShell runs at startup. The actual path depends on the system and the
/// version.
fn profile(origin: Origin) -> Value {
    let mut path = Value::piece(Piece::Home(String::new()), origin);
    path.push_text("/Documents/PowerShell/Microsoft.PowerShell_profile.ps1", origin);
    path
}

pub(super) fn begins_name(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

/// Removes a scope: `$global:x` is `$x`.
pub(super) fn without_scope(name: &str) -> &str {
    const SCOPES: [&str; 7] = ["global", "script", "local", "private", "using", "variable", "workflow"];
    match name.split_once(':') {
        Some((scope, rest)) if SCOPES.contains(&scope.to_lowercase().as_str()) => rest,
        _ => name,
    }
}
