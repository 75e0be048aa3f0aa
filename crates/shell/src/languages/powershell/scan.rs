//! Finds the ends of brackets and strings in PowerShell without reading their content.

/// Maps typographic quotes, dashes and blanks to the plain characters, which PowerShell treats alike.
pub(super) fn plain(ch: char) -> char {
    match ch {
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201e}' => '"',
        '\u{2013}'..='\u{2015}' => '-',
        '\u{a0}' | '\u{85}' => ' ',
        ch => ch,
    }
}

/// Returns the offset of the bracket that closes the one at `open`; `None` if it is not closed.
///
/// Takes one pass with an explicit stack: a string in double quotes may contain `$( … )`, which may contain strings.
pub(super) fn closing(text: &str, open: usize) -> Option<usize> {
    let mut stack: Vec<char> = Vec::new();
    let mut at = open;
    let mut begins_token = true;
    while let Some(ch) = next(text, at) {
        let step = ch.len_utf8();
        if stack.last() == Some(&'"') {
            at = in_string(text, at, &mut stack);
            continue;
        }
        let token = begins_token;
        begins_token = ch.is_whitespace() || "({[;|&,=".contains(ch);
        at = match plain(ch) {
            '`' => past(text, at + step),
            '\'' => past_quote(text, at + step, '\''),
            '@' if begins_here_string(text, at) => past_here_string(text, at),
            '#' if token => past_line(text, at),
            '<' if text.get(at..).is_some_and(|rest| rest.starts_with("<#")) => past_comment(text, at),
            '"' => {
                stack.push('"');
                at + step
            }
            bracket @ ('(' | '{' | '[') => {
                stack.push(bracket);
                at + step
            }
            bracket @ (')' | '}' | ']') => {
                if stack.last().copied() == Some(partner(bracket)) {
                    stack.pop();
                }
                if stack.is_empty() {
                    return Some(at);
                }
                at + step
            }
            _ => at + step,
        };
    }
    None
}

/// Returns the text between the braces of a script block.
pub(super) fn inside_braces(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('{')?.strip_suffix('}')?;
    (closing(text, 0) == Some(text.len() - 1)).then_some(inside)
}

fn partner(bracket: char) -> char {
    match bracket {
        ')' => '(',
        '}' => '{',
        _ => '[',
    }
}

/// Takes one step inside double quotes.
fn in_string(text: &str, at: usize, stack: &mut Vec<char>) -> usize {
    let Some(ch) = next(text, at) else { return text.len() };
    let after = at + ch.len_utf8();
    match plain(ch) {
        '`' => past(text, after),
        '"' if next(text, after).map(plain) == Some('"') => past(text, after),
        '"' => {
            stack.pop();
            after
        }
        '$' if next(text, after) == Some('(') => {
            stack.push('(');
            after + 1
        }
        _ => after,
    }
}

/// Returns the offset after the character at `at`.
fn past(text: &str, at: usize) -> usize {
    at + next(text, at).map_or(0, char::len_utf8)
}

/// Returns the offset after the quote that closes a string; a doubled quote is literal.
pub(super) fn past_quote(text: &str, mut at: usize, quote: char) -> usize {
    while let Some(ch) = next(text, at) {
        at += ch.len_utf8();
        if plain(ch) != quote {
            continue;
        }
        match next(text, at) {
            Some(again) if plain(again) == quote => at += again.len_utf8(),
            _ => return at,
        }
    }
    at
}

/// Whether `@'` or `@"` is followed only by blanks on its line.
pub(super) fn begins_here_string(text: &str, at: usize) -> bool {
    let Some(quote) = next(text, at + 1) else { return false };
    let rest = text.get(at + 1 + quote.len_utf8()..).unwrap_or("");
    let line = rest.split('\n').next().unwrap_or("");
    matches!(plain(quote), '\'' | '"') && line.trim().is_empty() && line.len() < rest.len()
}

/// Finds the body of the here-string at `at`: returns its start, its end, and the offset after the here-string.
pub(super) fn here_string(text: &str, at: usize) -> (usize, usize, usize) {
    let quote = next(text, at + 1).map_or('"', plain);
    let begin = text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |line| at + line + 1);
    let mut line = begin;
    while line < text.len() {
        let rest = text.get(line..).unwrap_or("");
        let mut chars = rest.trim_start_matches([' ', '\t']).chars();
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        if chars.next().map(plain) == Some(quote) && chars.next() == Some('@') {
            let mark = line + rest.find('@').map_or(0, |end| end + 1);
            let before = text.get(..line).unwrap_or("");
            let before = before.strip_suffix('\n').unwrap_or(before);
            let end = before.strip_suffix('\r').unwrap_or(before).len();
            return (begin, end.max(begin), mark);
        }
        line += length;
    }
    (begin, text.len(), text.len())
}

fn past_here_string(text: &str, at: usize) -> usize {
    here_string(text, at).2
}

/// Returns the offset of the end of the line.
pub(super) fn past_line(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| at + end)
}

/// Returns the offset after `#>`.
pub(super) fn past_comment(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find("#>")).map_or(text.len(), |end| at + end + 2)
}

fn next(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}
