//! Quoting of texts as shell words.

/// Returns the text in single quotes, as one literal shell word.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns the text as one literal shell word, in quotes only if a shell would read it otherwise.
pub fn as_word(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// Whether a shell reads the unquoted text literally, as one word.
pub fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"@%_-+=:,./".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::{as_word, is_plain, quoted};

    #[test]
    fn what_is_not_plain_is_one_word_in_quotes() {
        for (text, plain, shown) in
            [("a/b.c", true, "'a/b.c'"), ("it's", false, r"'it'\''s'"), ("$x *", false, "'$x *'"), ("", false, "''")]
        {
            assert_eq!((is_plain(text), quoted(text).as_str()), (plain, shown), "{text}");
            assert_eq!(as_word(text), if plain { text } else { shown }, "{text}");
        }
    }
}
