//! Searches the log for the newest matching records.
//!
//! All bytes are scanned but few are parsed: several threads search blocks, newest first, for texts that every matching
//! line contains, and only the lines with a hit are examined.

use super::log::Log;
use super::snapshot::Part;
use crate::system::os;
use memchr::{memchr, memmem, memrchr};
use serde_json::{Map, Value};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The conditions of a search. A record must meet all of them.
#[derive(Debug, Default, Clone)]
pub struct Search {
    /// Fields with their values: `decision` = `deny`, `agent` = `claude`; a field of a finding by its name as well
    /// (`id`). Numbers, `true` and `false` also match unquoted values.
    pub fields: Vec<(String, String)>,
    /// Fields that occur with any value.
    pub keys: Vec<String>,
    /// Texts that occur anywhere in the record.
    pub texts: Vec<String>,
    /// Earliest time, in the format of the field `time`.
    pub since: Option<String>,
    /// Latest time, in the same format.
    pub until: Option<String>,
}

/// A test that a record must pass.
pub type Test<'a> = dyn Fn(&Map<String, Value>) -> bool + Sync + 'a;

impl Log {
    /// The newest matching records, oldest first.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn search(&self, search: &Search, limit: usize) -> io::Result<Vec<Map<String, Value>>> {
        self.search_for(search, limit, None)
    }

    /// The same, of the records that also pass this test.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn search_for(
        &self,
        search: &Search,
        limit: usize,
        test: Option<&Test<'_>>,
    ) -> io::Result<Vec<Map<String, Value>>> {
        let parts = self.snapshot()?;
        let needles = search.needles();
        let pattern = Pattern { search, needles: &needles, test };
        let found = newest(&parts, &pattern, limit)?;
        Ok(found.iter().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }
}

/// A text that a line must contain.
struct Needle {
    text: Vec<u8>,
    /// The value that must follow, with or without quotes.
    value: Option<String>,
}

impl Needle {
    fn field(name: &str, value: &str) -> Needle {
        let name = Value::from(name).to_string();
        let bare = matches!(serde_json::from_str(value), Ok(Value::Bool(_) | Value::Number(_)));
        let text = if bare { format!("{name}:") } else { format!("{name}:{}", Value::from(value)) };
        Needle { text: text.into_bytes(), value: bare.then(|| value.to_owned()) }
    }

    fn key(name: &str) -> Needle {
        Needle { text: format!("{}:", Value::from(name)).into_bytes(), value: None }
    }

    fn text(text: &str) -> Needle {
        let quoted = Value::from(text).to_string();
        let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or("");
        Needle { text: inner.as_bytes().to_vec(), value: None }
    }

    fn is_in(&self, line: &[u8]) -> bool {
        let Some(value) = &self.value else { return memmem::find(line, &self.text).is_some() };
        memmem::find_iter(line, &self.text).any(|at| {
            let after = line.get(at + self.text.len()..).unwrap_or_default();
            let bare = after.strip_prefix(b"\"").unwrap_or(after).strip_prefix(value.as_bytes());
            bare.and_then(<[u8]>::first).is_some_and(|next| b",}]\"".contains(next))
        })
    }
}

impl Search {
    fn needles(&self) -> Vec<Needle> {
        let fields = self.fields.iter().map(|(name, value)| Needle::field(name, value));
        let needles = fields.chain(self.keys.iter().map(|name| Needle::key(name)));
        let needles = needles.chain(self.texts.iter().map(|text| Needle::text(text)));
        needles.filter(|needle| !needle.text.is_empty()).collect()
    }

    /// Whether the record's time, which is near its beginning, is in the requested range.
    fn is_time_of(&self, line: &[u8]) -> bool {
        const TIME: &[u8] = b"\"time\":\"";
        const LENGTH: usize = "2026-11-21T10:00:00.000Z".len();
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        let at = memmem::find(line, TIME).map_or(line.len(), |at| at + TIME.len());
        let time = line.get(at..at + LENGTH).unwrap_or_default();
        self.since.as_ref().is_none_or(|since| time >= since.as_bytes())
            && self.until.as_ref().is_none_or(|until| time <= until.as_bytes())
    }
}

/// Number of bytes searched at once: small enough for the cache of a core.
const BLOCK: u64 = 256 * 1024;

/// Number of bytes read at a time to find the end of a line that is longer than its block.
const STEP: u64 = 16 * 1024;

/// Maximum number of threads; more would wait for memory.
const MAX_THREADS: usize = 4;

/// The lines that begin in this range of a part.
struct Block<'p> {
    part: &'p Part,
    from: u64,
}

/// The newest matching lines of these parts, oldest first.
fn newest(parts: &[Part], pattern: &Pattern<'_>, wanted: usize) -> io::Result<Vec<String>> {
    let of_part =
        |part| (0..Part::length(part).div_ceil(BLOCK)).rev().map(move |number| Block { part, from: number * BLOCK });
    let blocks: Vec<Block<'_>> = parts.iter().rev().flat_map(of_part).collect();
    let (next, found) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // Each thread takes the newest free block and searches it to its end, so that no match between two results is
    // missed.
    let work = || -> io::Result<Vec<(usize, Vec<String>)>> {
        let (mut reader, mut lines) = (Reader::default(), Vec::new());
        while found.load(Ordering::Relaxed) < wanted {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(block) = blocks.get(number) else { break };
            let fitting = pattern.lines(reader.read(block)?, wanted);
            found.fetch_add(fitting.len(), Ordering::Relaxed);
            if !fitting.is_empty() {
                lines.push((number, fitting));
            }
        }
        Ok(lines)
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS).min(blocks.len());
    let results = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let result = work();
        let others = others.into_iter().map(|other| other.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())));
        others.chain([result]).collect::<io::Result<Vec<_>>>()
    });
    let mut lines: Vec<(usize, Vec<String>)> = results?.into_iter().flatten().collect();
    lines.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    let mut lines: Vec<String> = lines.into_iter().flat_map(|(_, lines)| lines).collect();
    lines.drain(..lines.len().saturating_sub(wanted));
    Ok(lines)
}

/// Reads blocks into the same buffer: allocating a new one would cost more than the search.
#[derive(Default)]
struct Reader<'p> {
    opened: Option<(&'p Part, Option<File>)>,
    memory: Vec<u8>,
    /// Number of valid bytes in the buffer.
    filled: usize,
}

impl<'p> Reader<'p> {
    /// The lines that begin in this block, each complete.
    fn read(&mut self, block: &Block<'p>) -> io::Result<&[u8]> {
        let part = block.part;
        if self.opened.as_ref().is_none_or(|(opened, _)| !std::ptr::eq(*opened, part)) {
            self.opened = Some((part, part.open()?));
        }
        self.filled = 0;
        // A line begins in this block if the newline before it is the last byte before the block, or within it.
        let mut at = part.length().min(block.from + BLOCK);
        self.fill(block.from.saturating_sub(1), at)?;
        while at < part.length() && self.bytes().last().is_some_and(|last| *last != b'\n') {
            let (filled, to) = (self.filled, part.length().min(at + STEP));
            self.fill(at, to)?;
            let newline = self.bytes().get(filled..).and_then(|tail| memchr(b'\n', tail));
            self.filled = newline.map_or(self.filled, |newline| filled + newline + 1);
            at = to;
        }
        let begin = if block.from == 0 { 0 } else { memchr(b'\n', self.bytes()).map_or(self.filled, |at| at + 1) };
        Ok(self.bytes().get(begin..).unwrap_or_default())
    }

    fn bytes(&self) -> &[u8] {
        self.memory.get(..self.filled).unwrap_or_default()
    }

    /// Appends this range of the file, as far as it exists.
    fn fill(&mut self, from: u64, to: u64) -> io::Result<()> {
        let Some((_, Some(file))) = &self.opened else { return Ok(()) };
        let start = self.filled;
        let end = start + usize::try_from(to.saturating_sub(from)).unwrap_or(0);
        if self.memory.len() < end {
            self.memory.resize(end, 0);
        }
        while let Some(room) = self.memory.get_mut(self.filled..end).filter(|room| !room.is_empty()) {
            match os::read_at(file, room, from + (self.filled - start) as u64) {
                Ok(0) => break,
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

struct Pattern<'a> {
    search: &'a Search,
    needles: &'a [Needle],
    test: Option<&'a Test<'a>>,
}

impl Pattern<'_> {
    fn fits(&self, line: &[u8]) -> bool {
        let passes = |test: &Test<'_>| serde_json::from_slice(line).is_ok_and(|record| test(&record));
        !line.is_empty()
            && self.needles.iter().all(|needle| needle.is_in(line))
            && self.search.is_time_of(line)
            && self.test.is_none_or(passes)
    }

    /// The newest `wanted` lines that match.
    fn lines(&self, text: &[u8], wanted: usize) -> Vec<String> {
        let owned = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
        if self.needles.is_empty() {
            let lines = text.split(|byte| *byte == b'\n').rev();
            let mut newest: Vec<String> = lines.filter(|line| self.fits(line)).take(wanted).map(owned).collect();
            newest.reverse();
            return newest;
        }
        // The needle whose first hit comes last is probably the rarest; if one has no hit, no line matches.
        let first = |needle: &Needle| Some((memmem::find(text, &needle.text)?, needle.text.clone()));
        let first: Option<Vec<(usize, Vec<u8>)>> = self.needles.iter().map(first).collect();
        let Some((mut at, rarest)) = first.and_then(|first| first.into_iter().max()) else { return Vec::new() };
        let (finder, mut found) = (memmem::Finder::new(&rarest), Vec::new());
        while let Some(hit) = text.get(at..).and_then(|rest| finder.find(rest)) {
            let hit = at + hit;
            let start = text.get(..hit).and_then(|before| memrchr(b'\n', before)).map_or(0, |newline| newline + 1);
            let end = text.get(hit..).and_then(|rest| memchr(b'\n', rest)).map_or(text.len(), |newline| hit + newline);
            found.extend(text.get(start..end).filter(|line| self.fits(line)));
            at = end;
        }
        found.drain(..found.len().saturating_sub(wanted));
        found.into_iter().map(owned).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;

    #[track_caller]
    fn check(fields: &[(&str, &str)], texts: &[&str], line: &str, fits: bool) {
        let owned = |text: &str| text.to_owned();
        let fields = fields.iter().map(|(name, value)| (owned(name), owned(value))).collect();
        let search = Search { fields, texts: texts.iter().map(|text| owned(text)).collect(), ..Search::default() };
        let pattern = Pattern { search: &search, needles: &search.needles(), test: None };
        let text = format!("{{}}\n{line}\n{{}}\n");
        assert_eq!(pattern.lines(text.as_bytes(), 9), if fits { vec![owned(line)] } else { Vec::new() });
    }

    #[test]
    fn a_field_is_found_in_each_form_that_json_has_for_it() {
        for line in [r#"{"slow":true}"#, r#"{"slow":"true","x":1}"#, r#"{"slow":true,"slower":false}"#] {
            check(&[("slow", "true")], &[], line, true);
        }
        check(&[("seq", "12")], &[], r#"{"seq":123}"#, false);
        check(&[("decision", "deny")], &[], r#"{"command":"\"decision\":\"deny\""}"#, false);
        check(&[("decision", "deny"), ("agent", "x")], &[], r#"{"agent":"x","decision":"deny"}"#, true);
        check(&[("decision", "deny"), ("agent", "y")], &[], r#"{"agent":"x","decision":"deny"}"#, false);
    }

    #[test]
    fn a_text_is_found_as_it_was_written() {
        check(&[], &[r#"say "hi""#], r#"{"command":"say \"hi\""}"#, true);
        check(&[], &["\""], r#"{"command":"a\\b"}"#, false);
        check(&[], &["é\n"], r#"{"command":"é\nx"}"#, true);
    }

    /// Lines of many lengths, some longer than a block, so that block boundaries fall at every position of a line.
    #[test]
    fn no_line_is_missed_or_found_twice_wherever_a_block_ends() {
        let folder = std::env::temp_dir().join(crate::system::random::uuid());
        std::fs::create_dir_all(&folder).unwrap();
        let line = |number: u64| {
            let length = if number.is_multiple_of(97) { 2 * BLOCK + number } else { number * 7919 % 5000 };
            let text = "x".repeat(usize::try_from(length).unwrap());
            format!("{{\"n\":\"{number}\",\"mark\":\"m{}\",\"text\":\"{text}\"}}\n", number % 3)
        };
        for (name, numbers) in [("000000000400.jsonl", 1..=400), ("current.jsonl", 401..=900)] {
            std::fs::write(folder.join(name), numbers.map(line).collect::<String>()).unwrap();
        }
        let log = Log::in_folder(folder.clone());
        let found = |search: &Search, limit: usize| -> Vec<u64> {
            let records = log.search(search, limit).unwrap();
            records.iter().map(|record| record.get("n").unwrap().as_str().unwrap().parse().unwrap()).collect()
        };
        let marked = Search { fields: vec![("mark".into(), "m1".into())], ..Search::default() };
        let all: Vec<u64> = (1..=900).filter(|number| number % 3 == 1).collect();
        assert_eq!(found(&marked, usize::MAX), all);
        assert_eq!(found(&marked, 250), all.get(50..).unwrap());
        assert_eq!(found(&Search::default(), usize::MAX), (1..=900).collect::<Vec<_>>());
        assert_eq!(found(&Search::default(), 3), [898, 899, 900]);
        let is_old = |record: &Map<String, Value>| record["n"].as_str().unwrap().len() < 3;
        let old = log.search_for(&marked, 2, Some(&is_old)).unwrap();
        assert_eq!(old.iter().map(|record| record["n"].as_str().unwrap()).collect::<Vec<_>>(), ["94", "97"]);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
