//! Prefixes of texts.

/// Prefix of at most `max` bytes, cut at a character boundary.
pub(super) fn begin_of(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}
