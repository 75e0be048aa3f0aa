//! Renders texts of a call for a terminal: hidden characters are shown, control sequences have no effect, and the
//! guilty part is underlined.

use crate::terminal::visible::cell;
use reflex_engine::shell::Span;
use std::collections::BTreeSet;

/// A line of a text, or the marks below one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// Text.
    Text(String),
    /// `^` below the guilty part, `~` below other findings.
    Mark(String),
}

impl Line {
    /// Returns the text of the line.
    pub(crate) fn text(&self) -> &str {
        match self {
            Line::Text(text) | Line::Mark(text) => text,
        }
    }

    /// Shifts the line to the right.
    pub(crate) fn indented(self, columns: usize) -> Line {
        let moved = |text: String| format!("{}{text}", " ".repeat(columns));
        match self {
            Line::Text(text) => Line::Text(moved(text)),
            Line::Mark(text) => Line::Mark(moved(text)),
        }
    }
}

/// Maximum width of a line: wrapping by the terminal would separate the marks from their text.
const WIDTH: usize = 100;

/// Width of the context shown before the marks of a wide line.
const BEFORE: usize = 30;

/// Maximum number of lines of a text that is shown in full.
const MAX_LINES: usize = 12;

/// Returns the text with `guilty` underlined, and more faintly the `others`; shortens long lines and texts around them.
pub(crate) fn marked(text: &str, guilty: Option<Span>, others: &[Span]) -> Vec<Line> {
    let lines = placed_lines(text);
    let of_line = |line: &Placed<'_>| {
        let mut spans = guilty.iter().chain(others);
        spans.any(|span| (span.start as usize) < line.start + line.text.len() && line.start < span.end as usize)
    };
    let hits: Vec<usize> = (0..lines.len()).filter(|index| lines.get(*index).is_some_and(of_line)).collect();
    let mut shown = Vec::new();
    let mut next = 0usize;
    for index in wanted(lines.len(), &hits) {
        left_out(index - next, &mut shown);
        next = index + 1;
        if let Some(line) = lines.get(index) {
            line.show(guilty, others, &mut shown);
        }
    }
    left_out(lines.len() - next, &mut shown);
    shown
}

/// Returns the text in one line of at most `columns`.
pub(crate) fn short(text: &str, columns: usize) -> String {
    let mut shown = String::new();
    let mut column = 0usize;
    for character in text.chars() {
        let (cell, width) = cell(character, column);
        if column + width >= columns {
            shown.push('…');
            break;
        }
        shown.push_str(&cell);
        column += width;
    }
    shown
}

struct Placed<'t> {
    start: usize,
    text: &'t str,
}

fn placed_lines(text: &str) -> Vec<Placed<'_>> {
    let mut start = 0;
    let placed = text.split_inclusive('\n').map(|line| {
        let placed = Placed { start, text: line.trim_end_matches('\n') };
        start += line.len();
        placed
    });
    placed.collect()
}

/// Returns the indices of the lines to show: all of a short text, else its beginning and the lines near the marks.
fn wanted(count: usize, hits: &[usize]) -> BTreeSet<usize> {
    if count <= MAX_LINES {
        return (0..count).collect();
    }
    let last = hits.get(hits.len().saturating_sub(2)..).unwrap_or(&[]);
    let near = hits.iter().take(4).chain(last).flat_map(|hit| hit.saturating_sub(1)..hit + 2);
    let head = if hits.is_empty() { 6 } else { 2 };
    near.chain(0..head).filter(|index| *index < count).collect()
}

fn left_out(count: usize, shown: &mut Vec<Line>) {
    match count {
        0 => {}
        1 => shown.push(Line::Text("… 1 line".into())),
        many => shown.push(Line::Text(format!("… {many} lines"))),
    }
}

impl Placed<'_> {
    fn show(&self, guilty: Option<Span>, others: &[Span], shown: &mut Vec<Line>) {
        let within = |span: &Span, at: usize| (span.start as usize..span.end as usize).contains(&at);
        let (mut text, mut under) = (String::new(), String::new());
        let from = self.beginning(guilty.iter().chain(others));
        let mut column = 0usize;
        if from > 0 {
            (text, under, column) = ("…".into(), " ".into(), 1);
        }
        for (offset, character) in self.text.get(from..).unwrap_or("").char_indices() {
            let at = self.start + from + offset;
            let (cell, width) = cell(character, column);
            let mark = match () {
                () if guilty.is_some_and(|span| within(&span, at)) => "^",
                () if others.iter().any(|span| within(span, at)) => "~",
                () => " ",
            };
            let is_last = from + offset + character.len_utf8() == self.text.len();
            if column + width >= WIDTH && !(is_last && column + width == WIDTH) {
                text.push('…');
                under.push_str(mark);
                break;
            }
            text.push_str(&cell);
            under.push_str(&mark.repeat(width));
            column += width;
        }
        shown.push(Line::Text(text));
        let under = under.trim_end();
        if !under.is_empty() {
            shown.push(Line::Mark(under.into()));
        }
    }

    /// Returns the byte offset at which a line that is too wide begins to be shown: a little before the first mark.
    fn beginning<'s>(&self, spans: impl Iterator<Item = &'s Span>) -> usize {
        let fits = self.text.len() <= WIDTH || (self.text.len() <= 4 * WIDTH && columns(self.text) <= WIDTH);
        let in_line = |span: &&Span| (self.start..self.start + self.text.len()).contains(&(span.start as usize));
        let Some(span) = spans.filter(|_| !fits).find(in_line) else { return 0 };
        let mark = span.start as usize - self.start;
        let mut from = mark.saturating_sub(BEFORE);
        while !self.text.is_char_boundary(from) {
            from -= 1;
        }
        from
    }
}

fn columns(text: &str) -> usize {
    text.chars().fold(0, |column, character| column + cell(character, column).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, guilty: &str, expected: &[&str]) {
        let start = text.find(guilty).unwrap() as u32;
        let span = Span { start, end: start + guilty.len() as u32 };
        let lines = marked(text, Some(span), &[]);
        assert_eq!(lines.iter().map(Line::text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn marks_stand_below_what_they_mark() {
        check("ls; rm x", "rm x", &["ls; rm x", "    ^^^^"]);
        check("日本 rm x", "rm x", &["日本 rm x", "     ^^^^"]);
        check("e\u{301} rm e\u{301}", "rm e\u{301}", &["e\u{301} rm e\u{301}", "  ^^^^"]);
        check("a\trm x", "rm x", &["a   rm x", "    ^^^^"]);
        check("\u{1b}[2K\rrm x", "rm x", &["␛[2K␍rm x", "     ^^^^"]);
        check("a\u{202e}b; rm", "rm", &["a<U+202E>b; rm", "            ^^"]);
        check("a\nrm \\\n x\nb", "rm \\\n x", &["a", "rm \\", "^^^^", " x", "^^", "b"]);
    }

    #[test]
    fn what_is_long_is_shortened_around_the_mark() {
        let text = format!("{}rm x{}", "a ".repeat(500_000), " b".repeat(500_000));
        let lines = marked(&text, Some(Span { start: 1_000_000, end: 1_000_004 }), &[]);
        let [Line::Text(text), Line::Mark(under)] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(text.starts_with("…a a ") && text.ends_with('…') && columns(text) == WIDTH, "{text}");
        assert_eq!(text.find("rm x").map(|at| at - "…".len() + 1), under.find("^^^^"));
        let text = format!("{}rm x\n{}", "ls\n".repeat(1000), "ls\n".repeat(1000));
        check(&text, "rm x", &["ls", "ls", "… 997 lines", "ls", "rm x", "^^^^", "ls", "… 999 lines"]);
    }

    #[test]
    fn words_are_shortened_by_the_columns_they_take() {
        assert_eq!(short("日本語", 5), "日本…");
        assert_eq!(short("abc", 5), "abc");
    }
}
