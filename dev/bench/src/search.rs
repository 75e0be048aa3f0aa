//! Cost of a search in a large audit log, compared with `cat` of the same bytes, in turns.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::ground::Ground;
use super::measure::{CLAUDE, Hook, median};
use super::payloads;

/// Number of records in the log.
const RECORDS: usize = 1_000_000;

/// Number of rounds for the median.
const ROUNDS: usize = 9;

/// Upper limit for the time of a search.
const MAX_DURATION: Duration = Duration::from_millis(200);

/// Size in bytes after which the log starts a new file.
const PART: usize = 64 << 20;

/// A text that occurs in the oldest record only.
const OLDEST: &str = "the oldest of all";

/// The searches: name on the page, and arguments.
pub(crate) const SEARCHES: [(&str, &[&str]); 4] = [
    ("the newest 20 refusals", &["decision=deny"]),
    ("one record, the oldest, by a field", &["tool=mcp__oldest__of_all"]),
    ("one record, the oldest, by a text", &[OLDEST]),
    ("two fields and a text that nothing holds", &["agent=claude", "decision=pass", "stands nowhere"]),
];

/// Reason for a missed goal, shown below the table.
pub(crate) const WHY: &str = "the whole log is read, from this machine's disk";

/// The measurement of one search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Searched {
    /// Hundredths of the time of `cat`.
    pub(crate) ratio: u32,
    /// Whether the search met the goal on this machine.
    pub(crate) in_time: bool,
}

/// Measures each of [`SEARCHES`].
pub(crate) fn measure(binary: &Path, ground: &Ground) -> Result<Vec<Searched>> {
    let home = ground.folder.join("many");
    let audit = home.join(".local/state/reflex/audit");
    let written = written(binary, ground, &audit, 0..RECORDS).and_then(|()| times(binary, &home, &audit));
    // The log is large, so it is removed right away and not with the ground.
    fs::remove_dir_all(&home).with_context(|| format!("cannot remove `{}`", home.display()))?;
    let mut medians: Vec<f64> = written?.into_iter().map(median).collect();
    let floor = medians.pop().unwrap_or_default();
    let searched = |time: &f64| Searched {
        ratio: (time / floor * 100.0).round() as u32,
        in_time: *time < MAX_DURATION.as_secs_f64(),
    };
    Ok(medians.iter().map(searched).collect())
}

/// The times of each search, followed by those of `cat`.
fn times(binary: &Path, home: &Path, audit: &Path) -> Result<Vec<Vec<Duration>>> {
    let mut times = vec![Vec::new(); SEARCHES.len() + 1];
    for round in 0..=ROUNDS {
        for (turn, times) in times.iter_mut().enumerate() {
            let time = match SEARCHES.get(turn) {
                Some((_, words)) => search(binary, home, words)?,
                None => cat(audit)?,
            };
            if round > 0 {
                times.push(time);
            }
        }
    }
    Ok(times)
}

fn search(binary: &Path, home: &Path, words: &[&str]) -> Result<Duration> {
    let mut search = Command::new(binary);
    search.env_clear().env("HOME", home).arg("--home").arg(home).args(["audit", "search"]).args(words);
    let start = Instant::now();
    let output = search.output().with_context(|| format!("`{}`", binary.display()))?;
    let time = start.elapsed();
    let found = output.stdout.iter().filter(|byte| **byte == b'\n').count();
    let expected = match words {
        ["decision=deny"] => 20,
        [_] => 1,
        _ => 0,
    };
    // Measuring a wrong answer would be useless.
    ensure!(found == expected, "{words:?}: {found} records, not {expected}");
    Ok(time)
}

fn cat(audit: &Path) -> Result<Duration> {
    let entries = fs::read_dir(audit).with_context(|| format!("cannot list `{}`", audit.display()))?;
    let mut cat = Command::new("cat");
    cat.args(entries.flatten().map(|entry| entry.path())).stdout(Stdio::null());
    let start = Instant::now();
    let status = cat.status().context("`cat`")?;
    ensure!(status.success(), "`cat` fails");
    Ok(start.elapsed())
}

/// Writes a log from records of the hook with these numbers, repeated with other ids and times. The hash chain is not
/// computed, because a search does not check it.
pub(super) fn written(binary: &Path, ground: &Ground, audit: &Path, records: Range<usize>) -> Result<()> {
    let shown = || format!("cannot write into `{}`", audit.display());
    let samples = samples(binary, ground)?;
    fs::create_dir_all(audit).with_context(shown)?;
    let current = audit.join("current.jsonl");
    let create = || File::create(&current).map(|file| BufWriter::with_capacity(1 << 20, file));
    let (mut out, mut length) = (create().with_context(shown)?, 0);
    for number in records {
        let line = samples.get(chosen(number, samples.len())).context("no sample")?.at(number);
        out.write_all(line.as_bytes()).with_context(shown)?;
        length += line.len();
        if length > PART {
            out.flush()
                .and_then(|()| fs::rename(&current, audit.join(format!("{number:012}.jsonl"))))
                .with_context(shown)?;
            (out, length) = (create().with_context(shown)?, 0);
        }
    }
    out.flush().with_context(shown)
}

/// Index of the sample for a record: the last sample is used for the oldest record only, and the first of the others
/// are the most common.
fn chosen(number: usize, samples: usize) -> usize {
    let Some(others) = samples.checked_sub(1).filter(|_| number > 0) else { return samples - 1 };
    let mixed = number.wrapping_mul(2_654_435_761) >> 8;
    (mixed % others) * (mixed / others % others) / others
}

/// A record of the hook without its id and time.
struct Sample {
    front: String,
    rest: String,
}

impl Sample {
    fn parse(line: &str) -> Option<Sample> {
        let (front, rest) = line.split_once("\"id\":\"")?;
        let (_, rest) = rest.split_once("\"time\":\"")?;
        Some(Sample { front: front.into(), rest: rest.split_once('"')?.1.into() })
    }

    /// The record with this number: one call every two seconds.
    fn at(&self, number: usize) -> String {
        let (day, hour, minute, second) = (1 + number / 43_200, number / 1800 % 24, number / 30 % 60, number * 2 % 60);
        let Sample { front, rest } = self;
        format!(
            "{front}\"id\":\"019d0000-{:04x}-7000-8000-{number:012x}\",\"time\":\"2026-01-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z\"{rest}\n",
            number % 65_536,
            number % 1000
        )
    }
}

/// The records that the hook writes for calls of many kinds.
fn samples(binary: &Path, ground: &Ground) -> Result<Vec<Sample>> {
    let calls = calls(&ground.repo);
    for (session, (tool, input)) in calls.iter().enumerate() {
        Hook {
            caller: CLAUDE,
            binary,
            ground,
            payload: payloads::payload_in(tool, input, &ground.repo, &format!("{session:036}")),
        }
        .answer()?;
    }
    let log = ground.home.join(".local/state/reflex/audit/current.jsonl");
    let text = fs::read_to_string(&log).with_context(|| format!("cannot read `{}`", log.display()))?;
    let mut samples: Vec<Sample> = text.lines().rev().take(calls.len()).filter_map(Sample::parse).collect();
    samples.reverse();
    ensure!(samples.len() == calls.len(), "a call is not in the audit log");
    Ok(samples)
}

/// Calls of many tools, lengths and verdicts, the common ones first; the last one is the oldest record.
fn calls(repo: &Path) -> Vec<(String, Value)> {
    let file = |number: usize| repo.join(format!("src/part-{:02}/file-{:02}.rs", number % 20, number % 25));
    let mut calls = Vec::new();
    let mut put = |tool: &str, input: Value| calls.push((tool.to_owned(), input));
    for number in 0..8 {
        put("Bash", json!({"command": format!("git log -n {number} --oneline")}));
        put("Read", json!({"file_path": file(number)}));
        put("Bash", json!({"command": format!("cargo test -p app --test part_{number} 2>&1 | tail -n 20")}));
        put("Edit", json!({"file_path": file(number), "old_string": "a", "new_string": "b".repeat(300 * number)}));
        put("Grep", json!({"pattern": format!("fn main_{number}"), "path": repo}));
        put("Bash", json!({"command": payloads::PIPELINE.replace("part-03", &format!("part-{number:02}"))}));
        put("Write", json!({"file_path": file(number), "content": "fn main() {}\n".repeat(50 * number)}));
        put(
            "Bash",
            json!({"command": format!("cat > notes-{number}.md <<'EOF'\n{}EOF", "a line of notes\n".repeat(90))}),
        );
        put("WebFetch", json!({"url": format!("https://example.com/page/{number}"), "prompt": "What does it say?"}));
        put("mcp__tracker__find", json!({"query": format!("ticket {number}"), "limit": 20}));
        put("Bash", json!({"command": format!("git push --force origin topic-{number}")}));
        put("Bash", json!({"command": format!("rm -rf ~/old-{number}")}));
        // Long scripts are rare.
        if number % 3 == 2 {
            put(
                "Bash",
                json!({"command": format!("python3 - <<'EOF'\n{}EOF", "print('a long script')\n".repeat(400))}),
            );
        }
    }
    put("mcp__oldest__of_all", json!({"about": OLDEST}));
    calls
}
