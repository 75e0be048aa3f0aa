//! Slash-separated paths below the work tree, and the scope that limits a question to some of them.

use crate::system::bytes;
use std::collections::BTreeSet;
use std::path::Path;

/// The paths to which a question is limited; empty for the entire work tree.
pub(crate) struct Scope(pub(crate) Vec<Vec<u8>>);

impl Scope {
    pub(crate) fn includes(&self, path: &[u8]) -> bool {
        self.0.is_empty() || self.0.iter().any(|chosen| is_at_or_below(path, chosen))
    }

    /// Whether a folder is in the scope or above a path in it.
    pub(crate) fn reaches(&self, directory: &[u8]) -> bool {
        self.includes(directory) || self.0.iter().any(|chosen| is_at_or_below(chosen, directory))
    }

    /// The entries of a folder that lead to paths in the scope.
    pub(crate) fn next_below(&self, directory: &[u8]) -> BTreeSet<&[u8]> {
        let shared = if directory.is_empty() { 0 } else { directory.len() + 1 };
        let below = self.0.iter().filter(|chosen| chosen.len() > shared && is_at_or_below(chosen, directory));
        let next = |chosen: &[u8]| chosen.iter().skip(shared).position(|byte| *byte == b'/');
        below.filter_map(|chosen| chosen.get(..next(chosen).map_or(chosen.len(), |at| shared + at))).collect()
    }
}

pub(crate) fn is_at_or_below(path: &[u8], top: &[u8]) -> bool {
    top.is_empty() || path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// The part of an absolute path below the root, if it is in normal form. A fast path: a question may have thousands of
/// paths.
pub(crate) fn plain_below<'a>(path: &'a [u8], root: &[u8]) -> Option<&'a [u8]> {
    let below = path.strip_prefix(root)?.strip_prefix(b"/")?;
    below.split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b"..")).then_some(below)
}

pub(crate) fn slashed(path: &Path) -> Vec<u8> {
    let parts: Vec<_> = path.iter().map(bytes).filter(|part| **part != *b".").collect();
    parts.join(&b'/')
}

pub(crate) fn joined(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let parts: &[&[u8]] = if directory.is_empty() { &[name] } else { &[directory, name] };
    parts.join(&b'/')
}

/// The folders from the top down to `directory`. The top is the empty path.
pub(crate) fn levels(directory: &[u8]) -> Vec<&[u8]> {
    let inner = directory.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let ends = inner.map(|(end, _)| end).chain((!directory.is_empty()).then_some(directory.len()));
    std::iter::once(0).chain(ends).filter_map(|end| directory.get(..end)).collect()
}
