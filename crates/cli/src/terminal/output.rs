//! Prints output, and records whether any of it was lost.

use super::visible::visible_json;
use super::wrap::{columns, rows};
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Prints lines of words to standard output, broken at blanks on a terminal.
pub(crate) fn print(text: &str) {
    match columns() {
        Some(columns) => text.split('\n').flat_map(|line| rows(line, columns)).for_each(|row| print_in_full(&row)),
        None => print_in_full(text),
    }
}

/// Prints a line that may be copied: a diff, a command, data. A closed pipe is not an error.
pub(crate) fn print_in_full(line: &str) {
    note(writeln!(std::io::stdout(), "{line}"));
}

/// Prints a JSON document, with terminal control sequences escaped.
pub(crate) fn print_json(document: &str) {
    print_in_full(&visible_json(document));
}

/// Set once some output could not be printed.
static LOST: AtomicBool = AtomicBool::new(false);

/// Records a failed write to standard output, except if the reader closed the pipe.
pub(crate) fn note(printed: std::io::Result<()>) {
    if printed.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe) {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Prints a problem to standard error.
pub(crate) fn complain(line: &str) {
    let line = format!("reflex: {line}");
    let columns = std::io::stderr().is_terminal().then(columns).flatten().filter(|_| !line.contains('\n'));
    let rows = columns.map_or_else(|| vec![line.clone()], |columns| rows(&line, columns));
    rows.iter().for_each(|row| drop(writeln!(std::io::stderr(), "{row}")));
}

/// Whether some output could not be printed.
pub(crate) fn was_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}
