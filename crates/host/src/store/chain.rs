//! Verifies the log, and purges old records without breaking its hash chain.

use super::head::{Head, Missing};
use super::log::{Log, MAX_WAIT, Tail, ending, hash_of};
use super::note::SCHEMA;
use crate::system::files::private;
use crate::system::{clock, random};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The result of verifying the log.
#[derive(Debug, Default)]
pub struct Checked {
    /// Number of lines whose hash was computed.
    pub records: u64,
    /// Number of purged records, according to the tombstones.
    pub purged: u64,
    /// The first invalid line, if any.
    pub broken: Option<Broken>,
    /// Records that were written and are missing.
    pub missing: Vec<Missing>,
}

/// A line that does not continue the hash chain.
#[derive(Debug)]
pub struct Broken {
    /// The file.
    pub file: PathBuf,
    /// The line number, from 1.
    pub line: u64,
    /// The reason why the line is invalid.
    pub problem: LineError,
}

/// The reason why a line does not continue the hash chain.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It holds other bytes than text.
    #[error("it is not UTF-8")]
    NotText,
    /// It is the last one, and its newline is missing.
    #[error("it has no end: its writer was killed, or the log was cut")]
    NoEnd,
    /// It does not end with a number and hashes.
    #[error("it is not a record of Reflex")]
    NotRecord,
    /// The record with this number names another one before it.
    #[error("record {0} does not follow the record before it")]
    NotFollowing(u64),
    /// The record with this number has another hash.
    #[error("record {0} was changed")]
    Changed(u64),
    /// It is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The log begins with a tombstone, which covers the records up to this one, and no record is about the purge.
    #[error("no record names who purged the log up to record {0}")]
    Unexplained(u64),
}

/// Number of lines between two progress reports.
const REPORTED: u64 = 16_384;

impl Log {
    /// Reads every line and computes its hash. `step` is called now and then with the number of lines read; if it
    /// returns `false`, the verification ends with an error.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn verify(&self, step: &mut dyn FnMut(u64) -> bool) -> io::Result<Checked> {
        let mut check = Check::default();
        // The head is read before the lines, because concurrent hooks may append further records.
        let head = Head::from_log(self).ok();
        for part in self.snapshot()? {
            let (mut number, mut problem) = (0, None);
            part.lines(&mut |line| {
                number += 1;
                problem = check.line(line).err();
                if check.done.records.is_multiple_of(REPORTED) && !step(check.done.records) {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                Ok(problem.is_none())
            })?;
            if let Some(problem) = problem {
                let broken = Broken { file: part.path, line: number, problem };
                return Ok(Checked { broken: Some(broken), ..check.done });
            }
        }
        if let Some((seq, place)) = check.tombstones.into_iter().next() {
            let problem = LineError::Unexplained(seq);
            let broken = Broken { file: self.folder().to_owned(), line: place, problem };
            return Ok(Checked { broken: Some(broken), ..check.done });
        }
        let end = check.last.unwrap_or_else(|| Tail::new(0, ""));
        check.done.missing.extend(head.and_then(|head| head.missing(&end)));
        Ok(check.done)
    }

    /// Replaces all records before a time by one tombstone, which keeps the chain, and writes a record about the purge.
    /// Returns the number of removed records; `reason` must contain no secret. `step` is called now and then with the
    /// number of records counted.
    ///
    /// # Errors
    /// A file cannot be read or written, or another process holds the lock.
    pub fn purge(&self, before: u64, reason: &str, step: &mut dyn FnMut(u64)) -> io::Result<u64> {
        let time = clock::timestamp(before);
        self.locked(MAX_WAIT, |log, tail| {
            let Some(old) = Old::before(log, &time, step)? else { return Ok(0) };
            let record = json!({
                "schema": SCHEMA, "kind": "purge", "id": random::uuid(), "time": clock::timestamp(clock::now()),
                "before": time, "through": {"seq": old.last.seq, "hash": old.last.hash}, "reason": reason,
            });
            // The record comes first: a tombstone without a purge record is a broken log.
            log.write(tail, &record.to_string(), true)?;
            old.bury(log)?;
            Ok(old.count)
        })
    }
}

#[derive(Default)]
struct Check {
    done: Checked,
    last: Option<Tail>,
    /// The last purged record of each tombstone whose purge record was not read yet, with the number of lines before
    /// it.
    tombstones: BTreeMap<u64, u64>,
}

impl Check {
    fn line(&mut self, line: &[u8]) -> Result<(), LineError> {
        let text = std::str::from_utf8(line).map_err(|_| LineError::NotText)?;
        let text = text.strip_suffix('\n').ok_or(LineError::NoEnd)?;
        let (seq, prev, hash) = ending(text).ok_or(LineError::NotRecord)?;
        let buried = is_tombstone(text);
        let follows = match &self.last {
            Some(last) => prev == last.hash && (buried || seq == last.seq + 1),
            None => buried || seq == 1,
        };
        if !follows {
            return Err(LineError::NotFollowing(seq));
        }
        let before = text.rsplit_once(",\"hash\":\"").map_or("", |(before, _)| before);
        if buried {
            let record: Value = serde_json::from_str(text)?;
            self.done.purged += record.get("count").and_then(Value::as_u64).unwrap_or(0);
            self.tombstones.insert(seq, self.done.records);
        } else if hash_of(before) != hash {
            return Err(LineError::Changed(seq));
        } else {
            self.done.records += 1;
            self.done.missing.extend(Missing::of_record(text));
        }
        if text.starts_with(PURGE) {
            let record: Value = serde_json::from_str(text)?;
            let through = record.get("through").and_then(|through| through.get("seq")).and_then(Value::as_u64);
            // A later purge covers earlier ones: its tombstone replaces theirs.
            self.tombstones.retain(|seq, _| through.is_none_or(|through| *seq > through));
        }
        self.last = Some(Tail::new(seq, hash));
        Ok(())
    }
}

const PURGE: &str = "{\"schema\":\"reflex/audit-v2\",\"kind\":\"purge\"";
const TOMBSTONE: &str = "{\"schema\":\"reflex/audit-v2\",\"kind\":\"tombstone\"";

pub(super) fn is_tombstone(line: &str) -> bool {
    line.starts_with(TOMBSTONE)
}

/// The part of the log before a time.
struct Old {
    /// The file in which the old records end, and the byte offset of the remaining ones.
    divided: Option<(PathBuf, u64)>,
    /// The `prev` field of the first old record.
    first: String,
    last: Tail,
    count: u64,
}

impl Old {
    fn before(log: &Log, time: &str, step: &mut dyn FnMut(u64)) -> io::Result<Option<Old>> {
        let mut old = Old { divided: None, first: String::new(), last: Tail::new(0, ""), count: 0 };
        let mut seen = 0_u64;
        for part in log.complete_parts()? {
            let mut at = 0;
            let all_old = part.lines(&mut |line| {
                let text = String::from_utf8_lossy(line);
                if !is_tombstone(&text) && time_of(&text).is_none_or(|its| its >= time) {
                    return Ok(false);
                }
                old.take(&text);
                at += line.len() as u64;
                seen += 1;
                if seen.is_multiple_of(REPORTED) {
                    step(seen);
                }
                Ok(true)
            })?;
            // If all records are old, the last file keeps the records that follow: that of the purge.
            old.divided = Some((part.path, at));
            if !all_old {
                break;
            }
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

    /// Writes one tombstone for all old records, before the remaining ones. Readers then ignore older files, so that
    /// the chain stays intact if the process is killed before they are removed; the next purge removes them.
    fn bury(&self, log: &Log) -> io::Result<()> {
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
        log.parts()?.iter().take_while(|file| **file != target).try_for_each(fs::remove_file)
    }
}

/// Replaces a file atomically.
fn replace(target: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let draft = target.with_extension("draft");
    let mut file = private().write(true).create(true).truncate(true).open(&draft)?;
    let done = write(&mut file).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&draft, target));
    done.or_else(|error| fs::remove_file(&draft).and(Err(error)))
}

/// The value of the record's `time`, which is near its beginning.
fn time_of(line: &str) -> Option<&str> {
    line.split_once("\"time\":\"")?.1.split('"').next()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;
    use crate::store::Search;

    fn log() -> Log {
        Log::in_folder(std::env::temp_dir().join(random::uuid()).join("audit"))
    }

    fn append(log: &Log, year: u16) {
        let record =
            format!("{{\"schema\":\"x\",\"id\":\"{}\",\"time\":\"{year}-01-01T00:00:00.000Z\"}}", random::uuid());
        log.append(&crate::store::redact::Kept::trusted(record), false).unwrap();
    }

    /// Closes the current part.
    fn close(log: &Log, seq: u64) {
        fs::rename(log.folder().join("current.jsonl"), log.folder().join(format!("{seq:012}.jsonl"))).unwrap();
    }

    fn verified(log: &Log) -> (u64, u64) {
        let checked = log.verify(&mut |_| true).unwrap();
        assert!(checked.broken.is_none(), "{checked:?}");
        (checked.records, checked.purged)
    }

    /// A purging process may be killed after it has written the tombstone and before it has removed all older files.
    #[test]
    fn a_killed_purge_leaves_a_complete_log_and_the_next_one_ends_it() {
        let log = log();
        for (year, seq) in [(2001, 2), (2002, 4), (2003, 6)] {
            append(&log, year);
            append(&log, year);
            close(&log, seq);
        }
        append(&log, 2004);
        let old = log.folder().join("000000000002.jsonl");
        let kept = fs::read(&old).unwrap();
        let before = |year: u16| crate::system::clock::moment(&format!("{year}-06-01")).unwrap();
        assert_eq!(log.purge(before(2002), "old", &mut |_| ()).unwrap(), 4);
        fs::write(&old, kept).unwrap();
        assert_eq!(verified(&log), (4, 4));
        // Two of 2003, one of 2004, the record of the purge, the tombstone.
        assert_eq!(log.search(&Search::default(), 99).unwrap().len(), 5);
        assert_eq!(log.purge(before(2003), "old", &mut |_| ()).unwrap(), 6);
        assert!(!old.exists());
        assert_eq!(verified(&log), (3, 6));
        fs::remove_dir_all(log.folder()).unwrap();
    }

    #[test]
    fn who_follows_the_log_misses_nothing_and_sees_nothing_twice() {
        let log = log();
        append(&log, 2001);
        let follower = log.follower().unwrap();
        append(&log, 2002);
        let (mut call, mut asked) = (Vec::new(), 0);
        follower
            .follow(1, &mut |line| {
                if !line.is_empty() {
                    call.push(ending(line).unwrap().0);
                    return Ok(true);
                }
                asked += 1;
                match asked {
                    // The part is closed with a record that the follower has not read yet.
                    1 => {
                        append(&log, 2003);
                        close(&log, 3);
                        append(&log, 2004);
                    }
                    2 => drop(
                        log.purge(crate::system::clock::moment("2003-06-01").unwrap(), "old", &mut |_| ()).unwrap(),
                    ),
                    3 => append(&log, 2005),
                    _ => {}
                }
                Ok(asked < 5)
            })
            .unwrap();
        assert_eq!(call, [2, 3, 4, 5, 6]);
        fs::remove_dir_all(log.folder()).unwrap();
    }
}
