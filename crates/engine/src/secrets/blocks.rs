//! Keys in a block or record of their own: PEM and similar formats, PuTTY, JSON web keys, wallet mnemonics.

use super::plausible::{contains, decoded, entropy, is_standin};
use crate::text::glob::find;
use reflex_tables::Tables;
use std::ops::Range;

/// Maximum number of bytes of a block that are scanned.
const MAX_LEN: usize = 16 * 1024;

/// A PEM block of a private key, complete or truncated, whose body is not a placeholder.
pub(super) fn private_key(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 64;
    let rest = bytes.get(word.end..)?;
    let rest = rest.get(..MAX_LEN).unwrap_or(rest);
    let title = rest.iter().take(48).position(|byte| *byte == b'-')?;
    if !contains(rest.get(..title)?, b"PRIVATE KEY") {
        return None;
    }
    let end = find(rest, b"-----END ").unwrap_or(rest.len());
    let body: Vec<u8> = rest.get(title..end)?.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    (body.len() >= LEAST && entropy(&body) >= 4.0 && !is_standin(tables, &body)).then_some(word.start..word.end + end)
}

/// A PEM block in base64, as in cluster settings. The decoded beginning must contain its title.
pub(super) fn encoded_private_key(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 120;
    let rest = bytes.get(word.start..)?;
    let length =
        rest.iter().take(MAX_LEN).take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte)).count();
    let block = rest.get(..length).filter(|_| length >= LEAST)?;
    let title = decoded(block.get(..64)?);
    (contains(&title, b"PRIVATE KEY") && !is_standin(tables, block)).then_some(word.start..word.start + length)
}

/// The header of a shared static key whose following lines are random hexadecimal digits.
pub(super) fn static_key(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 64;
    let rest = bytes.get(word.end..)?;
    let body = rest.iter().take(MAX_LEN).skip_while(|byte| **byte != b'\n');
    let body: Vec<u8> =
        body.take_while(|byte| **byte != b'-').filter(|byte| byte.is_ascii_hexdigit()).copied().collect();
    let is_key = body.len() >= LEAST && entropy(&body) >= 3.2 && !is_standin(tables, &body);
    is_key.then_some(word.start..word.end)
}

/// A PuTTY key with private lines.
pub(super) fn putty_key(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 32;
    let rest = bytes.get(word.end..)?;
    let from = find(rest.get(..MAX_LEN).unwrap_or(rest), b"Private-Lines:")?;
    let body = rest.get(from..)?.iter().take(MAX_LEN).skip_while(|byte| **byte != b'\n');
    let body: Vec<u8> = body.take(2048).filter(|byte| byte.is_ascii_alphanumeric()).copied().collect();
    (body.len() >= LEAST && entropy(&body) >= 4.0 && !is_standin(tables, &body)).then_some(word.start..word.end + from)
}

/// The private part of a JSON web key: `d` of a key pair, `k` of a symmetric key.
pub(super) fn web_key(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const AROUND: usize = 2048;
    const LEAST: usize = 32;
    let start = word.start.saturating_sub(AROUND);
    let before = bytes.get(start..word.start)?;
    let after = bytes.get(word.end..)?;
    let after = after.get(..AROUND).unwrap_or(after);
    // Restricted to the braces around the word.
    let open = before.iter().rposition(|byte| b"{}".contains(byte)).map_or(0, |at| at + 1);
    let close = after.iter().position(|byte| b"{}".contains(byte)).unwrap_or(after.len());
    let record = start + open..word.end + close;
    let text = bytes.get(record.clone())?;
    let field = |name: &[u8]| {
        let at = find(text, name)? + name.len();
        let rest = text.get(at..)?;
        let signs = rest.iter().take(8).take_while(|byte| b" :\"\\".contains(byte)).count();
        let length =
            rest.iter().skip(signs).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte)).count();
        let value = rest.get(signs..signs + length).filter(|_| signs > 0 && length >= LEAST)?;
        let start = record.start + at + signs;
        (entropy(value) >= 3.5 && !is_standin(tables, value)).then_some(start..start + length)
    };
    field(b"\"d\"").or_else(|| field(b"\"k\""))
}

/// A wallet mnemonic: 12 to 24 words of 3 to 8 characters each, which does not match a sentence.
pub(super) fn mnemonic(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let rest = bytes.get(word.end..)?;
    let signs = rest.iter().take(24).take_while(|byte| !byte.is_ascii_lowercase() && **byte != b'\n').count();
    let quoted = rest.get(..signs)?.iter().any(|byte| b"\"'`=:".contains(byte));
    let phrase = rest.get(signs..)?;
    let length = phrase.iter().take(256).take_while(|byte| byte.is_ascii_lowercase() || **byte == b' ').count();
    let phrase = phrase.get(..length)?;
    let mut words: Vec<&[u8]> = phrase.split(|byte| *byte == b' ').collect();
    let count = words.len();
    let fit = words.iter().all(|word| (3..=8).contains(&word.len()));
    words.sort_unstable();
    words.dedup();
    // Sample phrases repeat one word.
    let various = words.len() + 2 >= count;
    let start = word.end + signs;
    (quoted && fit && various && [12, 15, 18, 21, 24].contains(&count)).then_some(start..start + length)
}
