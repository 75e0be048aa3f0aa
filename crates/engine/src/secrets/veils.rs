//! Secrets in an encoded form: escaped, percent-encoded, in base64, split by quotes.
//!
//! A *veil* is such a form. Its content is read as a separate text that maps each of its bytes to a range of the
//! original, so that the complete encoded form can be redacted.

use super::plausible::{all_decoded, decoded};
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of nested encodings.
const MAX_LAYERS: usize = 4;

/// Minimum length of a base64 run.
const MIN_RUN: usize = 12;

/// Minimum length of a run without uppercase characters, such as hexadecimal digits.
const LONG_RUN: usize = 16;

/// Maximum length of a run. A longer one is a file.
const MAX_RUN: usize = 64 * 1024;

/// Maximum number of runs that are decoded per text.
const MAX_RUNS: usize = 256;

/// A text decoded from another one.
pub(super) struct Unveiled {
    /// The decoded text.
    pub(super) text: String,
    /// For each of its bytes, the byte range in the original.
    places: Vec<Range<u32>>,
}

impl Unveiled {
    fn from_text(text: &str) -> Unveiled {
        let at = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Unveiled { text: text.into(), places: (0..text.len()).map(|place| at(place)..at(place + 1)).collect() }
    }

    fn of_bytes(bytes: Vec<u8>, places: Vec<Range<u32>>) -> Unveiled {
        // Invalid UTF-8 must also keep one byte per range.
        let plain = |error: std::string::FromUtf8Error| {
            let ascii = |byte: u8| if byte.is_ascii() { char::from(byte) } else { '?' };
            error.into_bytes().into_iter().map(ascii).collect()
        };
        Unveiled { text: String::from_utf8(bytes).unwrap_or_else(plain), places }
    }

    /// Maps a range of the decoded text to the original.
    pub(super) fn place(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let places = self.places.get(span.clone())?;
        let (first, last) = (places.first()?, places.last()?);
        Some(first.start as usize..last.end as usize)
    }
}

/// Maps a range of a reading to the text that was read.
type Placed<'a> = &'a dyn Fn(&Range<usize>) -> Option<Range<usize>>;

/// Callback for each reading.
pub(crate) type Each<'a> = &'a mut dyn FnMut(&str, Placed<'_>);

/// Passes each reading of a text that differs from it to `each`. The decoded content of a base64 or hexadecimal run
/// maps to the complete run.
pub(crate) fn lifted(text: &str, each: Each<'_>) {
    let signs = Signs::from_text(text);
    let mut layer: Option<Unveiled> = None;
    if signs.escapes || signs.percent || signs.hidden {
        for _ in 0..MAX_LAYERS {
            let shown = layer.as_ref().map_or(text, |layer| layer.text.as_str());
            if signs.escapes && has_bare_run(shown) {
                let bare = bared(&layer.as_ref().map_or_else(|| Cow::Owned(Unveiled::from_text(text)), Cow::Borrowed));
                each(&bare.text, &|span| bare.place(span));
            }
            let Some(next) =
                unescaped(layer.as_ref().map_or_else(|| Cow::Owned(Unveiled::from_text(text)), Cow::Borrowed))
            else {
                break;
            };
            each(&next.text, &|span| next.place(span));
            layer = Some(next);
        }
    }
    // Most quotes do not split a word, so this is tested before the text is copied.
    if signs.glued && has_seam(layer.as_ref().map_or(text, |layer| &layer.text)) {
        let joined = joined(layer.as_ref().map_or_else(|| Cow::Owned(Unveiled::from_text(text)), Cow::Borrowed));
        each(&joined.text, &|span| joined.place(span));
        runs(&joined.text, &|span| joined.place(span), each);
    }
    match &layer {
        Some(layer) => runs(&layer.text, &|span| layer.place(span), each),
        None if signs.runs => runs(text, &|span| Some(span.clone()), each),
        None => {}
    }
}

impl Clone for Unveiled {
    fn clone(&self) -> Unveiled {
        Unveiled { text: self.text.clone(), places: self.places.clone() }
    }
}

/// Kinds of encodings that a text may contain. Most texts have none of them.
#[derive(Default)]
struct Signs {
    escapes: bool,
    percent: bool,
    /// Non-ASCII characters, which may be invisible.
    hidden: bool,
    /// A quote inside a word, or between two strings.
    glued: bool,
    runs: bool,
}

impl Signs {
    fn from_text(text: &str) -> Signs {
        let mut signs = Signs::default();
        let (mut run, mut upper, mut before) = (0_usize, false, b' ');
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() {
                run += 1;
                upper |= byte.is_ascii_uppercase();
                signs.glued |= matches!(before, b'"' | b'\'' | b'`');
            } else if matches!(byte, b'+' | b'/' | b'-' | b'_') {
                run += 1;
            } else {
                signs.runs |= run >= MIN_RUN && (upper || run >= LONG_RUN);
                (run, upper) = (0, false);
                match byte {
                    b'\\' => signs.escapes = true,
                    b'%' => signs.percent = true,
                    128.. => signs.hidden = true,
                    _ => {}
                }
            }
            before = byte;
        }
        signs.runs |= run >= MIN_RUN && (upper || run >= LONG_RUN);
        signs.glued &= text.bytes().filter(|byte| matches!(byte, b'"' | b'\'' | b'`')).nth(1).is_some();
        signs
    }
}

/// Removes one layer of escapes, percent-encoding and invisible characters. Returns `None` if the text has none.
fn unescaped(from: Cow<'_, Unveiled>) -> Option<Unveiled> {
    let bytes = from.text.as_bytes();
    let (mut out, mut places): (Vec<u8>, Vec<Range<u32>>) = (Vec::new(), Vec::new());
    let (mut at, mut changed) = (0, false);
    while let Some(byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        let (meant, length) = match byte {
            b'\\' => escape(rest),
            b'%' => hexadecimal(rest, 1, 2).map_or((Some('%'), 1), |code| (Some(byte_of(code)), 3)),
            128.. => hidden(&from.text, at),
            byte => (Some(char::from(*byte)), 1),
        };
        let plain = length == 1 || (*byte >= 128 && meant.is_some());
        changed |= !plain;
        let range = from.place(&(at..at + length))?;
        let place = u32::try_from(range.start).ok()?..u32::try_from(range.end).ok()?;
        match meant {
            _ if plain => {
                out.extend(rest.get(..length).unwrap_or_default());
                places.extend(from.places.get(at..at + length).unwrap_or_default().iter().cloned());
            }
            // A percent-encoded byte, which may be part of a multi-byte character.
            Some(ch) if *byte == b'%' => {
                out.push(u8::try_from(u32::from(ch)).unwrap_or(b'?'));
                places.push(place);
            }
            Some(ch) => {
                let mut buffer = [0; 4];
                let ch = ch.encode_utf8(&mut buffer);
                out.extend(ch.bytes());
                places.extend(ch.bytes().map(|_| place.clone()));
            }
            None => {}
        }
        at += length;
    }
    changed.then(|| Unveiled::of_bytes(out, places))
}

/// Number of consecutive characters, each after a backslash, from which on they are not escapes of a language.
const BARE_RUN: usize = 4;

/// Whether a text has a run of backslash pairs.
fn has_bare_run(text: &str) -> bool {
    let (mut run, mut bytes) = (0, text.bytes());
    while let Some(byte) = bytes.next() {
        let is_pair = byte == b'\\' && bytes.next().is_some_and(|next| next.is_ascii_graphic());
        run = if is_pair { run + 1 } else { 0 };
        if run >= BARE_RUN {
            return true;
        }
    }
    false
}

/// Removes backslashes as a shell does: the next character is literal.
fn bared(from: &Unveiled) -> Unveiled {
    let bytes = from.text.as_bytes();
    let (mut out, mut places): (Vec<u8>, Vec<Range<u32>>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let next = bytes.get(at + 1).filter(|next| *byte == b'\\' && next.is_ascii_graphic());
        let length = if next.is_some() { 2 } else { 1 };
        let place = from.places.get(at).zip(from.places.get(at + length - 1));
        places.extend(place.map(|(first, last)| first.start..last.end));
        out.push(*next.unwrap_or(byte));
        at += length;
    }
    Unveiled::of_bytes(out, places)
}

fn byte_of(code: u32) -> char {
    u8::try_from(code).map_or('?', char::from)
}

/// Decodes an escape. Returns the character, if any, and the length of the escape in bytes.
fn escape(rest: &[u8]) -> (Option<char>, usize) {
    let ch = |code: u32| Some(char::from_u32(code).unwrap_or('?'));
    match rest.get(1) {
        Some(b'\n') => (None, 2),
        Some(b'n') => (Some('\n'), 2),
        Some(b't') => (Some('\t'), 2),
        Some(b'r') => (Some('\r'), 2),
        Some(b'x') => hexadecimal(rest, 2, 2).map_or((Some('x'), 2), |code| (ch(code), 4)),
        Some(b'u') if rest.get(2) == Some(&b'{') => {
            let digits = rest.iter().skip(3).take(6).take_while(|byte| byte.is_ascii_hexdigit()).count();
            let code = hexadecimal(rest, 3, digits).filter(|_| digits > 0 && rest.get(3 + digits) == Some(&b'}'));
            code.map_or((Some('u'), 2), |code| (ch(code), 4 + digits))
        }
        Some(b'u') => hexadecimal(rest, 2, 4).map_or((Some('u'), 2), |code| (ch(code), 6)),
        Some(b'U') => hexadecimal(rest, 2, 8).map_or((Some('U'), 2), |code| (ch(code), 10)),
        Some(b'0'..=b'7') => {
            let digits = rest.iter().skip(1).take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            let value = |sum: u32, byte: &u8| sum * 8 + u32::from(byte - b'0');
            (ch(rest.iter().skip(1).take(digits).fold(0, value)), 1 + digits)
        }
        Some(other) if other.is_ascii() => (Some(char::from(*other)), 2),
        Some(_) | None => (Some('\\'), 1),
    }
}

fn hexadecimal(rest: &[u8], from: usize, digits: usize) -> Option<u32> {
    let digits = rest.get(from..from + digits).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The character at an offset, or `None` if it is invisible, and its length in bytes.
fn hidden(text: &str, at: usize) -> (Option<char>, usize) {
    let Some(ch) = text.get(at..).and_then(|rest| rest.chars().next()) else { return (Some('?'), 1) };
    let unseen = matches!(ch,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    (Some(ch).filter(|_| !unseen), ch.len_utf8())
}

/// Whether a seam splits a word.
fn has_seam(text: &str) -> bool {
    let bytes = text.as_bytes();
    let may_begin = |byte: u8| matches!(byte, b'"' | b'\'' | b'`' | b'$');
    bytes.iter().enumerate().any(|(at, byte)| may_begin(*byte) && seam(bytes, at) > 0)
}

/// Joins words that are split by quotes: `gh"p"_x`, `"gh" + 'p_x'`.
fn joined(from: Cow<'_, Unveiled>) -> Unveiled {
    let bytes = from.text.as_bytes();
    let (mut out, mut places): (Vec<u8>, Vec<Range<u32>>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let seam = seam(bytes, at);
        if seam > 0 {
            at += seam;
            continue;
        }
        out.push(*byte);
        places.extend(from.places.get(at).cloned());
        at += 1;
    }
    Unveiled::of_bytes(out, places)
}

/// Length of the seam at an offset, or 0 without one.
fn seam(bytes: &[u8], at: usize) -> usize {
    const MAX_LEN: usize = 16;
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`');
    if !bytes.get(at).is_some_and(|byte| is_quote(byte) || *byte == b'$') {
        return 0;
    }
    let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+/.%!@#^*~:=".contains(byte);
    let rest = bytes.get(at..).unwrap_or_default();
    let length = rest.iter().take(MAX_LEN).take_while(|byte| is_quote(byte) || b" \t\n+.,&$~".contains(byte)).count();
    let gap = rest.get(..length).unwrap_or_default();
    let before = at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(in_word);
    let after = rest.get(length).is_some_and(in_word);
    let quotes = gap.iter().filter(|byte| is_quote(byte)).count();
    let spaced = gap.iter().any(|byte| !is_quote(byte) && *byte != b'$');
    // A blank separates words, unless an operator between two quotes joins them.
    let sign = gap.iter().any(|byte| b"+.,&~".contains(byte));
    let last = gap.last().is_some_and(is_quote);
    let named = |byte: &u8| matches!(byte, b'=' | b':');
    let assigns = at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(named);
    let joins = if spaced { sign && quotes >= 2 && last } else { quotes > 0 && !assigns };
    if before && after && joins { length } else { 0 }
}

/// Decodes the base64 and hexadecimal runs of a text.
fn runs(text: &str, place: Placed<'_>, each: Each<'_>) {
    for span in words(text).take(MAX_RUNS) {
        let word = text.get(span.clone()).unwrap_or("");
        let mut plain = read(word);
        for _ in 0..MAX_LAYERS {
            let Some(text) = plain else { break };
            each(&text, &|_| place(&span));
            if let Some(next) = unescaped(Cow::Owned(Unveiled::from_text(&text))) {
                each(&next.text, &|_| place(&span));
            }
            // Text that was encoded again is a single run.
            plain = read(text.trim());
        }
    }
}

/// Decodes a word, if the result is text.
fn read(word: &str) -> Option<String> {
    let bytes = word.as_bytes();
    let digits = bytes.len().is_multiple_of(2) && bytes.iter().all(u8::is_ascii_hexdigit);
    let readable = |read: Vec<u8>| {
        let is_text = |byte: &u8| byte.is_ascii_graphic() || b" \n\r\t".contains(byte);
        (read.len() >= 6 && read.iter().all(is_text)).then(|| String::from_utf8(read).ok()).flatten()
    };
    let pairs = || (0..word.len()).step_by(2).filter_map(|at| u8::from_str_radix(word.get(at..at + 2)?, 16).ok());
    let hexadecimal = digits.then(|| readable(pairs().collect())).flatten();
    hexadecimal.or_else(|| {
        // Most words are not base64, which their first bytes reveal.
        let standard = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/_-=".contains(byte));
        let begins =
            |start: &&[u8]| decoded(start).iter().all(|byte| byte.is_ascii_graphic() || b" \n\r\t".contains(byte));
        let start = standard.then(|| bytes.get(..8)).flatten().filter(begins);
        start.and_then(|_| readable(all_decoded(bytes)))
    })
}

fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let in_alphabet = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/_-".contains(byte);
            let chars = rest.iter().take_while(in_alphabet).count();
            let filling = rest.iter().skip(chars).take(2).take_while(|byte| **byte == b'=').count();
            let start = at;
            at += (chars + filling).max(1);
            if (MIN_RUN..=MAX_RUN).contains(&chars) {
                return Some(start..start + chars + filling);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::lifted;

    /// Checks that a reading of the text contains `meant`, mapped to a range at least as long.
    fn check(text: &str, meant: &str) {
        let mut found = None;
        lifted(text, &mut |plain, place| {
            if let Some(at) = plain.find(meant) {
                found = place(&(at..at + meant.len())).and_then(|span| text.get(span));
            }
        });
        assert!(found.is_some_and(|found| found.len() >= meant.len()), "{meant} in {text}: {found:?}");
    }

    #[test]
    fn what_is_written_otherwise_is_read() {
        for text in [
            "a ab%63de%66 b",
            "a \\u0061bc\\x64ef b",
            "a ab\\143def b",
            "{\\\"k\\\": \\\"ab\\\\u0063def\\\"}",
            "a ab\"\"cd'e'f b",
            "x('ab' + \"cd\" . 'ef')",
            "a ab\u{200b}c\u{feff}def b",
            "a ab\\\ncdef b",
            "a YWJjZGVmLWdoaWprbA== b",
            "a 6162636465662d67 b",
            "a %61%62%63%64%65%66 b",
            "a %2561bcdef",
            "b64=WVdKalpHVm1MV2RvYVdwcmJBPT0=",
        ] {
            check(text, "abcdef");
        }
    }

    #[test]
    fn an_ordinary_text_has_no_other_reading() {
        for text in ["cargo test -p engine", "cd 'my shop' && ls -la", "grep -n \"a b\" src/lib.rs"] {
            lifted(text, &mut |plain, _| panic!("{plain} in {text}"));
        }
    }
}
