//! Digest of an output: its error signature and its byte counts, but never its text.

use crate::model::words::WordList;
use reflex_tables::Tables;
use sha2::{Digest, Sha256};

/// Maximum number of bytes of an output that are examined.
const LOOKED_AT: usize = 64 * 1024;

/// Signature of the error that a failed call printed: its first error line without numbers, times, paths and addresses,
/// as the first 16 hexadecimal digits of a SHA-256. Empty if the output has no line.
pub(super) fn error_signature(tables: Tables, output: &str) -> String {
    let head = output.get(..floor(output, LOOKED_AT)).unwrap_or_default();
    let Some(line) = telling_line(tables, head) else { return String::new() };
    let digest = Sha256::digest(normalized(line).as_bytes());
    let digits = digest.iter().take(8).flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// The line that names the error. A traceback begins with a generic headline and ends with the error, so its last such
/// line is taken.
fn telling_line(tables: Tables, text: &str) -> Option<&str> {
    let words = WordList::ErrorWords.read(tables);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let has_error_word = |line: &&str| words.fit(&line.to_lowercase());
    if lines().any(|line| line.starts_with("Traceback (")) {
        return lines().rfind(has_error_word).or_else(|| lines().next_back());
    }
    lines().find(has_error_word).or_else(|| lines().next())
}

/// Lowercases a line, and replaces digits by `#` and words with a path by `/`.
fn normalized(line: &str) -> String {
    let bare = |word: &str| word.trim_matches(|ch: char| !ch.is_alphanumeric()).to_lowercase();
    let class = |word: &str| match bare(word) {
        _ if word.contains(['/', '\\']) => "/".to_owned(),
        bare if bare.contains(|ch: char| ch.is_ascii_digit()) => without_numbers(&bare),
        bare => bare,
    };
    let words: Vec<String> = line.split_whitespace().map(class).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Replaces runs of digits by `#`, so that `line12` and `line7`, or two times, are equal. A code such as `ts2304` names
/// an error and is kept.
fn without_numbers(word: &str) -> String {
    let chars = word.chars().take_while(|ch| ch.is_alphabetic()).count();
    let is_code = (1..=4).contains(&chars) && word.chars().skip(chars).all(|ch| ch.is_ascii_digit());
    if is_code && word.chars().count() > chars + 2 {
        return word.to_owned();
    }
    let mut plain = String::new();
    for ch in word.chars() {
        match ch {
            '0'..='9' if plain.ends_with('#') => {}
            '0'..='9' => plain.push('#'),
            ch => plain.push(ch),
        }
    }
    plain
}

/// Removes durations and times of day, which do not describe the outcome.
pub(super) fn without_times(output: &str) -> String {
    let mut kept = String::with_capacity(output.len());
    let mut number = false;
    for word in output.split_inclusive(|ch: char| ch.is_whitespace() || matches!(ch, '(' | ')' | '[' | ']')) {
        let bare = word.trim_matches(|ch: char| !ch.is_alphanumeric());
        let unit = UNITS.contains(&bare);
        if number && unit {
            // The unit belongs to the number before it, so both are removed.
            kept.truncate(kept.rfind(NUMBER).unwrap_or(kept.len()));
        }
        number = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if number {
            kept.push(NUMBER);
        }
        if !(unit || is_time(bare)) {
            kept.push_str(word);
        }
    }
    kept
}

/// Marks the beginning of a number, which may turn out to be a duration.
const NUMBER: char = '\0';

/// Units of a duration.
const UNITS: [&str; 12] = ["ns", "us", "µs", "ms", "s", "sec", "secs", "second", "seconds", "min", "minutes", "m"];

/// `0.12s`, `1m12s`, `10:00:17`, `2026-01-02T10:00:17Z`.
fn is_time(word: &str) -> bool {
    let plain =
        word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b':' | b'-' | b'T' | b'Z' | b','));
    let of_day = plain && word.bytes().filter(|byte| *byte == b':').count() == 2;
    let number = word.trim_end_matches(|ch: char| ch.is_alphabetic());
    let took = word.strip_prefix(number).is_some_and(|unit| UNITS.contains(&unit));
    let parts = number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'm' | b'h'));
    of_day || took && parts && number.starts_with(|ch: char| ch.is_ascii_digit())
}

/// Counts of each byte in an output, by byte. The rarest bytes are counted together as byte 0. Empty for a short
/// output, whose distribution is meaningless.
pub fn chars(output: &str) -> Vec<(u8, u32)> {
    const SHORT: usize = 64;
    const MAX_KINDS: usize = 47;
    if output.len() < SHORT {
        return Vec::new();
    }
    let mut counts = [0u32; 256];
    for byte in output.bytes().take(LOOKED_AT) {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let mut chars: Vec<(u8, u32)> = (0..=u8::MAX).zip(counts).filter(|(_, count)| *count > 0).collect();
    chars.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let rest: u32 = chars.iter().skip(MAX_KINDS).map(|(_, count)| count).sum();
    chars.truncate(MAX_KINDS);
    chars.extend((rest > 0).then_some((0, rest)));
    chars.sort_unstable();
    chars
}

fn floor(text: &str, max: usize) -> usize {
    (0..=max.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::tables;

    #[test]
    fn an_error_is_the_same_at_another_place_and_time() {
        let same = [
            ("error: cannot find `foo` in src/a.rs:12:3", "error: cannot find `foo` in src/b.rs:99:1"),
            (
                "12:00:01 ERROR connection refused to 127.0.0.1:5432",
                "12:09:59 ERROR connection refused to 127.0.0.1:5433",
            ),
            ("building…\nfatal: not a git repository", "fatal: not a git repository\nhint: init"),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'",
                "Traceback (most recent call last):\n  File \"b/c.py\", line 77, in f\nKeyError: 'x'",
            ),
        ];
        for (one, other) in same {
            assert_eq!(error_signature(tables(), one), error_signature(tables(), other), "{one}");
        }
        let different = [
            ("error TS2304: cannot find name", "error TS2551: cannot find name"),
            ("KeyError: 'x'", "KeyError: 'y'"),
            ("error: cannot find `foo`", "error: cannot find `bar`"),
        ];
        for (one, other) in different {
            assert_ne!(error_signature(tables(), one), error_signature(tables(), other), "{one}");
        }
        assert_eq!(error_signature(tables(), ""), "");
    }

    #[test]
    fn a_failure_that_took_longer_is_the_same() {
        let same = [
            ("1 failed in 0.12s", "1 failed in 0.15s"),
            ("--- FAIL: TestSum (0.01s)", "--- FAIL: TestSum (0.00s)"),
            ("Time: 1.234 s, estimated 2 s", "Time: 1.9 s, estimated 2 s"),
            ("10:00:17 FAIL [1m12s]", "10:01:59 FAIL [2m3s]"),
        ];
        for (one, other) in same {
            assert_eq!(without_times(one), without_times(other), "{one}");
        }
        for (one, other) in
            [("2 failed", "1 failed"), ("line 12", "line 13"), ("12 tests", "13 tests"), ("v1.2", "v1.3")]
        {
            assert_ne!(without_times(one), without_times(other), "{one}");
        }
    }

    #[test]
    fn characters_are_counted() {
        assert_eq!(chars("aab"), []);
        assert_eq!(chars(&"ab".repeat(40)), [(b'a', 40), (b'b', 40)]);
    }
}
