//! Distinguishes secrets from text of the same form: placeholders, samples, variable names.

use crate::model::words::WordList;
use reflex_tables::Tables;
use reflex_tables::views::SecretFormat;

/// Maximum number of bytes of a value that are examined.
const MAX_LEN: usize = 1024;

/// Whether text of a format is a secret: it has enough entropy, is not a placeholder, and passes the entry's check.
pub(super) fn is_secret(tables: Tables, entry: SecretFormat<'_>, text: &[u8], body: &[u8]) -> bool {
    let enough = f64::from(entry.entropy()) / 10.0;
    let sound = match entry.check() {
        "jwt" => is_jwt(text),
        _ => true,
    };
    sound && entropy(body) >= enough && !is_standin(tables, body)
}

/// Shannon entropy in bits per byte.
pub(super) fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    let text = text.get(..MAX_LEN).unwrap_or(text);
    for byte in text {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let length = text.len().max(1) as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

/// Whether a value is a placeholder for a secret: `EXAMPLE`, `xxxx`, `your-key`, `1234567890`.
pub(super) fn is_standin(tables: Tables, body: &[u8]) -> bool {
    let lower: Vec<u8> = body.iter().take(MAX_LEN).map(u8::to_ascii_lowercase).collect();
    WordList::Placeholders.read(tables).iter().any(|word| contains(&lower, word.as_bytes())) || is_sequence(&lower)
}

/// `abcdefgh`, `1234567890`, `aaaa`: at least 90 percent of the bytes repeat or succeed the previous one.
fn is_sequence(text: &[u8]) -> bool {
    let follows = |pair: &&[u8]| match pair {
        [a, b] => *b == a.wrapping_add(1) || b == a || (*a == b'9' && *b == b'0'),
        _ => false,
    };
    let pairs = text.len().saturating_sub(1);
    text.windows(2).filter(follows).count() * 10 >= pairs * 9
}

pub(super) fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// Whether the first part of a token is the header of a JSON web token.
fn is_jwt(token: &[u8]) -> bool {
    let header = token.split(|byte| *byte == b'.').next().unwrap_or(&[]);
    let text = decoded(header);
    text.starts_with(b"{") && contains(&text, b"\"alg\"")
}

/// Decodes base64 of either alphabet, up to the first byte outside of it, and at most [`MAX_LEN`] bytes of input.
pub(super) fn decoded(text: &[u8]) -> Vec<u8> {
    all_decoded(text.get(..MAX_LEN).unwrap_or(text))
}

/// Like [`decoded`], without the limit.
pub(super) fn all_decoded(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut held, mut bits) = (0_u32, 0);
    for byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => break,
        };
        (held, bits) = (held << 6 | u32::from(six), bits + 6);
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits & 0xff) as u8);
        }
    }
    bytes
}

/// Whether a named value could be a random key: digits among Latin characters, rather than words with separators.
pub(super) fn is_random(tables: Tables, value: &[u8]) -> bool {
    let count = |test: fn(&u8) -> bool| value.iter().filter(|byte| test(byte)).count();
    let digits = count(u8::is_ascii_digit);
    let counted = contains(value, b"1234567890") || contains(value, b"0123456789");
    if value.len() < 16
        || digits < 2
        || entropy(value) < 3.2
        || counted
        || is_standin(tables, value)
        || is_made_of_words(value)
    {
        return false;
    }
    let chars = count(u8::is_ascii_alphabetic);
    if chars == 0 {
        return false;
    }
    value.split(|byte| b"-_.:/".contains(byte)).any(is_mixed) || is_uuid(value)
}

/// Whether a value in the position of a key could be one. Base64 may contain few digits.
pub(super) fn is_key(tables: Tables, value: &[u8]) -> bool {
    const LEAST: usize = 16;
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    let mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(|byte| !byte.is_ascii_alphabetic());
    let chance = value.len() >= LEAST && entropy(value) >= 3.5 && !value.contains(&b' ');
    is_random(tables, value) || (mixed && chance && !is_standin(tables, value) && !is_made_of_words(value))
}

/// Whether a part alternates between digits and other characters, unlike a name.
fn is_mixed(part: &[u8]) -> bool {
    part.len() >= 12 && changes(part) >= 3
}

/// `k3J8mQz92vT`: alternating digits and characters of both cases, unlike a variable name.
pub(super) fn is_scrambled(value: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    let short = value.split(|byte| !byte.is_ascii_alphabetic()).all(|run| run.len() <= 3);
    let plain =
        value.iter().all(u8::is_ascii_alphanumeric) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    plain && short && value.len() >= 8 && changes(value) >= 3
}

/// `8-4-4-4-12` hexadecimal digits.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    let lengths: Vec<usize> = value.split(|byte| *byte == b'-').map(<[u8]>::len).collect();
    lengths == [8, 4, 4, 4, 12] && value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

/// Whether at least three quarters of the value are lowercase runs of word length.
fn is_made_of_words(value: &[u8]) -> bool {
    let runs = value.split(|byte| !byte.is_ascii_lowercase()).map(<[u8]>::len).filter(|length| *length >= 5);
    runs.sum::<usize>() * 4 >= value.len() * 3
}

/// `Bluebird2291!`: both cases, digits and a symbol, which a word of a sentence never combines.
pub(super) fn is_strong(value: &[u8]) -> bool {
    let count = |test: fn(&u8) -> bool| value.iter().filter(|byte| test(byte)).count();
    let signs = count(|byte| b"!@#$%^&*+=~?".contains(byte));
    let cases = count(u8::is_ascii_uppercase) > 0 && count(u8::is_ascii_lowercase) > 0;
    signs > 0 && count(u8::is_ascii_digit) > 1 && (cases || changes(value) >= 4)
}

/// Number of transitions between digits and other bytes.
pub(super) fn changes(value: &[u8]) -> usize {
    let differ = |pair: &&[u8]| match pair {
        [a, b] => a.is_ascii_digit() != b.is_ascii_digit(),
        _ => false,
    };
    value.windows(2).filter(differ).count()
}

/// Whether a value that is called a password could be one: it has digits or symbols, and is not a common password or a
/// sequence.
pub(super) fn is_password(tables: Tables, value: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    let lower: Vec<u8> = value.iter().map(u8::to_ascii_lowercase).collect();
    let mixed = has(u8::is_ascii_alphabetic) && (has(u8::is_ascii_digit) || has(|byte| b"!@#$%^&*+=~?".contains(byte)));
    let weak = WordList::WeakPasswords.read(tables).iter().any(|word| contains(&lower, word.as_bytes()));
    (6..=128).contains(&value.len()) && mixed && !weak && !is_sequence(&lower) && entropy(value) >= 2.5
}
