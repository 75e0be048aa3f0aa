//! Formats of keys and passwords. Their patterns are taken apart, so that a single pass over a text finds all
//! candidates.

use super::error::{EntryError, PatternError, PatternFlaw, SourceError};
use crate::sieve;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum length of an unbounded run, so that one candidate never scans the entire text.
const MAX_RUN: u32 = 4096;

/// Type of a candidate, its second item; the first item is the text that the search looks for, the third is its entry.
/// After these, a form has the segments before and after that text, a name has the patterns of its value, and a shape
/// has its word.
const FORMED: u32 = 0;
const NAMED: u32 = 1;
const SHAPED: u32 = 2;

/// One entry of `library/secrets`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Format {
    /// Id such as `github/token`. With a dash for the slash it is the tag that replaces such a secret.
    pub(super) id: String,
    about: String,
    severity: String,
    /// Hosts that legitimately receive the secret, including their subdomains. Empty if unknown or unrestricted.
    #[serde(default)]
    hosts: Vec<String>,
    /// Patterns of the entire secret.
    #[serde(default)]
    forms: Vec<String>,
    /// Words in the name of a variable whose value matches one of `values`.
    #[serde(default)]
    named: Vec<String>,
    /// Patterns of the value, with `named`.
    #[serde(default)]
    values: Vec<String>,
    /// Method for finding a secret without a format of its own, and the words that the search looks for.
    #[serde(default)]
    shape: Option<String>,
    #[serde(default)]
    words: Vec<String>,
    /// Minimum entropy per character after the prefix, in tenths of a bit.
    #[serde(default)]
    entropy: Option<u32>,
    /// Additional check: `jwt`.
    #[serde(default)]
    check: Option<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    fires: Vec<Value>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    quiet: Vec<Value>,
}

/// All formats, indexed by the first three bytes that the search looks for.
#[derive(Default)]
pub(super) struct Formats {
    starts: BTreeMap<[u8; 3], Vec<(usize, Value)>>,
    spaced: Vec<Value>,
    kinds: BTreeSet<String>,
}

impl Formats {
    /// Adds one entry.
    ///
    /// # Errors
    /// A duplicate id, a pattern that cannot be parsed, or a pattern without a text to search for.
    pub(super) fn add(&mut self, format: Format) -> Result<(), SourceError> {
        let kind = format.id.replace('/', "-");
        if !self.kinds.insert(kind.clone()) {
            return Err(SourceError::Twice(format.id));
        }
        let mut entry = Map::new();
        entry.insert("id".into(), format.id.clone().into());
        entry.insert("kind".into(), kind.into());
        entry.insert("about".into(), format.about.as_str().into());
        entry.insert("severity".into(), format.severity.as_str().into());
        if !format.hosts.is_empty() {
            entry.insert("hosts".into(), format.hosts.clone().into());
        }
        entry.insert("entropy".into(), format.entropy.unwrap_or(28).into());
        if let Some(check) = format.check.as_deref() {
            entry.insert("check".into(), check.into());
        }
        let entry = Value::Object(entry);
        self.index(&format, &entry).map_err(|problem| SourceError::in_entry(&format.id, problem))
    }

    /// Adds the candidates of an entry.
    fn index(&mut self, format: &Format, entry: &Value) -> Result<(), EntryError> {
        for pattern in &format.forms {
            for segments in parse(pattern)? {
                self.form(entry, &segments).map_err(|flaw| flaw.of(pattern))?;
            }
        }
        let mut values = Vec::new();
        for pattern in &format.values {
            values.extend(parse(pattern)?.iter().map(|segments| lower(segments)));
        }
        for name in &format.named {
            let node = json!([name, NAMED, entry, values]);
            self.word(name, &node)?;
        }
        for word in &format.words {
            let node = json!([word, SHAPED, entry, format.shape]);
            self.word(word, &node)?;
        }
        Ok(())
    }

    fn form(&mut self, entry: &Value, segments: &[Segment]) -> Result<(), PatternFlaw> {
        let anchor = anchor(segments).ok_or(PatternFlaw::NoFixed)?;
        let (before, rest) = segments.split_at(anchor);
        let (Some(Segment::Literal(text)), after) = (rest.first(), rest.get(1..).unwrap_or_default()) else {
            return Err(PatternFlaw::NoFixed);
        };
        let reversed: Vec<Segment> = before.iter().rev().cloned().collect();
        swallows_nothing(&reversed)?;
        let node = json!([text, FORMED, entry, lower(&reversed), lower(after)]);
        if text.len() >= 3 {
            self.put(text, text.len(), node);
            return Ok(());
        }
        if let (".", [Segment::Run { min, max, .. }, Segment::Literal(next), ..]) = (text.as_str(), after)
            && min == max
            && next == "."
        {
            self.spaced.push(json!({"gap": min + 1, "forms": [node]}));
            return Ok(());
        }
        for start in continued(text, after)? {
            self.put(&start, text.len(), node.clone());
        }
        Ok(())
    }

    /// Adds a word in the spellings that occur in names: `token`, `TOKEN`, `Token`, and as written in the entry.
    fn word(&mut self, word: &str, node: &Value) -> Result<(), EntryError> {
        let start = word.get(..3).filter(|_| word.is_ascii());
        let start = start.ok_or_else(|| EntryError::ShortWord(word.into()))?;
        let (lower, upper) = (start.to_ascii_lowercase(), start.to_ascii_uppercase());
        let capital = format!("{}{}", upper.get(..1).unwrap_or(""), lower.get(1..).unwrap_or(""));
        for start in BTreeSet::from([lower, upper, capital, start.to_owned()]) {
            self.put(&start, word.len(), node.clone());
        }
        Ok(())
    }

    fn put(&mut self, start: &str, length: usize, node: Value) {
        if let Some(three) = start.as_bytes().first_chunk::<3>() {
            self.starts.entry(*three).or_default().push((length, node));
        }
    }

    /// The tree: `sieve`, `starts` (the candidates for three bytes by bucket, longest first), `fourths` (the bytes that
    /// may follow them, by bucket), `spaced`, `kinds`.
    pub(super) fn lower(self) -> Value {
        let sieve = sieve::encode(self.starts.keys().copied());
        let mut buckets: Vec<Vec<(usize, Value)>> = vec![Vec::new(); sieve::BUCKETS];
        let mut fourths: Vec<u32> = vec![0; sieve::BUCKETS];
        for ([first, second, third], nodes) in self.starts {
            let bucket = sieve::bucket(u32::from_be_bytes([0, first, second, third]));
            if let Some(chars) = fourths.get_mut(bucket) {
                *chars |= nodes.iter().fold(0, |chars, (_, node)| chars | fourth(node));
            }
            let Some(bucket) = buckets.get_mut(bucket) else { continue };
            bucket.extend(nodes.into_iter().filter(|node| !bucket.contains(node)).collect::<Vec<_>>());
        }
        let starts: Vec<Value> = buckets
            .into_iter()
            .map(|mut nodes| {
                nodes.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
                if nodes.is_empty() { Value::Null } else { nodes.into_iter().map(|(_, node)| node).collect() }
            })
            .collect();
        let kinds: Map<String, Value> = self.kinds.into_iter().map(|kind| (kind, true.into())).collect();
        json!({"sieve": sieve, "starts": starts, "fourths": fourths, "spaced": self.spaced, "kinds": kinds})
    }
}

/// The possible fourth bytes of a candidate: the fourth byte of its text, or any if the text is shorter.
fn fourth(node: &Value) -> u32 {
    let text = node.get(0).and_then(Value::as_str).unwrap_or("");
    text.as_bytes().get(3).map_or(sieve::ANY, |ch| sieve::only(*ch))
}

/// One part of a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Segment {
    /// A literal text.
    Literal(String),
    /// A run of characters from a set; the set is written as pairs of first and last.
    Run { set: String, min: u32, max: u32 },
}

fn lower(segments: &[Segment]) -> Value {
    let one = |segment: &Segment| match segment {
        Segment::Literal(text) => Value::from(text.as_str()),
        Segment::Run { set, min, max } => json!([set, min, max]),
    };
    segments.iter().map(one).collect()
}

/// Index of the text that the search looks for: the first with at least three characters, else the longest.
fn anchor(segments: &[Segment]) -> Option<usize> {
    let length = |segment: &Segment| match segment {
        Segment::Literal(text) => text.len(),
        Segment::Run { .. } => 0,
    };
    let long = segments.iter().position(|segment| length(segment) >= 3);
    let longest = || {
        let longest = segments.iter().map(length).max().filter(|length| *length > 0)?;
        segments.iter().position(|segment| length(segment) == longest)
    };
    long.or_else(longest)
}

/// All three-byte sequences that a short text and the run after it may begin with.
fn continued(text: &str, after: &[Segment]) -> Result<Vec<String>, PatternFlaw> {
    let missing = 3 - text.len();
    let Some(Segment::Run { set, min, .. }) = after.first().filter(|_| missing < 3) else {
        return Err(PatternFlaw::NoStart);
    };
    if (*min as usize) < missing {
        return Err(PatternFlaw::NoStart);
    }
    let mut starts = vec![text.to_owned()];
    for _ in 0..missing {
        let chars: Vec<char> = members(set);
        starts = starts.iter().flat_map(|start| chars.iter().map(move |ch| format!("{start}{ch}"))).collect();
    }
    Ok(starts)
}

fn members(set: &str) -> Vec<char> {
    let ends: Vec<char> = set.chars().collect();
    ends.chunks(2).flat_map(|pair| pair.first().copied().unwrap_or(' ')..=pair.last().copied().unwrap_or(' ')).collect()
}

/// Parses a pattern into one list of segments per combination of its alternatives.
///
/// Supported are literal characters, `\` before a symbol, `\d` `\w` `\h` (a digit, a word character, a lower-case
/// hexadecimal digit), `[…]` with ranges, `(a|b)` of patterns, and the quantifiers `{n}`, `{n,m}`, `{n,}`, `?` after a
/// character, a class or a set.
fn parse(pattern: &str) -> Result<Vec<Vec<Segment>>, PatternError> {
    if !pattern.is_ascii() {
        return Err(PatternFlaw::NotAscii.of(pattern));
    }
    let ways = without_groups(pattern)?;
    let all: Vec<Vec<Segment>> = ways.iter().map(|way| segments(way)).collect::<Result<_, _>>()?;
    all.iter().try_for_each(|segments| swallows_nothing(segments).map_err(|flaw| flaw.of(pattern)))?;
    Ok(all)
}

fn without_groups(pattern: &str) -> Result<Vec<String>, PatternError> {
    let escaped = |at: usize| pattern.get(..at).is_some_and(|before| before.ends_with('\\'));
    let Some((open, _)) = pattern.match_indices('(').find(|(at, _)| !escaped(*at)) else {
        return Ok(vec![pattern.to_owned()]);
    };
    let (before, rest) = pattern.split_at(open);
    let (inner, after) =
        rest.get(1..).and_then(|rest| rest.split_once(')')).ok_or_else(|| PatternFlaw::OpenGroup.of(pattern))?;
    let mut ways = Vec::new();
    for choice in inner.split('|') {
        ways.extend(without_groups(&format!("{before}{choice}{after}"))?);
    }
    Ok(ways)
}

fn segments(pattern: &str) -> Result<Vec<Segment>, PatternError> {
    let mut found: Vec<Segment> = Vec::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        rest = rest.get(1..).unwrap_or("");
        let (set, literal) = match first {
            '[' => {
                let (set, after) = rest.split_once(']').ok_or_else(|| PatternFlaw::OpenSet.of(pattern))?;
                rest = after;
                (ranges(set), None)
            }
            '\\' => {
                let sign = rest.chars().next().ok_or_else(|| PatternFlaw::Backslash.of(pattern))?;
                rest = rest.get(1..).unwrap_or("");
                match sign {
                    'd' => ("09".to_owned(), None),
                    'w' => ("azAZ09__".to_owned(), None),
                    'h' => ("09af".to_owned(), None),
                    sign => (format!("{sign}{sign}"), Some(sign)),
                }
            }
            ch => (format!("{ch}{ch}"), Some(ch)),
        };
        let (times, after) = times(rest).map_err(|flaw| flaw.of(pattern))?;
        rest = after;
        match (literal, times) {
            (Some(ch), None) => match found.last_mut() {
                Some(Segment::Literal(text)) => text.push(ch),
                _ => found.push(Segment::Literal(ch.into())),
            },
            (_, times) => {
                let (min, max) = times.unwrap_or((1, 1));
                found.push(Segment::Run { set, min, max });
            }
        }
    }
    Ok(found)
}

/// Converts `A-Za-z0-9_-` to pairs: `AZaz09__--`.
fn ranges(set: &str) -> String {
    let chars: Vec<char> =
        set.replace("\\d", "0-9").replace("\\w", "A-Za-z0-9_").replace("\\h", "0-9a-f").chars().collect();
    let mut pairs = String::new();
    let mut at = 0;
    while let Some(first) = chars.get(at) {
        let last = chars.get(at + 1).filter(|sign| **sign == '-').and_then(|_| chars.get(at + 2));
        pairs.extend([*first, *last.unwrap_or(first)]);
        at += if last.is_some() { 3 } else { 1 };
    }
    pairs
}

type Times = Option<(u32, u32)>;

/// Parses an optional quantifier and returns it with the remaining text.
fn times(rest: &str) -> Result<(Times, &str), PatternFlaw> {
    if let Some(after) = rest.strip_prefix('?') {
        return Ok((Some((0, 1)), after));
    }
    let Some(after) = rest.strip_prefix('{') else { return Ok((None, rest)) };
    let (inner, after) = after.split_once('}').ok_or(PatternFlaw::OpenQuantifier)?;
    let number = |text: &str| text.parse::<u32>().map_err(|_| PatternFlaw::NoNumber(inner.into()));
    let times = match inner.split_once(',') {
        None => (number(inner)?, number(inner)?),
        Some((min, "")) => (number(min)?, MAX_RUN),
        Some((min, max)) => (number(min)?, number(max)?),
    };
    Ok((Some(times), after))
}

/// Runs are greedy and never backtrack, so the next segment must begin with a character outside the run's set.
fn swallows_nothing(segments: &[Segment]) -> Result<(), PatternFlaw> {
    for pair in segments.windows(2) {
        let [Segment::Run { set, min, max }, next] = pair else { continue };
        let begins: Vec<char> = match next {
            Segment::Literal(text) => text.chars().take(1).collect(),
            Segment::Run { set, .. } => members(set),
        };
        if min != max && begins.iter().any(|ch| members(set).contains(ch)) {
            return Err(PatternFlaw::Greedy(set.clone()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Segment, parse};

    fn run(set: &str, min: u32, max: u32) -> Segment {
        Segment::Run { set: set.into(), min, max }
    }

    #[test]
    fn a_pattern_is_taken_apart() {
        let ways = parse("gh(p|o)_[A-Z0-9]{4,}\\.x").unwrap();
        let way =
            |start: &str| vec![Segment::Literal(start.into()), run("AZ09", 4, 4096), Segment::Literal(".x".into())];
        assert_eq!(ways, [way("ghp_"), way("gho_")]);
        assert_eq!(parse("\\d{3}-?a").unwrap(), [vec![run("09", 3, 3), run("--", 0, 1), Segment::Literal("a".into())]]);
    }

    #[test]
    fn what_would_need_a_second_try_is_refused() {
        for pattern in ["[a-z]{2,}abc", "[a-z", "a{2", "a(b", "a{x}"] {
            assert!(parse(pattern).is_err(), "{pattern}");
        }
    }
}
