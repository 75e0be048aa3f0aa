//! The names that variables of a shell can have.

/// The length of the name that the text begins with.
pub(super) fn name_length(text: &str) -> usize {
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if !first {
        return 0;
    }
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

/// Whether the text is a name that a variable can have.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text) == text.len()
}
