//! Decoded forms of the words of a text: base64, hexadecimal digits, reversed text.

use super::plausible::decoded;
use std::borrow::Cow;
use std::ops::Range;

/// Minimum length of a word that can contain a key.
const MIN_LEN: usize = 20;

/// Maximum length of a word. A longer one is a file.
const MAX_LEN: usize = 8 * 1024;

/// Maximum number of words that are decoded per text.
const MAX_WORDS: usize = 64;

/// The readable forms of a text's long words, with the byte ranges of the words.
pub(crate) fn disguised(text: &str) -> Vec<(Range<usize>, String)> {
    let mut forms = Vec::new();
    for span in words(text).take(MAX_WORDS) {
        let word = text.get(span.clone()).unwrap_or("");
        let hexadecimal = word.len() % 2 == 0 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let read = if hexadecimal { from_hexadecimal(word) } else { decoded(word.as_bytes()) };
        let readable =
            read.len() >= MIN_LEN / 2 && read.iter().all(|byte| byte.is_ascii_graphic() || b" \n\r\t".contains(byte));
        if let Some(plain) = String::from_utf8(read).ok().filter(|_| readable) {
            forms.push((span.clone(), plain));
        }
        forms.push((span, word.chars().rev().collect()));
    }
    forms
}

/// Decodes the escapes of a JSON string: `\n` is a newline, `\"` a quote.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(ch) = chars.next() {
        let meant = match ch {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(other) => other,
                None => ch,
            },
            ch => ch,
        };
        plain.push(meant);
    }
    plain.into()
}

/// Runs of characters that may be base64, hexadecimal digits or a key.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+/_-=".contains(byte)).count();
            let start = at;
            at += length.max(1);
            if (MIN_LEN..=MAX_LEN).contains(&length) {
                // `?data=WORD`: the name before the equals sign is not part of the word.
                let name =
                    rest.get(..length).unwrap_or_default().iter().take(length - 2).position(|byte| *byte == b'=');
                let start = start + name.map_or(0, |name| name + 1);
                return Some(start..at);
            }
        }
        None
    })
}

fn from_hexadecimal(word: &str) -> Vec<u8> {
    let pairs = (0..word.len()).step_by(2).filter_map(|at| word.get(at..at + 2));
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::disguised;

    #[test]
    fn words_in_another_form_are_read() {
        let plain = |text: &str| disguised(text).into_iter().map(|(_, plain)| plain).collect::<Vec<_>>();
        assert_eq!(plain("?d=aGVsbG8gd29ybGQsIGhlbGxv"), ["hello world, hello", "vxGblhGIsQGby92dg8GbsVGa"]);
        assert_eq!(plain("68656c6c6f20776f726c64"), ["hello world", "46c627f67702f6c6c65686"]);
        assert!(plain("short words only, as people write them").is_empty());
    }
}
