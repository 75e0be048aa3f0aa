//! Prefixes of texts, and words compared with word patterns.

/// Prefix of at most `max` bytes, cut at a character boundary.
pub(super) fn begin_of(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// Whether a word matches a pattern. A star at the end of the pattern matches any suffix.
pub(super) fn is(wanted: &str, word: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(begin) => word.starts_with(begin),
        None => word == wanted,
    }
}
