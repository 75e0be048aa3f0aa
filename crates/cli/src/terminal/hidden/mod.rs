//! Reads a line without echo; each operating system has a file.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix::{CANCEL, NAMED_BY_TERM, Quiet};
#[cfg(windows)]
use windows::{CANCEL, NAMED_BY_TERM, Quiet};

use std::io::{BufRead, BufReader, Write};

/// Whether the terminal supports drawing, judging by its name.
pub(crate) fn can_be_drawn_on() -> bool {
    std::env::var_os("TERM").map_or(!NAMED_BY_TERM, |name| !name.is_empty() && name != "dumb")
}

/// Reads a line without echo; `None` without a terminal, or after Ctrl-C.
pub(crate) fn hidden(prompt: &str) -> Option<String> {
    let terminal = reflex_host::terminal().ok()?;
    let quiet = Quiet::begin(&terminal)?;
    let _ = (&terminal).write_all(prompt.as_bytes());
    let mut line = String::new();
    let read = BufReader::new(&terminal).read_line(&mut line);
    drop(quiet);
    let _ = (&terminal).write_all(b"\n");
    let line = line.trim_end_matches(['\n', '\r']);
    read.ok().filter(|_| !line.contains(CANCEL)).map(|_| line.to_owned())
}
