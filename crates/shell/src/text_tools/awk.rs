//! awk programs: their tokens, the values of their expressions, and the output of simple programs for a known input.

use super::decode;
use crate::model::value::{Origin, Piece, UnknownReason, Value};
use std::collections::BTreeMap;

/// Whether a statement begins after the token.
pub(crate) fn begins_statement(token: &Token) -> bool {
    ends_statement(token) || matches!(token, Token::Symbol("{" | "("))
}

/// Whether a statement ends before the token.
pub(crate) fn ends_statement(token: &Token) -> bool {
    matches!(token, Token::Symbol(";" | "}" | "\n"))
}

/// Returns the index of the parenthesis that closes the one opened before these tokens.
pub(crate) fn closing(tokens: &[Token]) -> usize {
    let mut depth = 1usize;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Symbol("(") => depth += 1,
            Token::Symbol(")") => depth -= 1,
            Token::Text(_) | Token::Number(_) | Token::Name(_) | Token::Pattern(_) | Token::Symbol(_) => {}
        }
        if depth == 0 {
            return index;
        }
    }
    tokens.len()
}

/// Returns the output of the program for the input `text`; `None` for programs beyond patterns and prints.
pub(crate) fn printed(program: &str, separator: Option<&str>, text: &str) -> Option<String> {
    let tokens = tokens(program);
    let rules = rules(&tokens)?;
    let variables = variables(&tokens);
    let mut printed = String::with_capacity(text.len());
    let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    let begin = rules.iter().filter(|rule| rule.is_named("BEGIN"));
    for rule in begin {
        rule.print(&variables, None, &mut printed)?;
    }
    if rules.iter().all(|rule| rule.is_named("BEGIN")) {
        return Some(printed);
    }
    if lines.len() * rules.len() > MAX_STEPS {
        return None;
    }
    for (index, line) in lines.iter().enumerate() {
        let record = Record::split(line, separator, index + 1);
        for rule in rules.iter().filter(|rule| !rule.is_named("BEGIN") && !rule.is_named("END")) {
            if rule.fits(&record)? {
                rule.print(&variables, Some(&record), &mut printed)?;
            }
        }
    }
    for rule in rules.iter().filter(|rule| rule.is_named("END")) {
        rule.print(&variables, None, &mut printed)?;
    }
    Some(printed)
}

/// Whether the program exits before it reads its input.
pub(crate) fn reads_nothing(program: &str) -> bool {
    rules(&tokens(program)).is_some_and(|rules| !rules.is_empty() && rules.iter().all(|rule| rule.is_named("BEGIN")))
}

/// Maximum number of lines times rules.
const MAX_STEPS: usize = 4096;

struct Rule<'t> {
    pattern: &'t [Token],
    action: Option<&'t [Token]>,
}

fn rules(tokens: &[Token]) -> Option<Vec<Rule<'_>>> {
    let mut rules = Vec::new();
    let mut rest = tokens;
    while !rest.is_empty() {
        let open = rest.iter().position(|token| matches!(token, Token::Symbol("{" | ";" | "\n"))).unwrap_or(rest.len());
        let pattern = rest.get(..open)?;
        if rest.get(open) != Some(&Token::Symbol("{")) {
            if !pattern.is_empty() {
                rules.push(Rule { pattern, action: None });
            }
            rest = rest.get(open + 1..).unwrap_or(&[]);
            continue;
        }
        let inside = rest.get(open + 1..)?;
        let end = inside.iter().position(|token| *token == Token::Symbol("}"))?;
        let action = inside.get(..end)?;
        if action.contains(&Token::Symbol("{")) {
            return None;
        }
        rules.push(Rule { pattern, action: Some(action) });
        rest = inside.get(end + 1..).unwrap_or(&[]);
    }
    Some(rules)
}

impl Rule<'_> {
    fn is_named(&self, name: &str) -> bool {
        matches!(self.pattern, [Token::Name(pattern)] if pattern == name)
    }

    fn fits(&self, record: &Record<'_>) -> Option<bool> {
        let matches = |pattern: &str| Some(decode::compiled(pattern, false)?.is_match(record.line));
        match self.pattern {
            [] => Some(true),
            [Token::Number(number)] => Some(number != "0"),
            [Token::Pattern(pattern)] => matches(pattern),
            [Token::Symbol("!"), Token::Pattern(pattern)] => matches(pattern).map(|fits| !fits),
            [Token::Name(name), Token::Symbol("=="), Token::Number(number)] if name == "NR" => {
                Some(number.parse() == Ok(record.number))
            }
            _ => None,
        }
    }

    fn print(&self, variables: &Variables<'_>, record: Option<&Record<'_>>, printed: &mut String) -> Option<()> {
        let scope = Scope { variables, record, origin: Origin::default(), inside_variable: false };
        let Some(action) = self.action else {
            printed.extend([record?.line, "\n"]);
            return Some(());
        };
        for statement in action.split(ends_statement).filter(|statement| !statement.is_empty()) {
            match statement.split_first()? {
                (Token::Name(name), []) if name == "print" => printed.extend([record?.line, "\n"]),
                (Token::Name(name), list) if name == "print" => {
                    printed.push_str(&scope.list(list).literal()?);
                    printed.push('\n');
                }
                (Token::Name(name), list) if name == "printf" => {
                    let values: Option<Vec<String>> = list
                        .split(|token| *token == Token::Symbol(","))
                        .map(|part| scope.value(part).literal().map(|text| text.into_owned()))
                        .collect();
                    let values = values?;
                    printed.push_str(&decode::printf(values.first()?, values.get(1..)?)?);
                }
                (Token::Name(_), [Token::Symbol("="), ..]) => {}
                _ => return None,
            }
        }
        Some(())
    }
}

/// An input line with its fields.
pub(crate) struct Record<'l> {
    line: &'l str,
    fields: Vec<&'l str>,
    number: usize,
}

impl<'l> Record<'l> {
    pub(crate) fn split(line: &'l str, separator: Option<&str>, number: usize) -> Record<'l> {
        let fields = match separator.filter(|separator| *separator != " ") {
            Some("\\t") => line.split('\t').collect(),
            Some(separator) => line.split(separator).collect(),
            None => line.split_whitespace().collect(),
        };
        Record { line, fields, number }
    }
}

/// The environment of an expression: the program's variables, and the input line if it is known.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'t> {
    pub(crate) variables: &'t Variables<'t>,
    pub(crate) record: Option<&'t Record<'t>>,
    pub(crate) origin: Origin,
    /// Whether a variable is being expanded. Variables inside variables are not expanded.
    pub(crate) inside_variable: bool,
}

impl Scope<'_> {
    /// Returns the output of `print a, b`, without the newline.
    pub(crate) fn list(&self, tokens: &[Token]) -> Value {
        if let ([], Some(record)) = (tokens, self.record) {
            return Value::text(record.line, self.origin);
        }
        let mut joined = Value::default();
        for (index, part) in tokens.split(|token| *token == Token::Symbol(",")).enumerate() {
            if index > 0 {
                joined.push_text(" ", self.origin);
            }
            joined.push(self.value(part));
        }
        joined
    }

    /// Concatenates adjacent values. Everything except texts, numbers, fields and variables is unknown.
    pub(crate) fn value(&self, tokens: &[Token]) -> Value {
        if tokens.len() > MAX_LIST {
            return self.unknown();
        }
        let mut value = Value::default();
        let mut rest = tokens;
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            match first {
                Token::Text(text) | Token::Number(text) => value.push_text(text, self.origin),
                Token::Symbol("(" | ")") => {}
                Token::Symbol("$") => {
                    value.push(self.field(rest.first()));
                    rest = rest.get(1..).unwrap_or(&[]);
                }
                Token::Name(name) if rest.first() == Some(&Token::Symbol("[")) => {
                    let end = rest.iter().position(|token| *token == Token::Symbol("]")).unwrap_or(rest.len());
                    value.push(match (name.as_str(), rest.get(1..end)) {
                        ("ENVIRON", Some([Token::Text(name)])) => {
                            Value::piece(Piece::Variable(name.clone()), self.origin)
                        }
                        _ => self.unknown(),
                    });
                    rest = rest.get(end + 1..).unwrap_or(&[]);
                }
                Token::Name(name) if rest.first() != Some(&Token::Symbol("(")) => value.push(self.variable(name)),
                Token::Name(_) => {
                    let inside = rest.get(1..).unwrap_or(&[]);
                    rest = inside.get(closing(inside) + 1..).unwrap_or(&[]);
                    value.push(self.unknown());
                }
                Token::Pattern(_) | Token::Symbol(_) => value.push(self.unknown()),
            }
        }
        value
    }

    fn unknown(&self) -> Value {
        Value::piece(Piece::Unknown(UnknownReason::Input), self.origin)
    }

    fn field(&self, token: Option<&Token>) -> Value {
        let Some(record) = self.record else { return self.unknown() };
        let index = match token {
            Some(Token::Number(number)) => number.parse().ok(),
            Some(Token::Name(name)) if name == "NF" => Some(record.fields.len()),
            _ => None,
        };
        match index {
            Some(0usize) => Value::text(record.line, self.origin),
            Some(index) => Value::text(record.fields.get(index - 1).copied().unwrap_or(""), self.origin),
            None => self.unknown(),
        }
    }

    /// Returns the value of `NR`, `NF`, or a variable that the program assigns once.
    fn variable(&self, name: &str) -> Value {
        let numbers = self.record.map(|record| (record.number, record.fields.len()));
        match (name, numbers) {
            ("NR" | "FNR", Some((number, _))) => return Value::text(number.to_string(), self.origin),
            ("NF", Some((_, count))) => return Value::text(count.to_string(), self.origin),
            _ => {}
        }
        let expression = self.variables.get(name).copied().flatten().filter(|_| !self.inside_variable);
        match expression {
            Some(expression) => Scope { inside_variable: true, ..*self }.value(expression),
            None => self.unknown(),
        }
    }
}

/// Maximum number of tokens in a concatenation.
const MAX_LIST: usize = 256;

/// Maximum number of tokens in an expression that a variable is replaced by.
const MAX_EXPRESSION: usize = 16;

/// Collects the expression assigned to each variable; `None` if it is assigned more than once or its expression is too
/// long.
pub(crate) fn variables(tokens: &[Token]) -> Variables<'_> {
    let mut variables = Variables::new();
    for (at, two) in tokens.windows(2).enumerate() {
        let [Token::Name(name), Token::Symbol("=")] = two else { continue };
        let after = tokens.get(at + 2..).unwrap_or(&[]);
        let length = after.iter().take(MAX_EXPRESSION + 1).take_while(|token| !ends_statement(token)).count();
        let expression = after.get(..length).filter(|_| length <= MAX_EXPRESSION);
        let known = variables.entry(name.as_str()).or_insert(expression);
        *known = known.filter(|known| expression.is_some_and(|expression| std::ptr::eq(*known, expression)));
    }
    variables
}

/// Each variable with the expression assigned to it.
pub(crate) type Variables<'t> = BTreeMap<&'t str, Option<&'t [Token]>>;

/// A token of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Text(String),
    Number(String),
    Name(String),
    Pattern(String),
    Symbol(&'static str),
}

/// The operators and punctuation, longest first.
const SYMBOLS: [&str; 36] = [
    ">>", "|&", "||", "&&", "==", "!=", "<=", ">=", "!~", "++", "--", "+=", "-=", "*=", "/=", "%=", "|", ">", "<", "(",
    ")", "{", "}", "[", "]", ";", ",", "$", "=", "!", "~", "+", "-", "*", "?", "\n",
];

/// Splits a program into tokens.
pub(crate) fn tokens(program: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = program;
    while let Some(first) = rest.chars().next() {
        let taken = |fits: fn(char) -> bool| rest.find(|ch| !fits(ch)).unwrap_or(rest.len());
        let length = match first {
            '"' => {
                let (text, length) = delimited(rest, '"');
                tokens.push(Token::Text(decode::escapes(&text)));
                length
            }
            '/' if !ends_operand(tokens.last()) => {
                let (pattern, length) = delimited(rest, '/');
                tokens.push(Token::Pattern(pattern.replace("\\/", "/")));
                length
            }
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '\\' => first.len_utf8(),
            digit if digit.is_ascii_digit() => {
                let length = taken(|ch| ch.is_ascii_digit() || ch == '.');
                tokens.push(Token::Number(rest.get(..length).unwrap_or("").to_owned()));
                length
            }
            ch if ch.is_ascii_alphabetic() || ch == '_' => {
                let length = taken(|ch| ch.is_ascii_alphanumeric() || ch == '_');
                tokens.push(Token::Name(rest.get(..length).unwrap_or("").to_owned()));
                length
            }
            other => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                Some(symbol) => {
                    tokens.push(Token::Symbol(symbol));
                    symbol.len()
                }
                None => {
                    if !other.is_whitespace() {
                        tokens.push(Token::Symbol("?"));
                    }
                    other.len_utf8()
                }
            },
        };
        rest = rest.get(length..).unwrap_or("");
    }
    tokens
}

fn ends_operand(token: Option<&Token>) -> bool {
    matches!(token, Some(Token::Text(_) | Token::Number(_) | Token::Name(_) | Token::Symbol(")" | "]" | "$")))
}

/// Returns the text between two delimiters and the length including both. A backslash escapes the next character.
fn delimited(text: &str, delimiter: char) -> (String, usize) {
    let mut inside = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, ch)) = chars.next() {
        match ch {
            ch if ch == delimiter => return (inside, at + ch.len_utf8()),
            '\\' => {
                inside.push('\\');
                inside.extend(chars.next().map(|(_, ch)| ch));
            }
            ch => inside.push(ch),
        }
    }
    (inside, text.len())
}
