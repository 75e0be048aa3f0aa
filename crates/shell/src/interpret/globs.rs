//! Patterns in the place of a program: which known programs they may mean.

use crate::cli_grammar::program::Programs;
use crate::model::value::Value;
use crate::text_tools::patterns::Pattern;

/// A pattern that may mean more programs is not known.
const MAX_PROGRAMS: usize = 16;

/// Where programs lie on most systems.
const FOLDERS: [&str; 8] =
    ["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin", ""];

/// The names that a pattern may mean; none if there are many or none, or if more than the pattern is unknown.
pub(super) fn programs(word: &Value, programs: Programs) -> Vec<String> {
    let (folder, name) = parted(word);
    if name.pieces.iter().all(|(piece, _)| piece.as_text().is_some()) {
        // `/???/rm`: whichever folder it is, the name stands there.
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
    // Names of Windows have no case and lie in no such folder.
    let unix = programs.entries().filter(|(_, program)| !program.style().is_windows());
    let names = unix.map(|(name, _)| name).filter(|name| pattern.matches(name) == Some(true));
    let names: Vec<String> = names.take(MAX_PROGRAMS + 1).map(str::to_owned).collect();
    if names.len() > MAX_PROGRAMS || pattern.is_exhausted() { Vec::new() } else { names }
}

/// What stands before the last slash and what behind it.
fn parted(word: &Value) -> (Value, Value) {
    let (mut folder, mut name) = (Value::default(), Value::default());
    for (piece, origin) in &word.pieces {
        let slash = piece.as_text().and_then(|text| text.rsplit_once('/'));
        let Some((before, behind)) = slash else {
            name.pieces.push((piece.clone(), *origin));
            continue;
        };
        if !folder.pieces.is_empty() {
            folder.push_text("/", *origin);
        }
        folder.push(std::mem::take(&mut name));
        folder.push_text(before, *origin);
        if !behind.is_empty() {
            name.push_text(behind, *origin);
        }
    }
    (folder, name)
}
