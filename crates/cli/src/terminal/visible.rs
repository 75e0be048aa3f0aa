//! Makes foreign text safe for a terminal: hidden characters are shown, and control sequences have no effect.

use reflex_host::is_hidden;
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar;

/// Returns the full text on one line.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            ' '..='~' => shown.push(character),
            other => shown.push_str(&cell(other, 0).0),
        }
    }
    shown
}

/// Replaces invisible characters of a JSON document by JSON escapes, which keep its meaning and are safe on a terminal.
pub(crate) fn visible_json(document: &str) -> String {
    let mut shown = String::with_capacity(document.len());
    for character in document.chars() {
        match character {
            ' '..='~' | '\n' | '\t' => shown.push(character),
            hidden if hidden == '\u{7f}' || hidden < ' ' || is_hidden(hidden) => {
                let mut units = [0; 2];
                hidden.encode_utf16(&mut units).iter().for_each(|unit| shown.push_str(&format!("\\u{unit:04x}")));
            }
            plain => shown.push(plain),
        }
    }
    shown
}

/// Returns a character as shown, and its width in columns.
pub(crate) fn cell(character: char, column: usize) -> (Cow<'static, str>, usize) {
    const TAB: usize = 4;
    match character {
        '\t' => {
            let width = TAB - column % TAB;
            (" ".repeat(width).into(), width)
        }
        '\0'..='\u{1f}' => (pictured(character as u32), 1),
        '\u{7f}' => ("␡".into(), 1),
        hidden if is_hidden(hidden) => {
            let name = format!("<U+{:04X}>", hidden as u32);
            let width = name.len();
            (name.into(), width)
        }
        plain => (plain.to_string().into(), plain.width().unwrap_or(1)),
    }
}

/// Returns the picture that Unicode has for each ASCII control character.
fn pictured(code: u32) -> Cow<'static, str> {
    char::from_u32(0x2400 + code).unwrap_or('␀').to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_means_the_same_without_what_is_hidden() {
        let document = serde_json::json!({"a": "x\u{202e}y\u{9b}\u{7f}\u{e0041}\n"}).to_string();
        let shown = visible_json(&document);
        assert_eq!(shown, r#"{"a":"x\u202ey\u009b\u007f\udb40\udc41\n"}"#);
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&shown), read(&document));
    }

    #[test]
    fn a_line_of_words_holds_no_command_to_the_terminal() {
        assert_eq!(visible("a\n\u{1b}]0;x\u{7}\u{9b}1m"), "a␊␛]0;x␇<U+009B>1m");
        assert_eq!(visible("a\u{fe0f}b\u{fffa}\u{1d173}"), "a<U+FE0F>b<U+FFFA><U+1D173>");
    }
}
