//! Values of a program: their shell form, and the results of their methods.

/// Placeholder for the home folder in a value.
pub(super) const HOME: char = '\u{1}';

/// Returns the value as one word of a shell.
pub(super) fn word(value: &str) -> String {
    let parts = value.split(HOME).map(|part| match part {
        "" => String::new(),
        part => reflex_shell::quoted(part),
    });
    parts.collect::<Vec<_>>().join("\"$HOME\"")
}

/// Returns the value as a text of a shell.
pub(super) fn script(value: &str) -> String {
    value.replace(HOME, "$HOME")
}

/// Methods that do not change the path or text of a value.
const SAME: [&str; 19] = [
    "unwrap",
    "expect",
    "unwrap_or_default",
    "unwrap_or_else",
    "clone",
    "to_string",
    "as_str",
    "toString",
    "c_str",
    "string",
    "to_owned",
    "into",
    "as_ref",
    "display",
    "to_string_lossy",
    "into_owned",
    "toPath",
    "toFile",
    "getAbsolutePath",
];

/// Returns the result of a method of a known value.
pub(super) fn method(value: String, name: &str, arguments: &[Option<String>]) -> Option<String> {
    if SAME.contains(&name) {
        return Some(value);
    }
    let joins = ["join", "resolve", "append", "appendingPathComponent"].contains(&name);
    let part = arguments.first().cloned().flatten();
    part.filter(|_| joins).map(|part| format!("{value}/{part}"))
}

/// Returns the result of `format!("{}/x", h)` or `Sprintf("%s/x", h)`.
pub(super) fn formatted(arguments: &[Option<String>]) -> Option<String> {
    let (pattern, values) = arguments.split_first()?;
    let mut text = pattern.clone()?;
    for value in values {
        let hole = ["{}", "%s", "%v"].into_iter().filter_map(|hole| Some((text.find(hole)?, hole))).min();
        let (at, hole) = hole?;
        text.replace_range(at..at + hole.len(), value.as_deref()?);
    }
    Some(text)
}
