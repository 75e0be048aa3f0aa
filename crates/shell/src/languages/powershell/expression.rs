//! Expressions: evaluates values as far as the text determines them.

use super::methods::Member;
use super::reader::{Items, Reader};
use super::strings::{self, begins_name};
use super::{operators, scan};
use crate::model::value::{Piece, UnknownReason, Value};
use crate::text_tools::windows_words;

/// A prefix of an operand.
enum Prefix {
    Nothing,
    Negative,
    Join,
    Split,
    Cast(String),
}

impl<'a> Reader<'_, '_, 'a> {
    /// Whether an expression, not a command, begins at the cursor.
    pub(super) fn begins_expression(&self) -> bool {
        let rest = self.rest();
        let second = self.peek_at(1);
        match self.ch() {
            Some('"' | '\'') => !self.begins_quoted_program(),
            Some('$' | '(' | '{' | ',') => true,
            Some('!') => second.is_some_and(|ch| ch.is_whitespace() || "$([!'\"".contains(ch)),
            Some('@') => second.is_some_and(|ch| "({'\"".contains(ch)),
            Some('[') => second.is_some_and(begins_name),
            Some('+' | '-') => {
                let word: String = rest.chars().skip(1).take_while(|ch| ch.is_ascii_alphabetic()).collect::<String>();
                let unary = ["join", "split", "csplit", "isplit", "not", "bnot"];
                second.is_some_and(|ch| ch.is_ascii_digit() || "$('\"+-".contains(ch))
                    || unary.contains(&word.to_ascii_lowercase().as_str())
            }
            Some('.') => second.is_some_and(|ch| ch.is_ascii_digit()),
            Some(ch) if ch.is_ascii_digit() => {
                let dots = rest.find("..").unwrap_or(rest.len());
                let word = rest.find(|ch: char| !ch.is_ascii_alphanumeric() && ch != '.');
                let word = rest.get(..word.unwrap_or(rest.len()).min(dots)).unwrap_or("");
                let after = rest.get(word.len()..).and_then(|rest| rest.chars().next());
                operators::number(word).is_some()
                    && after.is_none_or(|ch| ch.is_whitespace() || ";|)},+-*/%.".contains(ch))
            }
            _ => false,
        }
    }

    /// Whether the quoted path of a program with arguments begins at the cursor: `"C:\x\tool.exe" -Flag`. PowerShell asks
    /// for `&` there, but whoever passes the line on may run the program.
    fn begins_quoted_program(&self) -> bool {
        let rest = self.rest();
        let Some(quote) = rest.chars().next() else { return false };
        let inner = rest.get(quote.len_utf8()..).unwrap_or("");
        let Some((program, after)) = inner.split_once(quote) else { return false };
        let lower = program.to_ascii_lowercase();
        let is_program = [".exe", ".com", ".cmd", ".bat", ".ps1"].iter().any(|end| lower.ends_with(end));
        let argument = after.trim_start_matches([' ', '\t']);
        let is_argument = argument.len() < after.len()
            && !argument.starts_with(['|', ';', ')', '}', '&', '=', '<', '>', '#', '?', '\n', '\r'])
            && !argument.is_empty()
            && operators::at(argument).is_none();
        is_program && is_argument
    }

    /// Evaluates an expression with all its operators.
    pub(super) fn expression(&mut self) -> Vec<Value> {
        let start = self.at;
        let values = self.level(0);
        self.skip(false);
        // `a ? b : c` and `a ?? b`
        if self.eat("??") {
            self.skip(true);
            let other = self.expression_once();
            return if values.iter().any(|value| value.literal().is_some()) { values } else { other };
        }
        if self.ch() == Some('?') && self.peek_at(1).is_some_and(char::is_whitespace) {
            self.bump();
            self.skip(true);
            let one = self.expression_once();
            self.skip(true);
            if self.ch() == Some(':') {
                self.bump();
                self.skip(true);
            }
            let other = self.expression_once();
            return if one == other { one } else { vec![self.unknown(start, UnknownReason::Branches)] };
        }
        values
    }

    /// Evaluates one branch of a conditional, which may contain conditionals itself.
    fn expression_once(&mut self) -> Vec<Value> {
        let origin = self.origin;
        if !self.on.enters(0, origin) {
            return Vec::new();
        }
        let values = self.expression();
        self.on.leaves();
        values
    }

    /// Evaluates an expression that ends at a comma.
    pub(super) fn expression_above_commas(&mut self) -> Vec<Value> {
        self.level(operators::ABOVE_COMMA)
    }

    /// Evaluates operators that bind at least as tightly as `least`.
    fn level(&mut self, least: u8) -> Vec<Value> {
        let start = self.at;
        let mut left = self.operand();
        loop {
            let before = self.at;
            self.skip(false);
            let Some(operator) = operators::at(self.rest()).filter(|operator| operator.level >= least) else {
                self.at = before;
                return left;
            };
            self.at += operator.length;
            self.skip(true);
            let right = self.level(operator.level + 1);
            let origin = self.origin_from(start);
            left = self.operate(&operator, left, right, origin);
        }
    }

    /// Evaluates an operand with its prefixes.
    fn operand(&mut self) -> Vec<Value> {
        let start = self.at;
        let mut prefixes = Vec::new();
        while let Some(prefix) = self.prefix() {
            prefixes.push(prefix);
            self.skip(true);
        }
        let mut values = self.primary_with_members();
        for prefix in prefixes.into_iter().rev() {
            let origin = self.origin_from(start);
            values = match prefix {
                Prefix::Nothing => values,
                Prefix::Negative => values.iter().map(|value| operators::negative(value, origin)).collect(),
                Prefix::Join => vec![self.joined(&values, "", origin)],
                Prefix::Split => values.iter().flat_map(|value| value.split(&[' ', '\t', '\n'])).collect(),
                Prefix::Cast(name) => self.cast(&name, values, origin),
            };
        }
        values
    }

    fn prefix(&mut self) -> Option<Prefix> {
        let rest = self.rest();
        match self.ch()? {
            '!' | ',' => {
                self.bump();
                Some(Prefix::Nothing)
            }
            '+' => {
                self.take(|ch| ch == '+');
                Some(Prefix::Nothing)
            }
            '-' => {
                let dash = self.rest().chars().next().map_or(1, char::len_utf8);
                let word: String = rest.chars().skip(1).take_while(|ch| ch.is_ascii_alphabetic()).collect::<String>();
                let prefix = match word.to_ascii_lowercase().as_str() {
                    "join" => Prefix::Join,
                    "split" | "csplit" | "isplit" => Prefix::Split,
                    "not" | "bnot" => Prefix::Nothing,
                    "" => Prefix::Negative,
                    _ => return None,
                };
                self.at += dash + word.len();
                Some(prefix)
            }
            '[' => self.cast_prefix(),
            _ => None,
        }
    }

    /// Reads `[type]` as a cast of the value after it. A type before `::` or without an operand is not a cast.
    fn cast_prefix(&mut self) -> Option<Prefix> {
        let before = self.at;
        let (name, _) = self.bracket();
        let after = self.rest().trim_start_matches([' ', '\t']);
        let next = after.chars().next().map(scan::plain);
        let casts = next.is_some_and(|ch| begins_name(ch) || "$('\"@[{+-!".contains(ch));
        let operator = operators::at(after).is_some_and(|_| next == Some('-'));
        if casts && !after.starts_with("::") && !operator {
            return Some(Prefix::Cast(name.to_owned()));
        }
        self.at = before;
        None
    }

    pub(super) fn primary_with_members(&mut self) -> Vec<Value> {
        let start = self.at;
        let (values, type_name) = self.primary();
        self.members(values, type_name, start)
    }

    /// Evaluates one value; returns its name too if it is a type.
    fn primary(&mut self) -> (Vec<Value>, Option<String>) {
        let start = self.at;
        let values = match self.ch() {
            Some('$') => self.dollar(false),
            Some('"') => vec![self.double_quoted()],
            Some('\'') => vec![self.single_quoted()],
            Some('(') => {
                let part = self.bracket();
                self.inside(part).values
            }
            Some('{') => self.block().into_iter().collect(),
            Some('@') => self.at_sign(),
            Some('[') => {
                let (name, _) = self.bracket();
                return (vec![Value::text(format!("[{name}]"), self.origin_from(start))], Some(name.to_owned()));
            }
            Some(_) => self.bare(),
            None => Vec::new(),
        };
        (values, None)
    }

    /// Evaluates a number or an unquoted word.
    fn bare(&mut self) -> Vec<Value> {
        let start = self.at;
        let word = self.take(|ch| begins_name(ch) || ch == '.');
        // `1..3`: the dots are an operator.
        if let Some((number, _)) = word.split_once("..").filter(|(number, _)| operators::number(number).is_some()) {
            self.at = start + number.len();
            return vec![Value::text(number, self.origin_from(start))];
        }
        if word.is_empty() {
            return Vec::new();
        }
        let origin = self.origin_from(start);
        match operators::number(word) {
            Some(number) => vec![Value::text(number.to_string(), origin)],
            None => vec![self.on.with_holes(word, origin)],
        }
    }

    /// `@( … )`, `@{ … }`, a here-string.
    pub(super) fn at_sign(&mut self) -> Vec<Value> {
        if scan::begins_here_string(self.text, self.at) {
            return vec![self.here_string()];
        }
        self.bump();
        match self.ch() {
            Some('(') => {
                let part = self.bracket();
                self.inside(part).values
            }
            Some('{') => {
                let (text, start) = self.bracket();
                self.deeper(text, start, |reader| reader.table()).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// Reads the entries of `@{a = 1; b = 2}`, each in the form of the parameter that it becomes when the table is
    /// splatted.
    fn table(&mut self) -> Vec<Value> {
        let mut entries = Vec::new();
        loop {
            self.skip(true);
            let start = self.at;
            if self.at >= self.text.len() {
                return entries;
            }
            let key = self.operand();
            self.skip(true);
            if self.ch() == Some('=') {
                self.bump();
                self.skip(true);
                let values: Items = self.chain();
                let key = key.first().and_then(|key| key.literal()).unwrap_or_default().into_owned();
                let mut entry = Value::text(format!("-{key}:"), self.origin_from(start));
                entry.push(windows_words::list(values.values));
                entries.push(entry);
            }
            if self.at == start {
                self.bump();
            }
        }
    }

    /// Evaluates `.name`, `.name( … )`, `::name` and `[ … ]` after a value.
    pub(super) fn members(
        &mut self,
        mut values: Vec<Value>,
        mut type_name: Option<String>,
        start: usize,
    ) -> Vec<Value> {
        loop {
            let before = self.at;
            let is_static = self.rest().starts_with("::");
            match self.ch() {
                Some(':') if is_static => self.at += 2,
                Some('.') if self.peek_at(1).is_some_and(|ch| begins_name(ch) || "$'\"(".contains(ch)) => {
                    self.bump();
                }
                Some('?') if self.rest().starts_with("?.") => self.at += 2,
                Some('[') => {
                    values = self.indexed(values, start);
                    type_name = None;
                    continue;
                }
                Some('+') if self.rest().starts_with("++") => {
                    self.at += 2;
                    values = self.counted(start, before);
                    continue;
                }
                Some('-') if self.rest().starts_with("--") => {
                    self.at += 2;
                    values = self.counted(start, before);
                    continue;
                }
                _ => return values,
            }
            let Some(name) = self.member_name() else {
                self.at = before;
                return values;
            };
            let arguments = if self.ch() == Some('(') { Some(self.call_arguments()) } else { None };
            let type_name = type_name.take().filter(|_| is_static);
            values = self.member(Member { name, type_name, values, arguments }, start);
        }
    }

    /// `$i++`: the variable becomes an unknown number.
    fn counted(&mut self, start: usize, end: usize) -> Vec<Value> {
        let name = self.text.get(start..end).unwrap_or("").trim_start_matches('$').to_owned();
        let unknown = vec![self.unknown(start, UnknownReason::Arithmetic)];
        if !name.is_empty() && name.chars().all(|ch| begins_name(ch) || ch == ':') {
            self.assign_name(&name, unknown.clone());
        }
        unknown
    }

    fn member_name(&mut self) -> Option<String> {
        let values = match self.ch()? {
            '$' => self.dollar(false),
            '"' => vec![self.double_quoted()],
            '\'' => vec![self.single_quoted()],
            '(' => {
                let part = self.bracket();
                self.inside(part).values
            }
            _ => return Some(self.take(begins_name).to_owned()).filter(|name| !name.is_empty()),
        };
        Some(values.first().and_then(Value::literal).unwrap_or_default().into_owned())
    }

    /// Evaluates the arguments of a method; each may have several values.
    fn call_arguments(&mut self) -> Vec<Vec<Value>> {
        let (text, start) = self.bracket();
        let read = |reader: &mut Reader<'_, '_, 'a>| {
            let mut arguments = Vec::new();
            loop {
                reader.skip(true);
                let before = reader.at;
                if reader.at >= reader.text.len() {
                    return arguments;
                }
                arguments.push(reader.expression_above_commas());
                reader.skip(true);
                if reader.ch() == Some(',') || reader.at == before {
                    reader.bump();
                }
            }
        };
        self.deeper(text, start, read).unwrap_or_default()
    }

    /// `[0]`, `[1..3]`, `[4,2]`, `[-1]`, `['key']`.
    fn indexed(&mut self, values: Vec<Value>, start: usize) -> Vec<Value> {
        let part = self.bracket();
        let indexes = self.inside(part).values;
        let origin = self.origin_from(start);
        let chars = match values.as_slice() {
            [one] => operators::chars(one),
            _ => None,
        };
        let elements = chars.unwrap_or(values);
        let known: Option<Vec<Value>> =
            indexes.iter().map(|index| operators::element(&elements, index)).collect::<Option<_>>();
        match known {
            Some(found) if !indexes.is_empty() => found,
            _ => vec![Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin)],
        }
    }

    /// Returns a type name in lower case, without the `System.` namespace.
    pub(super) fn type_of(name: &str) -> String {
        let name = name.trim().to_lowercase();
        name.strip_prefix("system.").map_or(name.clone(), str::to_owned)
    }

    /// Returns the first value that is a script block.
    pub(super) fn block_of(values: &[Value]) -> Option<Value> {
        values.iter().find(|value| strings::is_block(value)).cloned()
    }
}
