//! Names of shell variables.

/// Returns the length in bytes of the name at the start of the text.
pub(super) fn name_length(text: &str) -> usize {
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if !first {
        return 0;
    }
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

/// Whether the text is a valid name of a variable.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text) == text.len()
}
