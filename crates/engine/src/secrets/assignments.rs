//! Finds a name and the value assigned to it, in any language: `name = "value"`, `"name": value`, `--name value`,
//! `<name>value</name>`, `get("name", "value")`.

use std::ops::Range;

/// Maximum lengths of a name and a value, in bytes. Longer ones are not written by hand.
const MAX_NAME: usize = 64;
const MAX_VALUE: usize = 1024;

/// Operators between a name and its value, in the order in which they are tried.
const OPERATORS: [&[u8]; 17] = [
    b":::=", b"<<-", b"::=", b"||=", b"??=", b":=", b"?=", b"+=", b".=", b"=>", b"->", b"<-", b"=", b":", b",", b">",
    b"|",
];

/// Prefixes of a key in a header.
const SCHEMES: [&[u8]; 6] = [b"bearer ", b"basic ", b"token ", b"apikey ", b"token=", b"key="];

/// Text before a name that is followed by its value after a blank: in shells, container files, macros.
const SETTERS: [&[u8]; 12] = [
    b"ENV", b"ARG", b"set -x", b"set -gx", b"set -Ux", b"set -xg", b"setenv", b"setx", b"#define", b"SetEnv", b"set(",
    b"env:",
];

/// Server settings whose value follows after a blank.
const DIRECTIVES: [&[u8]; 4] = [b"requirepass", b"masterauth", b"bindpw", b"rootpw"];

/// Attribute names of a value that is given next to its name rather than after it.
const VALUES: [&[u8]; 4] = [b"value", b"default", b"content", b"val"];

/// Other attributes that may occur between the name and the value.
const ATTRIBUTES: [&[u8]; 6] = [b"type", b"description", b"sensitive", b"nullable", b"label", b"ephemeral"];

/// Operators before a fallback value.
const FALLBACKS: [&[u8]; 4] = [b"|| ", b"?? ", b" or ", b" : "];

/// A name and its value.
pub(super) struct Assigned {
    /// Byte range of the name.
    pub(super) name: Range<usize>,
    /// Byte range of the value, without quotes.
    pub(super) value: Range<usize>,
    /// Syntax that connects the two.
    pub(super) sign: Sign,
    /// Whether the value is a literal: in quotes, or the text of an element.
    pub(super) quoted: bool,
    /// Whether the operator immediately follows the name, as in settings files.
    pub(super) tight: bool,
}

/// Syntax that assigns a value to a name, in ascending reliability.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// `NAME VALUE` in any text.
    Near,
    /// `--NAME VALUE`, `NAME "VALUE"`, or a name that contains a service.
    Blank,
    /// `NAME is VALUE`, `NAME` to `VALUE`.
    Sentence,
    /// `NAME("VALUE")`.
    Called,
    /// `NAME = VALUE`, or one attribute for the name and one for the value.
    Assignment,
}

/// The assignment to the name that contains a word.
pub(super) fn around(bytes: &[u8], word: Range<usize>) -> Option<Assigned> {
    assigned(bytes, &word, false)
}

/// The assignment to a name that contains a service as a separate word. A blank is a sufficient separator of the two.
pub(super) fn of_service(bytes: &[u8], word: Range<usize>) -> Option<Assigned> {
    const SHORT: usize = 5;
    let first = bytes.get(word.start)?;
    let before = word.start.checked_sub(1).and_then(|at| bytes.get(at));
    let begins = before
        .is_none_or(|last| !last.is_ascii_alphabetic() || (last.is_ascii_lowercase() && first.is_ascii_uppercase()));
    let goes_on = bytes.get(word.end).is_some_and(u8::is_ascii_lowercase);
    if !begins || (goes_on && word.len() <= SHORT) { None } else { assigned(bytes, &word, true) }
}

fn assigned(bytes: &[u8], word: &Range<usize>, blank_is_enough: bool) -> Option<Assigned> {
    let name = name_around(bytes, word);
    let before = bytes.get(..name.start)?;
    let mut cursor = Cursor { bytes, at: name.end };
    let closed = cursor.skip(b"\\\"'`])*", 8) > 0 || cursor.take(b"[]");
    let tight = matches!(cursor.next(), Some(b'=' | b':'));
    let (sign, operator) = cursor.sign(before, closed, blank_is_enough)?;
    let element = cursor.reach_value(operator);
    let mut quote = cursor.quote();
    let fallback = quote.is_none() && operator.is_some() && cursor.fallback();
    if fallback {
        quote = cursor.quote();
    }
    SCHEMES.iter().any(|scheme| cursor.take(scheme));
    let start = cursor.at;
    let rest = bytes.get(start..)?;
    let length = rest.iter().take(MAX_VALUE + 1).take_while(|byte| !ends(**byte, quote)).count();
    let mut end = start + length;
    // Inside a quoted text, the closing quote is preceded by a backslash.
    while end > start && bytes.get(end - 1) == Some(&b'\\') {
        end -= 1;
    }
    let quoted = quote.is_some() || element || is_directive(bytes.get(name.clone())?);
    let is_complete = quoted || sign != Sign::Called;
    (end > start && length <= MAX_VALUE && is_complete).then_some(Assigned {
        name,
        value: start..end,
        sign,
        quoted,
        tight,
    })
}

fn name_around(bytes: &[u8], word: &Range<usize>) -> Range<usize> {
    let before = bytes.get(..word.start).unwrap_or_default();
    let after = bytes.get(word.end..).unwrap_or_default();
    let length = |mut chars: &mut dyn Iterator<Item = &u8>| {
        (&mut chars).take(MAX_NAME).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)).count()
    };
    let mut start = word.start - length(&mut before.iter().rev());
    let end = word.end + length(&mut after.iter());
    while start < word.start && bytes.get(start).is_some_and(|byte| b"-.".contains(byte)) {
        start += 1;
    }
    // `password->` ends with the dash of an arrow.
    let dashed = end > word.end && bytes.get(end - 1) == Some(&b'-') && bytes.get(end) == Some(&b'>');
    start..if dashed { end - 1 } else { end }
}

fn ends(byte: u8, quote: Option<u8>) -> bool {
    match quote {
        Some(quote) => byte == quote || byte == b'\n' || byte == b'\r',
        None => byte.is_ascii_whitespace() || b"\"'`;,<>)}]|&\\".contains(&byte),
    }
}

/// Whether the text before a name is a setter.
fn is_set(before: &[u8]) -> bool {
    let blanks = before.iter().rev().take(8).take_while(|byte| b" \t".contains(byte)).count();
    let line = before.get(..before.len() - blanks).unwrap_or_default();
    let ends = line.last().is_some_and(|last| b"VGxgve(:t".contains(last));
    ends && SETTERS.iter().any(|setter| line.ends_with(setter) && (blanks > 0 || setter.ends_with(b"(")))
}

fn is_directive(name: &[u8]) -> bool {
    DIRECTIVES.contains(&name)
}

struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Cursor<'_> {
    fn next(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn is_at_quote(&self) -> bool {
        matches!(self.next(), Some(b'"' | b'\'' | b'`'))
    }

    fn skip(&mut self, of: &[u8], max: usize) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().take(max).take_while(|byte| of.contains(byte)).count();
        self.at += count;
        count
    }

    fn take(&mut self, text: &[u8]) -> bool {
        let here = self.bytes.get(self.at..self.at + text.len());
        let is_here = here.is_some_and(|here| here.eq_ignore_ascii_case(text));
        self.at += if is_here { text.len() } else { 0 };
        is_here
    }

    /// Parses the syntax between the name and its value. Returns its kind, and the operator if it has one.
    fn sign(&mut self, before: &[u8], closed: bool, blank_is_enough: bool) -> Option<(Sign, Option<&'static [u8]>)> {
        let back = |count: usize| before.len().checked_sub(count).and_then(|at| before.get(at)).copied();
        let begun = self.at;
        let blanks = self.skip(b" \t", 40);
        let operator = self.operator();
        match operator {
            // A comma separates items of a list, unless it precedes the second argument of a call.
            Some(b",") if !closed || back(2) != Some(b'(') => {}
            Some(b">") if back(1) != Some(b'<') && (!closed || back(2) != Some(b'=')) => {}
            // The separator of table cells.
            Some(b"|") if !matches!(back(2), Some(b'|')) && !matches!(back(3), Some(b'|')) => {}
            Some(b":") if self.next() == Some(b':') => return None,
            Some(_) => return Some((Sign::Assignment, operator)),
            None => {}
        }
        self.at = begun;
        if self.pair() {
            return Some((Sign::Assignment, Some(b"=")));
        }
        if self.take(b"(") || self.take(b"</key>") {
            self.skip(b" \t\r\n", 40);
            let element = self.take(b"<string>");
            return Some(if element { (Sign::Assignment, Some(b">")) } else { (Sign::Called, None) });
        }
        self.at = begun + blanks;
        let instead = matches!(self.next(), Some(b'|' | b'?' | b'o'))
            && FALLBACKS.iter().take(3).any(|sign| self.take(sign.trim_ascii_start()));
        if (instead && self.is_at_quote()) || (blanks > 0 && operator.is_none() && self.typed()) {
            return Some((Sign::Assignment, None));
        }
        self.at = begun + blanks;
        if blanks > 0 && (self.take(b"is ") || (closed && self.take(b"to "))) {
            return Some((Sign::Sentence, None));
        }
        let name = self.bytes.get(before.len()..begun).unwrap_or_default();
        let set = blanks > 0
            && (is_set(before) || is_directive(name) || (back(1) == Some(b':') && self.next() == Some(b'"')));
        if set {
            return Some((Sign::Assignment, None));
        }
        // `password 'VALUE'`: in settings of databases and builds.
        let is_reliable = blank_is_enough || back(1) == Some(b'-') || (!closed && self.is_at_quote());
        let blank = blanks > 0 && operator.is_none() && (is_reliable || !closed);
        blank.then_some((if is_reliable { Sign::Blank } else { Sign::Near }, None))
    }

    /// Advances to the beginning of the value. Returns whether it is the text of an element or a block, which needs no
    /// quotes.
    fn reach_value(&mut self, operator: Option<&[u8]>) -> bool {
        if operator == Some(b">") {
            self.skip(b" \t\r\n", 80);
            return true;
        }
        self.skip(b" \t*", 40);
        if operator == Some(b":") {
            self.annotation();
        }
        let begun = self.at;
        if self.next() == Some(b'{') && self.pair() {
            self.skip(b" \t", 40);
            return false;
        }
        self.at = begun;
        let block = operator == Some(b":") && self.skip(b"|>", 1) > 0;
        self.skip(if block { b"-+ \t" } else { b"([\\ \t" }, 4);
        let lines = self.skip(b"\r\n", 4);
        self.skip(b" \t", 80);
        let quoted = self.is_at_quote();
        if (block && lines == 0) || (!block && !quoted) {
            self.at = begun;
            return false;
        }
        block
    }

    /// `key="NAME" value="VALUE"`, `name: NAME` with `value: VALUE` below, `variable "NAME" { default = "VALUE" }`.
    fn pair(&mut self) -> bool {
        const MAX_BETWEEN: usize = 4;
        let begun = self.at;
        for _ in 0..MAX_BETWEEN {
            if self.skip(b" \t\r\n,;{\"'", 80) == 0 {
                break;
            }
            // Cheap pretest: most words begin with another character.
            if !self.next().is_some_and(|first| b"VDCTSNLEvdctsnle".contains(&first)) {
                break;
            }
            let named = VALUES.iter().any(|word| self.take(word));
            if !named && !ATTRIBUTES.iter().any(|word| self.take(word)) {
                break;
            }
            self.skip(b"\"' \t", 40);
            let signed = self.take(b"=>") || self.take(b"=") || self.take(b":");
            if named && signed {
                self.skip(b" \t", 40);
                return true;
            }
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            self.at += rest.iter().take(160).take_while(|byte| signed && !b"\n,".contains(byte)).count();
        }
        self.at = begun;
        false
    }

    /// Skips a type between the name and the operator: `NAME string = `, `NAME As String = `.
    fn typed(&mut self) -> bool {
        let begun = self.at;
        self.skip(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz*.[] ", 24);
        let back = self.bytes.get(begun..self.at).unwrap_or_default();
        let is_type = back.ends_with(b" ") && self.take(b"=");
        self.skip(b" \t", 40);
        if !is_type || !self.is_at_quote() {
            self.at = begun;
            return false;
        }
        true
    }

    /// Advances to a default value: `ENV["X"] || "VALUE"`, `found ? other : "VALUE"`.
    fn fallback(&mut self) -> bool {
        const MAX_LEN: usize = 96;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().take(MAX_LEN).take_while(|byte| !b"\r\n,;{}".contains(byte)).count();
        let line = rest.get(..length).unwrap_or_default();
        let quotes = line.iter().enumerate().filter(|(_, byte)| b"\"'`".contains(byte));
        let at = quotes.map(|(at, _)| at).find(|at| {
            let before = line.get(..*at).unwrap_or_default();
            let sign = FALLBACKS.iter().find(|sign| before.ends_with(sign));
            sign.is_some_and(|sign| !sign.contains(&b':') || before.contains(&b'?'))
        });
        self.at += at.unwrap_or(0);
        at.is_some()
    }

    /// Parses an assignment operator. A comparison does not count.
    fn operator(&mut self) -> Option<&'static [u8]> {
        let begun = self.at;
        let operator = OPERATORS.into_iter().find(|operator| self.take(operator));
        let doubled = matches!(operator, Some(b"=" | b"|"));
        let other = doubled && self.next() == operator.and_then(<[u8]>::first).copied();
        if other {
            // `process.env.NAME || "VALUE"`.
            self.at = begun;
            return None;
        }
        operator
    }

    /// Skips a type annotation and the operator after it: `: string = `, `: &str = `.
    fn annotation(&mut self) {
        let begun = self.at;
        self.skip(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz&<>?|[]_.' ", 32);
        let back = self.bytes.get(begun..self.at).unwrap_or_default();
        if !back.ends_with(b" ") || self.next() != Some(b'=') {
            self.at = begun;
            return;
        }
        self.at += 1;
        self.skip(b" \t", 40);
    }

    /// Parses the opening quote of the value.
    fn quote(&mut self) -> Option<u8> {
        let begun = self.at;
        self.skip(b"fbruL@$", 2);
        self.skip(b"\\", 3);
        match self.next() {
            Some(quote @ (b'"' | b'\'' | b'`')) => {
                self.skip(&[quote], 3);
                Some(quote)
            }
            _ => {
                self.at = begun;
                None
            }
        }
    }
}
