//! Matches the library's forms at a position of a text. A form consists of literals and runs of byte sets.
//!
//! A run is greedy and does not backtrack. The library build rejects a form that would need backtracking.

use reflex_tables::Node;
use std::ops::Range;

/// Matches the form around its anchor at `at`, unless it is a part of a longer word.
pub(super) fn around(form: Node<'_>, bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let anchor = form.at(0).bytes();
    let anchor_end = at + anchor.len();
    if bytes.get(at..anchor_end) != Some(anchor) {
        return None;
    }
    let (before, after) = (form.at(3), form.at(4));
    if before.is_empty() && !begins(bytes, at, first_set(after)) {
        return None;
    }
    let end = forward(after, bytes, anchor_end)?;
    let start = backward(before, bytes, at)?;
    // A form that begins with a separator (`&sig=`) may follow a word.
    let signed = bytes.get(start).is_some_and(|first| b"?&=;:".contains(first));
    (signed || begins(bytes, start, first_set(before))).then_some(start..end)
}

/// Matches the form as a value that begins at `at`.
pub(super) fn from(segments: Node<'_>, bytes: &[u8], at: usize) -> Option<Range<usize>> {
    forward(segments, bytes, at).map(|end| at..end)
}

/// Matches the beginning of a form that may be truncated or of a different length.
pub(super) fn begun(form: Node<'_>, bytes: &[u8], at: usize) -> Option<Range<usize>> {
    const ENOUGH: usize = 16;
    let anchor = form.at(0).bytes();
    let after = form.at(4);
    let mut end = at + anchor.len();
    let starts = form.at(3).is_empty() && bytes.get(at..end) == Some(anchor);
    if !starts || !begins(bytes, at, first_set(after)) {
        return None;
    }
    for segment in after.items() {
        let rest = bytes.get(end..)?;
        let (taken, least) = if segment.is_text() {
            (if rest.starts_with(segment.bytes()) { segment.bytes().len() } else { 0 }, segment.bytes().len())
        } else {
            (taken(segment, rest.iter()), segment.at(1).number() as usize)
        };
        end += taken;
        if taken < least {
            break;
        }
    }
    let rest = bytes.get(end..)?;
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)).count();
    (end - at >= ENOUGH).then_some(at..end + length)
}

/// The set of the first run, empty without a run.
fn first_set(segments: Node<'_>) -> &[u8] {
    segments.items().find(|segment| segment.is_list()).map_or(&[], |run| run.at(0).bytes())
}

fn forward(segments: Node<'_>, bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut set: &[u8] = &[];
    for segment in segments.items() {
        let rest = bytes.get(at..)?;
        if segment.is_text() {
            at += rest.starts_with(segment.bytes()).then_some(segment.bytes().len())?;
            set = &[];
        } else {
            set = segment.at(0).bytes();
            at += run(segment, rest.iter())?;
        }
    }
    let ends = bytes.get(at).is_none_or(|byte| !holds(set, *byte) && !is_word(*byte));
    ends.then_some(at)
}

fn backward(segments: Node<'_>, bytes: &[u8], mut at: usize) -> Option<usize> {
    for segment in segments.items() {
        let rest = bytes.get(..at)?;
        at -= if segment.is_text() {
            rest.ends_with(segment.bytes()).then_some(segment.bytes().len())?
        } else {
            run(segment, rest.iter().rev())?
        };
    }
    Some(at)
}

/// Number of bytes the run matches, or `None` if it is below the run's minimum.
fn run<'b>(segment: Node<'_>, chars: impl Iterator<Item = &'b u8>) -> Option<usize> {
    let taken = taken(segment, chars);
    (taken >= segment.at(1).number() as usize).then_some(taken)
}

fn taken<'b>(run: Node<'_>, chars: impl Iterator<Item = &'b u8>) -> usize {
    let (set, max) = (run.at(0).bytes(), run.at(2).number());
    chars.take(max as usize).take_while(|byte| holds(set, **byte)).count()
}

/// Whether a set contains a byte. A set is encoded as pairs of first and last byte.
fn holds(set: &[u8], byte: u8) -> bool {
    set.chunks_exact(2).any(|pair| matches!(pair, [first, last] if (*first..=*last).contains(&byte)))
}

/// Whether a word may begin here. The last character of an escape (of a newline, of a byte) ends the previous word.
fn begins(bytes: &[u8], at: usize, set: &[u8]) -> bool {
    let Some((before, last)) = bytes.get(..at).and_then(|before| before.split_last().map(|(last, rest)| (rest, *last)))
    else {
        return true;
    };
    if !is_word(last) {
        // A dot precedes a file extension or a CSS class.
        return last != b'.' && (last != b'-' || !holds(set, b'-'));
    }
    let back = |count: usize| before.len().checked_sub(count).and_then(|at| before.get(at..)).unwrap_or(&[]);
    (b"nrt".contains(&last) && back(1) == b"\\")
        || (last.is_ascii_hexdigit() && (back(2).starts_with(b"%") || back(5).starts_with(b"\\u")))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
