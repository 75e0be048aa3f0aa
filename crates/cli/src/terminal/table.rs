//! Prints rows in columns. On a terminal the last column wraps below itself.

use super::output::print_in_full;
use super::wrap::{columns, rows, width};

/// Minimum width of the last column of a table.
const MIN_LAST: usize = 24;

/// Prints rows in aligned columns, separated by two blanks. `margin` is the number of blanks before each row.
pub(crate) fn print_table(margin: usize, table: &[Vec<String>]) {
    lines(margin, table, columns()).iter().for_each(|line| print_in_full(line));
}

fn lines(margin: usize, table: &[Vec<String>], columns: Option<usize>) -> Vec<String> {
    let count = table.iter().map(Vec::len).max().unwrap_or(0);
    // The last cell of a short row spans the columns that the row leaves out.
    let padded = |row: &Vec<String>, at: usize| (at + 1 < row.len()).then(|| row.get(at).map_or(0, |cell| width(cell)));
    let widest = |at: usize| table.iter().filter_map(|row| padded(row, at)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count.saturating_sub(1)).map(widest).collect();
    let mut lines = Vec::new();
    for row in table {
        let Some((last, cells)) = row.split_last() else { continue };
        let mut line = " ".repeat(margin);
        for (cell, wide) in cells.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(wide + 2 - width(cell)));
        }
        let begin = width(&line);
        let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(begin).max(MIN_LAST));
        for (at, part) in rows(last, room).iter().enumerate() {
            let before = if at == 0 { line.clone() } else { " ".repeat(begin) };
            lines.push(format!("{before}{part}").trim_end().to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_the_last_wraps() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<String>>();
        let table = [row(&["a", "bbb", "one two three four five six seven"]), row(&["aaaa", "across"])];
        assert_eq!(lines(2, &table, None), ["  a     bbb  one two three four five six seven", "  aaaa  across"]);
        let narrow = lines(2, &table, Some(40));
        assert_eq!(narrow, ["  a     bbb  one two three four five six", "             seven", "  aaaa  across"]);
    }
}
