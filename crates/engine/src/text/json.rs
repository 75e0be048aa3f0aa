//! Lenient JSON as editors and agents accept it: with comments and trailing commas.

use serde_json::Value as Json;

/// Parses JSON that may have comments and trailing commas.
pub(crate) fn lenient_json(content: &str) -> Option<Json> {
    serde_json::from_str(content).or_else(|_| serde_json::from_str(&without_comments(content))).ok()
}

/// Removes comments and trailing commas.
pub(crate) fn without_comments(content: &str) -> String {
    let mut kept = String::with_capacity(content.len());
    let mut letters = content.chars().peekable();
    let mut quoted = false;
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(_)) if quoted => {
                kept.push(letter);
                kept.extend(letters.next());
            }
            ('"', _) => {
                quoted = !quoted;
                kept.push(letter);
            }
            ('/', Some('/')) if !quoted => {
                let _ = letters.by_ref().find(|letter| *letter == '\n');
            }
            ('/', Some('*')) if !quoted => {
                let mut last = ' ';
                let _ = letters
                    .by_ref()
                    .skip(1)
                    .find(|letter| std::mem::replace(&mut last, *letter) == '*' && *letter == '/');
            }
            ('}' | ']', _) if !quoted => {
                let end = kept.trim_end().len();
                if kept.get(..end).is_some_and(|text| text.ends_with(',')) {
                    kept.truncate(end - 1);
                }
                kept.push(letter);
            }
            _ => kept.push(letter),
        }
    }
    kept
}
