//! Reading the log: the newest records, those that fit a search, all of them.

use super::log::Log;
use memchr::{memchr, memmem, memrchr};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// What a record must say. Everything given must hold.
#[derive(Debug, Default, Clone)]
pub struct Search {
    /// Fields with their text: `decision` = `deny`, `agent` = `claude`; a field of a finding by its name too (`id`).
    pub fields: Vec<(String, String)>,
    /// Texts that stand anywhere in it.
    pub texts: Vec<String>,
    /// Not older, as it stands in `time`.
    pub since: Option<String>,
    /// Not newer.
    pub until: Option<String>,
}

impl Search {
    /// What any line that fits contains; the longest, since it is the rarest.
    fn needles(&self) -> Vec<String> {
        let quoted = |text: &str| Value::from(text).to_string();
        let fields = self.fields.iter().map(|(name, value)| format!("{}:{}", quoted(name), quoted(value)));
        let inner = |text: &String| quoted(text).trim_matches('"').to_owned();
        let mut needles: Vec<String> = fields.chain(self.texts.iter().map(inner)).collect();
        needles.sort_by_key(|needle| std::cmp::Reverse(needle.len()));
        needles
    }

    fn fits(&self, line: &str) -> bool {
        let time = line.split_once("\"time\":\"").map_or("", |(_, rest)| rest.get(..24).unwrap_or(""));
        self.since.as_deref().is_none_or(|since| time >= since)
            && self.until.as_deref().is_none_or(|until| time <= until)
    }
}

impl Log {
    /// The newest records that fit, oldest of them first.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn search(&self, search: &Search, most: usize) -> io::Result<Vec<Map<String, Value>>> {
        let mut found: Vec<String> = Vec::new();
        // Of the first form there is one file, older than all others; it is only read.
        let first_form = Some(self.folder().join("calls.jsonl")).filter(|file| file.is_file());
        for part in first_form.into_iter().chain(self.parts()?).rev() {
            let wanted = most.saturating_sub(found.len());
            if wanted == 0 {
                break;
            }
            let mut lines = newest_lines(&part, search, wanted)?;
            lines.append(&mut found);
            found = lines;
        }
        Ok(found.iter().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Every record in order; ends early when `each` says `false`.
    ///
    /// # Errors
    /// A file cannot be read, or `each` could not go on.
    pub fn each(&self, each: &mut dyn FnMut(&str) -> io::Result<bool>) -> io::Result<()> {
        use std::io::BufRead;
        for part in self.parts()? {
            for line in io::BufReader::with_capacity(1 << 20, File::open(part)?).lines() {
                if !each(&line?)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Gives each new record as it is written, until `each` says `false`; it is asked with an empty text while there is
    /// nothing new.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn follow(&self, each: &mut dyn FnMut(&str) -> io::Result<bool>) -> io::Result<()> {
        let current = self.folder().join("current.jsonl");
        let mut at = std::fs::metadata(&current).map_or(0, |file| file.len());
        let mut rest = String::new();
        loop {
            let length = std::fs::metadata(&current).map_or(0, |file| file.len());
            if length < at {
                // The part was closed and a new one begun.
                at = 0;
                rest.clear();
            }
            if length > at {
                let mut file = File::open(&current)?;
                file.seek(SeekFrom::Start(at))?;
                at += file.take(length - at).read_to_string(&mut rest)? as u64;
            }
            while let Some((line, behind)) = rest.split_once('\n') {
                if !each(line)? {
                    return Ok(());
                }
                rest = behind.to_owned();
            }
            if !each("")? {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}

/// So much is searched at once.
const BLOCK: u64 = 4 << 20;

/// Two blocks are searched at a time, newest first, until enough lines are found.
fn newest_lines(part: &Path, search: &Search, wanted: usize) -> io::Result<Vec<String>> {
    let needles = search.needles();
    let blocks: Vec<u64> = (0..std::fs::metadata(part)?.len().div_ceil(BLOCK)).rev().collect();
    let mut found: Vec<String> = Vec::new();
    // Fresh memory for every block would cost more than the search.
    let mut buffers = [Vec::new(), Vec::new()];
    for pair in blocks.chunks(2) {
        let results: Vec<io::Result<Vec<String>>> = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for (block, buffer) in pair.iter().zip(&mut buffers) {
                let needles = &needles;
                threads.push(scope.spawn(move || {
                    read_block(part, *block, buffer)?;
                    Ok(fitting_lines(buffer, needles, search, wanted))
                }));
            }
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Ok(Vec::new()))).collect()
        });
        for lines in results {
            let mut lines = lines?;
            lines.append(&mut found);
            found = lines;
        }
        if found.len() >= wanted {
            break;
        }
    }
    let surplus = found.len().saturating_sub(wanted);
    found.drain(..surplus);
    Ok(found)
}

/// The lines that fit, at most the newest `wanted`.
fn fitting_lines(text: &[u8], needles: &[String], search: &Search, wanted: usize) -> Vec<String> {
    let fits = |line: &&[u8]| {
        needles.iter().skip(1).all(|needle| memmem::find(line, needle.as_bytes()).is_some())
            && search.fits(&String::from_utf8_lossy(line))
    };
    let owned = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    let Some(rarest) = needles.first() else {
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let mut newest: Vec<String> = lines.rev().filter(fits).take(wanted).map(owned).collect();
        newest.reverse();
        return newest;
    };
    let (finder, mut found, mut at) = (memmem::Finder::new(rarest), Vec::new(), 0);
    while let Some(hit) = text.get(at..).and_then(|rest| finder.find(rest)) {
        let hit = at + hit;
        let start = text.get(..hit).and_then(|before| memrchr(b'\n', before)).map_or(0, |newline| newline + 1);
        let end = text.get(hit..).and_then(|rest| memchr(b'\n', rest)).map_or(text.len(), |newline| hit + newline);
        found.extend(text.get(start..end).filter(fits).map(owned));
        at = end;
    }
    let surplus = found.len().saturating_sub(wanted);
    found.drain(..surplus);
    found
}

/// The lines that begin in this block, whole.
fn read_block(part: &Path, block: u64, text: &mut Vec<u8>) -> io::Result<()> {
    let mut file = File::open(part)?;
    let from = block * BLOCK;
    // A line begins in this block if the newline before it lies at its front or in it.
    let front = from.saturating_sub(1);
    file.seek(SeekFrom::Start(front))?;
    text.clear();
    (&mut file).take(from + BLOCK - front).read_to_end(text)?;
    if text.last().is_some_and(|last| *last != b'\n') {
        io::BufRead::read_until(&mut io::BufReader::new(file), b'\n', text)?;
    }
    if block > 0 {
        let begin = memchr(b'\n', text).map_or(text.len(), |newline| newline + 1);
        text.drain(..begin);
    }
    Ok(())
}
