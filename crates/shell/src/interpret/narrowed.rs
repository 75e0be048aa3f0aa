//! Paths narrowed to those that match a search: `find . | grep '\.pyc$'`. A filter removes possible paths and never
//! adds any.

use crate::model::value::{Piece, Value};

/// Maximum number of alternatives in a pattern; more leave the paths unchanged.
const MAX_NAMES: usize = 8;

/// Whether a value represents paths that a program found.
pub(super) fn is_paths(value: &Value) -> bool {
    value.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Glob(_)))
}

/// Returns the paths that match this search, if all are below one folder and the pattern is about names.
pub(super) fn by_search(paths: Value, arguments: &[Value]) -> Value {
    let names = pattern(arguments).and_then(|pattern| names(&pattern));
    let ([.., (Piece::Glob(glob), _)], Some(names)) = (paths.pieces.as_slice(), names) else { return paths };
    let is_one = !paths.pieces.iter().any(|(piece, _)| piece.as_text().is_some_and(|text| text.contains('\n')));
    if glob != "**" || !is_one {
        return paths;
    }
    let mut narrowed = Value::default();
    for name in names {
        if !narrowed.pieces.is_empty() {
            narrowed.push_text("\n", paths.origin());
        }
        narrowed.push(paths.clone());
        narrowed.push_text("/", paths.origin());
        narrowed.push_piece(Piece::Glob(name), paths.origin());
    }
    narrowed
}

/// Returns the pattern of a search, unless an option makes it print other lines than the matching ones.
fn pattern(arguments: &[Value]) -> Option<String> {
    let mut found = None;
    for word in arguments {
        let word = word.literal()?;
        match word.strip_prefix('-') {
            Some(chars) if chars.bytes().all(|byte| b"EiaePnH".contains(&byte)) => {}
            Some(_) => return None,
            None => found = found.or(Some(word.into_owned())),
        }
    }
    found
}

/// Converts a regular expression to file name patterns: every path that matches it contains a name that matches one of
/// them. `None` if this cannot be guaranteed.
fn names(pattern: &str) -> Option<Vec<String>> {
    let inner = pattern.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(pattern);
    let alternatives: Vec<&str> = inner.split('|').map(|one| one.trim_end_matches('\\')).collect();
    if alternatives.len() > MAX_NAMES {
        return None;
    }
    alternatives.into_iter().map(name).collect()
}

/// `/node_modules/` is a complete name, `\.pyc$` the end of one, `cache` a part.
fn name(pattern: &str) -> Option<String> {
    let pattern = pattern.strip_prefix('^').map_or(pattern, |rest| rest.trim_start_matches("./"));
    let (starts, pattern) = pattern.strip_prefix('/').map_or((false, pattern), |rest| (true, rest));
    let (ends, pattern) = match pattern.strip_suffix('$').or(pattern.strip_suffix('/')) {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let mut glob = String::new();
    let mut chars = pattern.chars();
    while let Some(ch) = chars.next() {
        match ch {
            '\\' => match chars.next()? {
                escaped if escaped.is_ascii_punctuation() && !"*?[/".contains(escaped) => glob.push(escaped),
                _ => return None,
            },
            '.' => glob.push('?'),
            ch if ch.is_alphanumeric() || "_-~ ".contains(ch) => glob.push(ch),
            _ => return None,
        }
    }
    if !glob.contains(|ch: char| ch.is_alphanumeric()) {
        return None;
    }
    Some(format!("{}{glob}{}", if starts { "" } else { "*" }, if ends { "" } else { "*" }))
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn patterns_of_paths_become_patterns_of_names() {
        let read = |pattern: &str| names(pattern).map(|names| names.join(" "));
        assert_eq!(read("__pycache__").as_deref(), Some("*__pycache__*"));
        assert_eq!(read(r"(__pycache__|\.pyc$)").as_deref(), Some("*__pycache__* *.pyc"));
        assert_eq!(read("/node_modules/").as_deref(), Some("node_modules"));
        for pattern in ["", ".", ".*", "^./", "[ab]", "a*", "(a|b)c", "a/b"] {
            assert_eq!(read(pattern), None, "{pattern}");
        }
    }
}
