//! The inputs that are kept: one file for each target, one line for each input, bytes that are not printable escaped.

use std::path::{Path, PathBuf};

/// The file of a target.
pub fn file(target: &str) -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut files = folders.map(|folder| folder.join("fuzz/corpus").join(format!("{target}.txt")));
    files.find(|file| file.parent().is_some_and(Path::is_dir)).expect("there is a corpus")
}

/// The inputs of a target.
pub fn inputs(target: &str) -> Vec<Vec<u8>> {
    std::fs::read_to_string(file(target)).unwrap_or_default().lines().map(bytes).collect()
}

/// An input as a line.
pub fn line(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// A line as an input.
pub fn bytes(line: &str) -> Vec<u8> {
    let mut chars = line.bytes();
    let mut bytes = Vec::new();
    while let Some(ch) = chars.next() {
        bytes.push(if ch == b'\\' { escaped(&mut chars) } else { ch });
    }
    bytes
}

fn escaped(chars: &mut impl Iterator<Item = u8>) -> u8 {
    let kind = chars.next();
    let mut digit = || chars.next().and_then(|ch| char::from(ch).to_digit(16)).unwrap_or(0) as u8;
    match kind {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(b'x') => digit() << 4 | digit(),
        other => other.unwrap_or(b'\\'),
    }
}
