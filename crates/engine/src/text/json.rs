//! Lenient JSON as editors and agents accept it: with comments and trailing commas.

use serde_json::Value as Json;

/// Parses JSON that may have comments and trailing commas.
pub(crate) fn lenient_json(content: &str) -> Option<Json> {
    serde_json::from_str(content).or_else(|_| serde_json::from_str(&without_comments(content))).ok()
}

/// Removes comments and trailing commas.
pub(crate) fn without_comments(content: &str) -> String {
    let mut kept = String::with_capacity(content.len());
    let mut chars = content.chars().peekable();
    let mut quoted = false;
    while let Some(ch) = chars.next() {
        match (ch, chars.peek()) {
            ('\\', Some(_)) if quoted => {
                kept.push(ch);
                kept.extend(chars.next());
            }
            ('"', _) => {
                quoted = !quoted;
                kept.push(ch);
            }
            ('/', Some('/')) if !quoted => {
                let _ = chars.by_ref().find(|ch| *ch == '\n');
            }
            ('/', Some('*')) if !quoted => {
                let mut last = ' ';
                let _ = chars.by_ref().skip(1).find(|ch| std::mem::replace(&mut last, *ch) == '*' && *ch == '/');
            }
            ('}' | ']', _) if !quoted => {
                let end = kept.trim_end().len();
                if kept.get(..end).is_some_and(|text| text.ends_with(',')) {
                    kept.truncate(end - 1);
                }
                kept.push(ch);
            }
            _ => kept.push(ch),
        }
    }
    kept
}
