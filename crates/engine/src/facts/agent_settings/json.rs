//! JSON as strict clients parse it, each value with its position.

use serde_json::{Map, Number, Value};

/// A value and its byte offset.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Json {
    pub(super) at: usize,
    pub(super) kind: Kind,
}

/// The kind of a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// `null`, a boolean, a number or a string.
    Plain(Value),
    /// A list.
    List(Vec<Json>),
    /// A map; duplicate keys are kept.
    Map(Vec<(String, Json)>),
}

/// The extensions to JSON that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Comments: `//` and `/* */`.
    pub(super) comments: bool,
    /// Trailing commas.
    pub(super) commas: bool,
    /// Duplicate keys in a map; the last one counts.
    pub(super) twice: bool,
    /// Unpaired surrogates in strings.
    pub(super) halves: bool,
}

impl Dialect {
    /// Every extension that any client accepts.
    pub(super) const LENIENT: Dialect = Dialect { comments: true, commas: true, twice: true, halves: true };
}

/// Byte offset and reason of a syntax error.
pub(super) type Broken = (usize, String);

/// Maximum nesting depth of maps and lists.
const DEEPEST: usize = 120;

/// Parses a complete text.
pub(super) fn read(text: &str, dialect: Dialect) -> Result<Json, Broken> {
    let mut reader = Reader { text, at: 0, depth: 0, dialect };
    reader.blank()?;
    let value = reader.value()?;
    reader.blank()?;
    if reader.at < text.len() { Err(reader.broken("unexpected text after the end")) } else { Ok(value) }
}

impl Json {
    /// Returns the value without offsets; the last of duplicate keys counts.
    pub(super) fn plain(&self) -> Value {
        match &self.kind {
            Kind::Plain(value) => value.clone(),
            Kind::List(items) => Value::Array(items.iter().map(Json::plain).collect()),
            Kind::Map(entries) => {
                Value::Object(entries.iter().map(|(key, value)| (key.clone(), value.plain())).collect::<Map<_, _>>())
            }
        }
    }

    /// Returns the last value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        match &self.kind {
            Kind::Map(entries) => entries.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            Kind::Plain(_) | Kind::List(_) => None,
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    dialect: Dialect,
}

impl Reader<'_> {
    fn broken(&self, why: &str) -> Broken {
        (self.at, why.to_owned())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Skips whitespace, and comments if the dialect has them.
    fn blank(&mut self) -> Result<(), Broken> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r']);
            let length = if trimmed.starts_with("//") {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                0
            };
            let skipped = rest.len() - trimmed.len();
            self.at += skipped;
            if length > 0 && !self.dialect.comments {
                return Err(self.broken("a comment"));
            }
            self.at += length;
            if length == 0 {
                return Ok(());
            }
        }
    }

    fn value(&mut self) -> Result<Json, Broken> {
        let at = self.at;
        let kind = match self.peek() {
            Some(b'{' | b'[') => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(self.broken("nested too deeply"));
                }
                let kind = if self.peek() == Some(b'{') { self.map()? } else { self.list()? };
                self.depth -= 1;
                kind
            }
            Some(b'"') => Kind::Plain(Value::String(self.string()?)),
            Some(_) => self.word()?,
            None => return Err(self.broken("the text ends too early")),
        };
        Ok(Json { at, kind })
    }

    fn map(&mut self) -> Result<Kind, Broken> {
        let mut entries: Vec<(String, Json)> = Vec::new();
        self.at += 1;
        while self.goes_on(b'}', !entries.is_empty())? {
            let at = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.broken("a key without double quotes"));
            }
            let key = self.string()?;
            if !self.dialect.twice && entries.iter().any(|(name, _)| *name == key) {
                return Err((at, format!("duplicate key `{key}`")));
            }
            self.blank()?;
            if self.peek() != Some(b':') {
                return Err(self.broken("a key without a colon"));
            }
            self.at += 1;
            self.blank()?;
            entries.push((key, self.value()?));
        }
        Ok(Kind::Map(entries))
    }

    fn list(&mut self) -> Result<Kind, Broken> {
        let mut items = Vec::new();
        self.at += 1;
        while self.goes_on(b']', !items.is_empty())? {
            items.push(self.value()?);
        }
        Ok(Kind::List(items))
    }

    /// Whether another entry of a map or list follows; otherwise consumes the end.
    fn goes_on(&mut self, end: u8, begun: bool) -> Result<bool, Broken> {
        self.blank()?;
        let comma = self.at;
        if begun && self.peek() == Some(b',') {
            self.at += 1;
            self.blank()?;
            if self.peek() == Some(end) && !self.dialect.commas {
                return Err((comma, "a trailing comma".to_owned()));
            }
        } else if begun && self.peek().is_some_and(|sign| sign != end) {
            return Err(self.broken("a comma is missing"));
        }
        if self.peek() == Some(end) {
            self.at += 1;
            return Ok(false);
        }
        if self.peek().is_none() { Err(self.broken("the text ends too early")) } else { Ok(true) }
    }

    fn string(&mut self) -> Result<String, Broken> {
        let (start, mut escaped) = (self.at, false);
        for (index, byte) in self.rest().bytes().enumerate().skip(1) {
            if byte < 0x20 {
                return Err((start + index, "a control character in a text".to_owned()));
            }
            if byte == b'"' && !escaped {
                self.at = start + index + 1;
                let raw = self.text.get(start..self.at).unwrap_or("");
                let half = |error| if self.dialect.halves { half(raw).ok_or(error) } else { Err(error) };
                let read = serde_json::from_str(raw).or_else(half);
                return read.map_err(|_| (start, "an escape that JSON does not know".to_owned()));
            }
            escaped = byte == b'\\' && !escaped;
        }
        Err((start, "a text without an end".to_owned()))
    }

    fn word(&mut self) -> Result<Kind, Broken> {
        let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let length = self.rest().bytes().position(|byte| !is_of_word(byte)).unwrap_or(self.rest().len());
        let word = self.rest().get(..length).unwrap_or("");
        let value = match word {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::Number(word.parse::<Number>().map_err(|_| self.broken("no JSON"))?),
        };
        self.at += length;
        Ok(Kind::Plain(value))
    }
}

/// Decodes a string with unpaired surrogates, which JavaScript accepts.
fn half(raw: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = raw.get(1..raw.len().checked_sub(1)?)?;
    while let Some(at) = rest.find("\\u") {
        text.push_str(rest.get(..at)?);
        let digits = rest.get(at + 2..at + 6)?;
        u16::from_str_radix(digits, 16).ok()?;
        text.push('\u{fffd}');
        rest = rest.get(at + 6..)?;
    }
    text.push_str(rest);
    Some(text)
}
