//! The tokens of a program: names, strings and symbols.

/// A token of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A qualified name, such as `std.env.var`, with dots whatever separator the language uses.
    Name(String),
    Text(String),
    Sign(char),
}

/// Returns the tokens of a program without its comments, at most `most` of them.
pub(super) fn tokens(text: &str, max: usize) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut begins_line = true;
    while let Some(ch) = rest.chars().next().filter(|_| found.len() < max) {
        let line = std::mem::take(&mut begins_line);
        let (token, after) = match ch {
            '\n' => {
                begins_line = true;
                (None, after(rest, 1))
            }
            ' ' | '\t' | '\r' => {
                begins_line = line;
                (None, after(rest, 1))
            }
            // Preprocessor lines and attributes.
            '#' if line => (None, rest.find('\n').map_or("", |end| after(rest, end))),
            '/' if rest.starts_with("//") => (None, rest.find('\n').map_or("", |end| after(rest, end))),
            '/' if rest.starts_with("/*") => (None, rest.split_once("*/").map_or("", |(_, after)| after)),
            '"' => quoted(after(rest, 1)),
            '`' => raw(after(rest, 1), "`"),
            '\'' => (None, char_in_quotes(rest)),
            'r' if rest.starts_with("r\"") => raw(after(rest, 2), "\""),
            'r' if rest.starts_with("r#\"") => raw(after(rest, 3), "\"#"),
            ch if is_part(ch) => name(rest),
            ch => (Some(Token::Sign(ch)), after(rest, ch.len_utf8())),
        };
        found.extend(token);
        rest = after;
    }
    found
}

fn after(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or("")
}

fn is_part(ch: char) -> bool {
    ch.is_ascii_alphanumeric() || ch == '_'
}

fn name(text: &str) -> (Option<Token>, &str) {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let end = rest.find(|ch: char| !is_part(ch)).unwrap_or(rest.len());
        name.push_str(rest.get(..end).unwrap_or(""));
        rest = after(rest, end);
        let after = [".", "::", "->"].iter().find_map(|mark| rest.strip_prefix(mark));
        match after.filter(|after| after.starts_with(is_part)) {
            Some(after) => {
                name.push('.');
                rest = after;
            }
            None => return (Some(Token::Name(name)), rest),
        }
    }
}

fn quoted(text: &str) -> (Option<Token>, &str) {
    let mut found = String::new();
    let mut chars = text.char_indices();
    while let Some((at, ch)) = chars.next() {
        match ch {
            '"' => return (Some(Token::Text(found)), after(text, at + 1)),
            '\\' => match chars.next() {
                Some((_, 'n')) => found.push('\n'),
                Some((_, 't')) => found.push('\t'),
                Some((_, other)) => found.push(other),
                None => {}
            },
            other => found.push(other),
        }
    }
    (None, "")
}

fn raw<'t>(text: &'t str, close: &str) -> (Option<Token>, &'t str) {
    text.split_once(close).map_or((None, ""), |(inside, after)| (Some(Token::Text(inside.to_owned())), after))
}

/// Skips `'x'` and `'\n'`. A quote that is not closed is a lifetime of Rust.
fn char_in_quotes(text: &str) -> &str {
    let mut chars = text.char_indices().skip(1);
    if let Some((_, '\\')) = chars.next() {
        chars.next();
    }
    match chars.next() {
        Some((at, '\'')) => after(text, at + 1),
        _ => after(text, 1),
    }
}
