//! `cargo xtask shape`: counts what STYLE.md forbids and no lint finds, and holds the counts against `shape.txt`.
//!
//! A count of a file may only shrink, and a file without an entry has none. `UPDATE=1` writes smaller counts; what moves
//! from one file to another is accepted if no sum grows.

mod baseline;
mod circles;
mod count;
mod source;

use baseline::Counts;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    match run(&root) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(root: &Path) -> Result<String, Problem> {
    let found = count::all(root)?;
    let file = root.join("dev/shape/shape.txt");
    let known = Counts::read(&file)?;
    if std::env::var_os("UPDATE").is_some() {
        known.allow(&found)?;
        found.write(&file)?;
    } else {
        known.hold(&found)?;
    }
    Ok(found.table())
}

/// A count that grew, or a file that cannot be read.
#[derive(Debug)]
pub(crate) enum Problem {
    /// A file cannot be read or written, or is not Rust.
    File { path: PathBuf, why: String },
    /// Lines about counts that differ from `shape.txt`.
    Counts(Vec<String>),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Problem::File { path, why } => write!(to, "{}: {why}", path.display()),
            Problem::Counts(lines) => to.write_str(&lines.join("\n")),
        }
    }
}
