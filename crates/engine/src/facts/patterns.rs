//! Paths and shell patterns beside the patterns of the library's classes.

use crate::model::path::{self, is_below, is_within};
use crate::text::glob;

/// Whether a path can match both a shell pattern and one of the library. A library pattern without an anchor counts
/// only if the shell pattern names hidden files: `*.json` is not meant to match a `credentials.json`.
pub(super) fn meets(written: &str, library: &str, home: &str) -> bool {
    let searched = written.contains("/**/") || written.ends_with("/**");
    let anchored = match library.strip_prefix("~/") {
        Some(rest) => Some(format!("{home}/{rest}")),
        None => library.starts_with('/').then(|| library.to_owned()),
    };
    if let Some(library) = anchored {
        let (from, of_class) = (fixed_part(written), fixed_part(&library));
        if !is_within(from, of_class) {
            // A recursive search is meant for the names in its pattern, not for everything that it could find.
            let named = library.strip_suffix("/**").filter(|_| searched).unwrap_or(&library);
            return is_within(of_class, from) && (!searched || names(written)) && glob::may_meet(written, named);
        }
        return glob::may_meet(written, &library);
    }
    let parts: Vec<&str> = written.split('/').collect();
    let starred = parts.iter().position(|part| part.contains(['*', '?', '['])).unwrap_or(0);
    let named = match library.split_once('/') {
        Some((first, _)) => starred.checked_sub(1).and_then(|at| parts.get(at)).is_some_and(|part| *part == first),
        None => names(written) && path::name_of(written).starts_with('.'),
    };
    named && glob::may_meet(written, &format!("/**/{library}"))
}

/// Whether a folder that is taken recursively contains a folder of a library pattern. The home folder itself is
/// excluded, because every home contains some of them.
pub(super) fn holds(tree: &str, library: &str, home: &str) -> bool {
    let Some(rest) = library.strip_prefix("~/") else {
        return library.split_once('/').is_some_and(|(first, _)| first == path::name_of(tree) && !first.is_empty());
    };
    let below = tree.strip_prefix(home).and_then(|below| below.strip_prefix('/'));
    below.is_some_and(|folder| !folder.is_empty() && is_below(rest, folder))
}

/// Whether the last component of a pattern begins with a name, or at least with the dot of a hidden file.
pub(super) fn names(written: &str) -> bool {
    let last = path::name_of(written);
    last.starts_with('.') || last.find(['*', '?', '[']).unwrap_or(last.len()) > 1
}

/// Returns the path up to the last component before the first pattern.
pub(super) fn fixed_part(path: &str) -> &str {
    let Some(at) = path.bytes().position(|byte| matches!(byte, b'*' | b'?' | b'[')) else { return path };
    let before = path.get(..at).unwrap_or("");
    match before.rfind('/') {
        Some(0) | None => "/",
        Some(slash) => before.get(..slash).unwrap_or("/"),
    }
}
