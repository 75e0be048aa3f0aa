//! Wraps lines of a terminal at blanks. Pipes get unwrapped lines.

use std::io::IsTerminal;
use unicode_width::UnicodeWidthChar;

/// Returns the width of standard output in columns, if it is a terminal.
pub(crate) fn columns() -> Option<usize> {
    const FEWEST: u16 = 40;
    let (columns, _) = std::io::stdout().is_terminal().then(crossterm::terminal::size)?.ok()?;
    // A terminal that does not know its size reports 0.
    (columns > 0).then(|| usize::from(columns.max(FEWEST)))
}

/// Wraps a line to `columns`. Further rows begin below the text after its label. Longer words are not broken.
pub(crate) fn rows(line: &str, columns: usize) -> Vec<String> {
    if width(line) <= columns {
        return vec![line.to_owned()];
    }
    let indent = indent(line, columns);
    let (mut rows, mut row, mut taken) = (Vec::new(), String::new(), 0);
    for (at, word) in line.split(' ').enumerate() {
        let wide = width(word);
        if at > 0 && taken > indent && taken + 1 + wide > columns {
            rows.push(row.trim_end().to_owned());
            row = " ".repeat(indent);
            taken = indent;
        } else if at > 0 && (rows.is_empty() || taken > indent) {
            row.push(' ');
            taken += 1;
        }
        row.push_str(word);
        taken += wide;
    }
    rows.push(row);
    rows
}

/// Returns the indent of further rows: the end of a label followed by two blanks, else the line's own margin.
fn indent(line: &str, columns: usize) -> usize {
    let margin = line.len() - line.trim_start_matches(' ').len();
    let rest = line.get(margin..).unwrap_or("");
    let label = rest.find("  ").map_or(0, |end| {
        let after = rest.get(end..).unwrap_or("");
        width(rest.get(..end).unwrap_or("")) + after.len() - after.trim_start_matches(' ').len()
    });
    let after_label = margin + label;
    if label > 0 && after_label <= columns / 2 { after_label } else { margin.min(columns / 3) }
}

/// Returns the width of a text in columns. Escape sequences for colors have no width.
pub(crate) fn width(text: &str) -> usize {
    let (mut columns, mut is_escape) = (0, false);
    for character in text.chars() {
        match character {
            '\u{1b}' => is_escape = true,
            'm' if is_escape => is_escape = false,
            _ if is_escape => {}
            plain => columns += plain.width().unwrap_or(0),
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_breaks_at_blanks_and_goes_on_below_its_text() {
        assert_eq!(rows("short line", 40), ["short line"]);
        assert_eq!(rows("found    one two three four", 20), ["found    one two", "         three four"]);
        assert_eq!(rows("  one two three four five", 14), ["  one two", "  three four", "  five"]);
        assert_eq!(rows("a /very/long/path/without/blank b", 12), ["a", "/very/long/path/without/blank", "b"]);
    }

    #[test]
    fn colours_take_no_columns() {
        assert_eq!(width("\u{1b}[1;31mblock\u{1b}[0m"), 5);
        assert_eq!(width("日本"), 4);
    }
}
