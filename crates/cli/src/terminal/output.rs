//! What is printed, and whether something that was to be printed was lost.

use super::visible::visible_json;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Prints to standard output; a reader that went away is no error of ours.
pub(crate) fn print(line: &str) {
    note(writeln!(std::io::stdout(), "{line}"));
}

/// Prints a document of which no part is a command to the terminal.
pub(crate) fn print_json(document: &str) {
    print(&visible_json(document));
}

/// Set once something that was to be printed could not be.
static LOST: AtomicBool = AtomicBool::new(false);

/// Remembers whether a write to standard output failed, and not only because nobody reads it.
pub(crate) fn note(printed: std::io::Result<()>) {
    if printed.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe) {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Prints a problem to standard error.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "reflex: {line}");
}

/// Whether something that was to be printed was lost.
pub(crate) fn was_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}
