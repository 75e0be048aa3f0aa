//! Whether the log is whole, and how old records leave it without breaking it.

use super::log::{Log, MOST_WAIT, Tail, ending, hash_of};
use crate::clock;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// What was found when the whole log was read.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Lines whose hash was computed.
    pub records: u64,
    /// Records that were purged, by what their tombstones say.
    pub purged: u64,
    /// The first line that does not hold, if there is one.
    pub broken: Option<Broken>,
}

/// A line that does not hang together with the one before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The file.
    pub file: PathBuf,
    /// Its line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub problem: String,
}

impl Log {
    /// Reads every line and computes its hash. `step` is told after each of the files how many lines were read; when it
    /// says `false`, the work ends.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn verify(&self, step: &mut dyn FnMut(u64) -> bool) -> io::Result<Checked> {
        let mut check = Check::default();
        for part in self.parts()? {
            let mut lines = BufReader::with_capacity(1 << 20, File::open(&part)?);
            let (mut line, mut number) = (Vec::new(), 0);
            while lines.read_until(b'\n', &mut line)? > 0 {
                number += 1;
                if let Err(problem) = check.line(&line) {
                    let broken = Broken { file: part, line: number, problem };
                    return Ok(Checked { broken: Some(broken), ..check.done });
                }
                line.clear();
                if check.done.records % 65_536 == 0 && !step(check.done.records) {
                    return Err(io::ErrorKind::Interrupted.into());
                }
            }
        }
        if let Some((seq, place)) = check.tombstones.into_iter().next() {
            let problem = format!("no record says who purged the log up to record {seq}");
            let broken = Broken { file: self.folder().to_owned(), line: place, problem };
            return Ok(Checked { broken: Some(broken), ..check.done });
        }
        Ok(check.done)
    }

    /// Replaces all records that are older by one tombstone, which keeps the chain; a record says who did so. Gives how
    /// many were removed.
    ///
    /// # Errors
    /// A file cannot be read or written, or somebody holds the lock.
    pub fn purge(&self, before: u64, reason: &str) -> io::Result<u64> {
        let time = clock::timestamp(before);
        self.locked(MOST_WAIT, |log, tail| {
            let Some(old) = Old::before(log, &time)? else { return Ok(0) };
            let record = json!({
                "schema": super::SCHEMA, "kind": "purge", "id": clock::uuid(), "time": clock::timestamp(clock::now()),
                "before": time, "through": {"seq": old.last.seq, "hash": old.last.hash}, "reason": reason,
            });
            // First the record: a tombstone that nobody answers for is a broken log.
            log.write(tail, &record.to_string(), true)?;
            old.bury()?;
            Ok(old.count)
        })
    }
}

#[derive(Default)]
struct Check {
    done: Checked,
    last: Option<Tail>,
    /// The last purged record of each tombstone that no purge was read for yet, with its line.
    tombstones: BTreeMap<u64, u64>,
}

impl Check {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8".to_owned())?;
        let text = text.strip_suffix('\n').ok_or("it has no end: its writer was killed, or the log was cut")?;
        let (seq, prev, hash) = ending(text).ok_or("it is no record of Reflex")?;
        let buried = is_tombstone(text);
        let follows = match &self.last {
            Some(last) => prev == last.hash && (buried || seq == last.seq + 1),
            None => buried || seq == 1,
        };
        if !follows {
            return Err(format!("record {seq} does not follow the record before it"));
        }
        let before = text.rsplit_once(",\"hash\":\"").map_or("", |(before, _)| before);
        if buried {
            let record: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
            self.done.purged += record.get("count").and_then(Value::as_u64).unwrap_or(0);
            self.tombstones.insert(seq, self.done.records);
        } else if hash_of(before) != hash {
            return Err(format!("record {seq} was changed"));
        } else {
            self.done.records += 1;
        }
        if text.starts_with(PURGE) {
            let record: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
            let through = record.get("through").and_then(|through| through.get("seq")).and_then(Value::as_u64);
            // A later purge answers for an earlier one too: its tombstone stands in the place of both.
            self.tombstones.retain(|seq, _| through.is_none_or(|through| *seq > through));
        }
        self.last = Some(Tail::new(seq, hash));
        Ok(())
    }
}

const PURGE: &str = "{\"schema\":\"reflex/audit-v2\",\"kind\":\"purge\"";
const TOMBSTONE: &str = "{\"schema\":\"reflex/audit-v2\",\"kind\":\"tombstone\"";

fn is_tombstone(line: &str) -> bool {
    line.starts_with(TOMBSTONE)
}

/// The part of the log that is older than a time.
struct Old {
    /// Files that are old as a whole.
    files: Vec<PathBuf>,
    /// The file in which the old records end, and at which byte the others begin.
    divided: Option<(PathBuf, u64)>,
    /// `prev` of the first.
    first: String,
    last: Tail,
    count: u64,
}

impl Old {
    fn before(log: &Log, time: &str) -> io::Result<Option<Old>> {
        let mut old = Old { files: Vec::new(), divided: None, first: String::new(), last: Tail::new(0, ""), count: 0 };
        for part in log.parts()? {
            let mut lines = BufReader::with_capacity(1 << 20, File::open(&part)?);
            let (mut line, mut at) = (String::new(), 0);
            while lines.read_line(&mut line)? > 0 {
                if !is_tombstone(&line) && time_of(&line).is_none_or(|its| its >= time) {
                    old.divided = Some((part, at));
                    return Ok((old.count > 0).then_some(old));
                }
                old.take(&line);
                at += line.len() as u64;
                line.clear();
            }
            // If all is old, the last file keeps what comes after: the record of the purge.
            old.divided = Some((part.clone(), at));
            old.files.push(part);
        }
        Ok((old.count > 0).then_some(old))
    }

    fn take(&mut self, line: &str) {
        let Some((seq, prev, hash)) = ending(line.trim_end()) else { return };
        if self.count == 0 {
            self.first = prev.into();
        }
        let buried = is_tombstone(line).then(|| serde_json::from_str::<Map<String, Value>>(line).ok()).flatten();
        self.count += buried.and_then(|record| record.get("count")?.as_u64()).unwrap_or(1);
        self.last = Tail::new(seq, hash);
    }

    /// One tombstone stands for all of it, in front of what stays.
    fn bury(&self) -> io::Result<()> {
        let stone = format!(
            "{TOMBSTONE},\"count\":{},\"seq\":{},\"prev\":\"{}\",\"hash\":\"{}\"}}\n",
            self.count, self.last.seq, self.first, self.last.hash
        );
        let Some((target, from)) = self.divided.clone() else { return Ok(()) };
        replace(&target, |draft| {
            draft.write_all(stone.as_bytes())?;
            let mut rest = File::open(&target)?;
            io::Seek::seek(&mut rest, io::SeekFrom::Start(from))?;
            io::copy(&mut rest, draft).map(drop)
        })?;
        self.files.iter().filter(|file| **file != target).try_for_each(fs::remove_file)
    }
}

/// A new file in the place of an old one, at once or not at all.
fn replace(target: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let draft = target.with_extension("draft");
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    write(&mut file)?;
    file.sync_all()?;
    fs::rename(draft, target)
}

/// The value of the record's `time`, which stands near its front.
fn time_of(line: &str) -> Option<&str> {
    line.split_once("\"time\":\"")?.1.split('"').next()
}
