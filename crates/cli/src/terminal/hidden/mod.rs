//! A line that the terminal does not show: a file for each operating system says how it is kept quiet.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix::{CANCEL, Quiet};
#[cfg(windows)]
use windows::{CANCEL, Quiet};

use std::io::{BufRead, BufReader, Write};

/// A line that the terminal does not show; `None` where there is no terminal, or after Ctrl-C.
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
