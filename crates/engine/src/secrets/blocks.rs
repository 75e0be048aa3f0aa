//! Keys that stand as a block or a record of their own: PEM and its kin, PuTTY, JSON web keys, phrases of wallets.

use super::plausible::{contains, decoded, entropy, is_standin};
use crate::text::glob::find;
use reflex_tables::Tables;
use std::ops::Range;

/// A block is looked at so far.
const LONGEST: usize = 16 * 1024;

/// The block of a private key in PEM, whole or cut off, with a body that is none of a manual.
pub(super) fn private_key(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 64;
    let rest = bytes.get(word.end..)?;
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let title = rest.iter().take(48).position(|byte| *byte == b'-')?;
    if !contains(rest.get(..title)?, b"PRIVATE KEY") {
        return None;
    }
    let end = find(rest, b"-----END ").unwrap_or(rest.len());
    let body: Vec<u8> = rest.get(title..end)?.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    (body.len() >= LEAST && entropy(&body) >= 4.0 && !is_standin(tables, &body)).then_some(word.start..word.end + end)
}

/// PEM in base64, as in the settings of clusters: what is decoded says that it is one.
pub(super) fn encoded_private_key(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 120;
    let rest = bytes.get(word.start..)?;
    let length =
        rest.iter().take(LONGEST).take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte)).count();
    let block = rest.get(..length).filter(|_| length >= LEAST)?;
    let title = decoded(block.get(..64)?);
    (contains(&title, b"PRIVATE KEY") && !is_standin(tables, block)).then_some(word.start..word.start + length)
}

/// The block of a key that both ends share: letters and lines behind its title.
pub(super) fn static_key(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 64;
    let rest = bytes.get(word.end..)?;
    let body = rest.iter().take(LONGEST).skip_while(|byte| **byte != b'\n');
    let body: Vec<u8> =
        body.take_while(|byte| **byte != b'-').filter(|byte| byte.is_ascii_hexdigit()).copied().collect();
    let whole = body.len() >= LEAST && entropy(&body) >= 3.2 && !is_standin(tables, &body);
    whole.then_some(word.start..word.end)
}

/// The private lines of a key of PuTTY.
pub(super) fn putty_key(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 32;
    let rest = bytes.get(word.end..)?;
    let from = find(rest.get(..LONGEST).unwrap_or(rest), b"Private-Lines:")?;
    let body = rest.get(from..)?.iter().take(LONGEST).skip_while(|byte| **byte != b'\n');
    let body: Vec<u8> = body.take(2048).filter(|byte| byte.is_ascii_alphanumeric()).copied().collect();
    (body.len() >= LEAST && entropy(&body) >= 4.0 && !is_standin(tables, &body)).then_some(word.start..word.end + from)
}

/// The private part of a JSON web key: `d` of a pair of keys, `k` of a key that both ends share.
pub(super) fn web_key(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const AROUND: usize = 2048;
    const LEAST: usize = 32;
    let start = word.start.saturating_sub(AROUND);
    let before = bytes.get(start..word.start)?;
    let behind = bytes.get(word.end..)?;
    let behind = behind.get(..AROUND).unwrap_or(behind);
    // Within the braces in which the word stands.
    let open = before.iter().rposition(|byte| b"{}".contains(byte)).map_or(0, |at| at + 1);
    let close = behind.iter().position(|byte| b"{}".contains(byte)).unwrap_or(behind.len());
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

/// Words from which the keys of a wallet are made: twelve to twenty-four, as no sentence has them.
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
    // Samples repeat one word.
    let various = words.len() + 2 >= count;
    let start = word.end + signs;
    (quoted && fit && various && [12, 15, 18, 21, 24].contains(&count)).then_some(start..start + length)
}
