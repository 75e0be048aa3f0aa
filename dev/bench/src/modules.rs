//! Cost of each detector, as a share of the budget in the description of the three detectors, measured by the times in
//! the audit log.

use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;

use super::ground::Ground;
use super::measure::{CLAUDE, Hook};
use super::payloads;

/// Calls in one session, so that the loop detector's history is full; only the last of them count.
const CALLS: usize = 64;
const COUNTED: usize = 15;

/// The detectors and their total: name, parts of a judgement, and budget in microseconds.
pub(crate) const MODULES: [(&str, &[&str], u64); 4] = [
    // The analysis of a command serves all detectors; it is counted for the first, which needs all of it.
    ("Sentinel", &["analyze", "facts", "sentinel"], 8_000),
    ("Tripwire", &["tripwire"], 5_000),
    ("Loopbreaker", &["loopbreaker"], 3_000),
    ("all", &["analyze", "facts", "sentinel", "tripwire", "loopbreaker", "rules", "gatekeeper"], 12_000),
];

/// Reason for a missed goal, shown below the table.
pub(crate) const WHY: &str = "what a command decodes is analyzed as well";

/// The texts, by name.
pub(crate) const TEXTS: [&str; 3] = ["100 bytes", "500 bytes", "10 KB, encoded four times"];

/// Share of each of [`MODULES`] for each of [`TEXTS`], in percent, rounded up.
pub(crate) fn measure(binary: &std::path::Path, ground: &Ground) -> Result<Vec<Vec<u32>>> {
    [plain(100), plain(500), encoded(10_000)].iter().map(|text| shares(binary, ground, text)).collect()
}

fn shares(binary: &std::path::Path, ground: &Ground, text: &str) -> Result<Vec<u32>> {
    let hook = Hook { caller: CLAUDE, binary, ground, payload: payloads::shell(text, &ground.repo) };
    for _ in 0..CALLS {
        hook.answer()?;
    }
    let log = ground.home.join(".local/state/reflex/audit/current.jsonl");
    let lines = fs::read_to_string(&log).with_context(|| format!("cannot read `{}`", log.display()))?;
    let spent: Vec<Value> =
        lines.lines().rev().take(COUNTED).filter_map(|line| serde_json::from_str(line).ok()).collect();
    let share = |(_, parts, budget): &(&str, &[&str], u64)| {
        let took =
            |record: &Value| parts.iter().filter_map(|part| record.get("micros")?.get(part)?.as_u64()).sum::<u64>();
        let mut times: Vec<u64> = spent.iter().map(took).collect();
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        u32::try_from((median * 100).div_ceil(*budget)).unwrap_or(u32::MAX)
    };
    Ok(MODULES.iter().map(share).collect())
}

/// Ordinary commands of this length in bytes.
fn plain(length: usize) -> String {
    let part = "grep -rn 'fn main' src | sort | uniq -c; ls -la src/part-03 && ";
    let mut text = part.repeat(length / part.len());
    let rest = length.saturating_sub(text.len() + "echo ".len());
    text.push_str("echo ");
    text.push_str(&"x".repeat(rest));
    text
}

/// Ordinary commands, encoded repeatedly until they have this length.
fn encoded(length: usize) -> String {
    const TIMES: u32 = 4;
    let mut text = plain(length * 3_usize.pow(TIMES) / 4_usize.pow(TIMES));
    for _ in 0..TIMES {
        text = format!("echo {} | base64 -d | sh", base64(text.as_bytes()));
    }
    text
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let number = three.iter().chain(&[0, 0]).take(3).fold(0, |number, byte| number << 8 | usize::from(*byte));
        for place in 0..4 {
            let ch = LETTERS.get(number >> (18 - 6 * place) & 63).map_or('=', |ch| char::from(*ch));
            text.push(if place > three.len() { '=' } else { ch });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_as_long_as_they_say() {
        assert_eq!((plain(100).len(), plain(500).len()), (100, 500));
        assert!((10_000..10_200).contains(&encoded(10_000).len()), "{}", encoded(10_000).len());
    }

    #[test]
    fn what_is_encoded_is_base64() {
        assert_eq!([b"a".as_slice(), b"ab", b"abc", b"abcd"].map(base64), ["YQ==", "YWI=", "YWJj", "YWJjZA=="]);
    }
}
