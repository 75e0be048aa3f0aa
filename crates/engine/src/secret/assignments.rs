//! A name and the value that a text gives it, in whatever language: `name = "value"`, `"name": value`, `--name value`,
//! `<name>value</name>`, `get("name", "value")`.

use std::ops::Range;

/// Names and values longer than these are none that people write.
const LONGEST_NAME: usize = 64;
const LONGEST_VALUE: usize = 1024;

/// Signs between a name and its value, in the order in which they are tried.
const OPERATORS: [&[u8]; 12] = [b":::=", b"::=", b"||=", b"??=", b":=", b"?=", b"=>", b"->", b"=", b":", b",", b">"];

/// What stands in front of a key in a header.
const SCHEMES: [&[u8]; 6] = [b"bearer ", b"basic ", b"token ", b"apikey ", b"token=", b"key="];

/// A name and its value.
pub(super) struct Assigned {
    /// The bytes of the name.
    pub(super) name: Range<usize>,
    /// The bytes of the value, without quotes.
    pub(super) value: Range<usize>,
    /// Whether a sign stands between the two, not only a blank.
    pub(super) signed: bool,
    /// Whether the value stands in quotes.
    pub(super) quoted: bool,
    /// Whether the sign between them stands directly behind the name, as in files of settings.
    pub(super) tight: bool,
}

/// The assignment to the name in which a word stands.
pub(super) fn around(bytes: &[u8], word: Range<usize>) -> Option<Assigned> {
    assigned(bytes, &word, false)
}

/// The assignment to a name in which a service is named, as a word of its own. A blank may be enough between the two.
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
    let before = |back: usize| name.start.checked_sub(back).and_then(|at| bytes.get(at));
    let mut cursor = Cursor { bytes, at: name.end };
    let closed = cursor.skip(b"\\\"'`])", 4) > 0;
    let tight = matches!(cursor.next(), Some(b'=' | b':'));
    let blanks = cursor.skip(b" \t", 40);
    let operator = cursor.operator();
    match operator {
        // Not the next of a list, but the second argument of a call.
        Some(b",") if !closed || before(2) != Some(&b'(') => return None,
        Some(b">") if before(1) != Some(&b'<') => return None,
        Some(b":") if cursor.next() == Some(b':') => return None,
        None if blanks > 0 && (blank_is_enough || before(1) == Some(&b'-')) => {}
        None => return None,
        Some(_) => {}
    }
    cursor.skip(b" \t", 40);
    if operator == Some(b":") {
        cursor.annotation();
    }
    let quote = cursor.quote();
    SCHEMES.iter().any(|scheme| cursor.take(scheme));
    let start = cursor.at;
    let rest = bytes.get(start..)?;
    let length = rest.iter().take(LONGEST_VALUE + 1).take_while(|byte| !ends(**byte, quote)).count();
    let mut end = start + length;
    // In a text within quotes the closing ones have a backslash before them.
    if bytes.get(start..end).is_some_and(|value| value.ends_with(b"\\")) {
        end -= 1;
    }
    let (signed, quoted) = (operator.is_some(), quote.is_some());
    (end > start && length <= LONGEST_VALUE).then_some(Assigned { name, value: start..end, signed, quoted, tight })
}

fn name_around(bytes: &[u8], word: &Range<usize>) -> Range<usize> {
    let before = bytes.get(..word.start).unwrap_or_default();
    let after = bytes.get(word.end..).unwrap_or_default();
    let length = |mut letters: &mut dyn Iterator<Item = &u8>| {
        (&mut letters)
            .take(LONGEST_NAME)
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte))
            .count()
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

struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Cursor<'_> {
    fn next(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip(&mut self, of: &[u8], most: usize) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().take(most).take_while(|byte| of.contains(byte)).count();
        self.at += count;
        count
    }

    fn take(&mut self, text: &[u8]) -> bool {
        let here = self.bytes.get(self.at..self.at + text.len());
        let is_here = here.is_some_and(|here| here.eq_ignore_ascii_case(text));
        self.at += if is_here { text.len() } else { 0 };
        is_here
    }

    /// The sign of an assignment; a comparison is none.
    fn operator(&mut self) -> Option<&'static [u8]> {
        let operator = OPERATORS.into_iter().find(|operator| self.take(operator))?;
        (operator != b"=" || self.next() != Some(b'=')).then_some(operator)
    }

    /// `: string = `, `: &str = `: the type between the name and the sign.
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

    /// The quote in which the value stands.
    fn quote(&mut self) -> Option<u8> {
        let begun = self.at;
        self.skip(b"fbruL@$", 2);
        self.skip(b"\\", 1);
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
