//! A planned change of a settings file: its place, its diff, and a person's consent.

use crate::terminal::confirm;
use crate::terminal::output::print_in_full;
use crate::terminal::paint::Paint;
use crate::terminal::visible::visible;
use reflex_engine::Event;
use reflex_host::{Change, Host, Mode, contains_home};
use std::io::IsTerminal;
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Work {
    PutIn,
    TakeOut,
}

impl Work {
    pub(in crate::commands) fn verb(self) -> &'static str {
        match self {
            Work::PutIn => "would write",
            Work::TakeOut => "would remove",
        }
    }

    /// Returns the message for a file that needs no change.
    pub(in crate::commands) fn done(self) -> &'static str {
        match self {
            Work::PutIn => "is up to date",
            Work::TakeOut => "has no Reflex hook",
        }
    }
}

pub(in crate::commands) fn here() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|error| format!("cannot find the working directory: {error}"))
}

/// Returns the current directory if it is in a project. In the home's own files agents look for the user's settings.
pub(in crate::commands) fn project_here() -> Result<PathBuf, String> {
    let here = here()?;
    let root = PathBuf::from(Host::new(Mode::default()).placed(Event::default()).workspace);
    if contains_home(&root) {
        return Err(format!("{} is not a project; change to one", visible(&root.display().to_string())));
    }
    Ok(here)
}

/// Prints the diff, transformed by `shown`, with `around` lines of context.
pub(in crate::commands) fn show(file: &str, change: &Change, around: usize, shown: impl Fn(&str) -> String) {
    let paint = Paint::of_stdout();
    let (before, after) = (change.before.as_deref().unwrap_or(""), change.after.as_deref().unwrap_or(""));
    let diff = similar::TextDiff::from_lines(before, after);
    let text = diff.unified_diff().context_radius(around).header(file, file).to_string();
    for line in shown(&text).lines() {
        let line = visible(line);
        let painted = match line.as_bytes().first() {
            Some(b'+') => paint.added(&line),
            Some(b'-') => paint.removed(&line),
            _ => line,
        };
        print_in_full(&painted);
    }
}

/// Asks the person at the terminal; without a terminal, `--yes` is required.
pub(in crate::commands) fn confirmed() -> Result<bool, String> {
    if !std::io::stdin().is_terminal() {
        return Err("no terminal to ask on; use --yes to write or --dry-run to preview".into());
    }
    Ok(confirm::confirmed("Write this? [y/N] "))
}
