//! Patterns as command names: the known programs that they may match.

use crate::cli_grammar::program::Programs;
use crate::model::value::Value;
use crate::text_tools::patterns::Pattern;

/// Maximum number of programs that a pattern may match; with more, the program is unknown.
const MAX_PROGRAMS: usize = 16;

/// The folders that contain programs on most systems.
const FOLDERS: [&str; 8] =
    ["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin", ""];

/// Returns the programs that a pattern may match; empty if none or too many match, or if the word is partly unknown.
pub(super) fn programs(word: &Value, programs: Programs) -> Vec<String> {
    let (folder, name) = parted(word);
    if name.pieces.iter().all(|(piece, _)| piece.as_text().is_some()) {
        // `/???/rm`: the name is the same in any folder.
        return name.literal().filter(|name| !name.is_empty()).map(|name| name.into_owned()).into_iter().collect();
    }
    let Some(pattern) = Pattern::from_value(&name) else { return Vec::new() };
    let in_folders = match Pattern::of_path(&folder) {
        Some(folder) => FOLDERS.iter().any(|known| folder.matches(known).unwrap_or(true)),
        None => true,
    };
    if !in_folders {
        return Vec::new();
    }
    // Windows names are case-insensitive, and their programs are not in these folders.
    let unix = programs.entries().filter(|(_, program)| !program.style().is_windows());
    let names = unix.map(|(name, _)| name).filter(|name| pattern.matches(name) == Some(true));
    let names: Vec<String> = names.take(MAX_PROGRAMS + 1).map(str::to_owned).collect();
    if names.len() > MAX_PROGRAMS || pattern.is_exhausted() { Vec::new() } else { names }
}

/// Splits a word at its last slash, into folder and name.
fn parted(word: &Value) -> (Value, Value) {
    let (mut folder, mut name) = (Value::default(), Value::default());
    for (piece, origin) in &word.pieces {
        let slash = piece.as_text().and_then(|text| text.rsplit_once('/'));
        let Some((before, after)) = slash else {
            name.pieces.push((piece.clone(), *origin));
            continue;
        };
        if !folder.pieces.is_empty() {
            folder.push_text("/", *origin);
        }
        folder.push(std::mem::take(&mut name));
        folder.push_text(before, *origin);
        if !after.is_empty() {
            name.push_text(after, *origin);
        }
    }
    (folder, name)
}
