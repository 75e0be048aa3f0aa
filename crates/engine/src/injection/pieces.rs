//! Parts of texts, and words beside patterns of words.

/// As many bytes of a text, cut where a letter ends.
pub(super) fn begin_of(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// Whether a word is the wanted one; a star at its end is whatever follows.
pub(super) fn is(wanted: &str, word: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(begin) => word.starts_with(begin),
        None => word == wanted,
    }
}
