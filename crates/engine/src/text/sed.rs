//! Substitutions in the syntax of `sed` and `tar --transform`: `s/REGEX/REPLACEMENT/FLAGS`.

use regex_lite::{Regex, RegexBuilder};

/// Applies each substitution of a list separated by `;` to the names. Invalid ones are skipped.
pub(crate) fn substituted(mut names: Vec<String>, text: &str) -> Vec<String> {
    let mut rest = text;
    while let Some((substitution, after)) = Substitution::read(rest) {
        names.iter_mut().for_each(|name| *name = substitution.apply(name));
        rest = after.trim_start_matches([';', ' ']);
    }
    names
}

struct Substitution {
    regex: Regex,
    replacement: String,
    all: bool,
}

impl Substitution {
    /// The first substitution of a text, and the text after it.
    fn read(text: &str) -> Option<(Substitution, &str)> {
        let rest = text.strip_prefix('s')?;
        let divider = rest.chars().next()?;
        let (pattern, rest) = part(rest.get(divider.len_utf8()..)?, divider)?;
        let (replacement, rest) = part(rest, divider)?;
        let end = rest.find(|ch: char| !ch.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (flags, rest) = rest.split_at(end);
        let pattern = if flags.contains('x') { pattern } else { extended(&pattern) };
        let regex = RegexBuilder::new(&pattern).case_insensitive(flags.contains('i')).build().ok()?;
        Some((Substitution { regex, replacement: captures(&replacement), all: flags.contains('g') }, rest))
    }

    fn apply(&self, name: &str) -> String {
        let limit = usize::from(!self.all);
        self.regex.replacen(name, limit, self.replacement.as_str()).into_owned()
    }
}

/// The text up to the divider, and the text after it. A backslash before the divider makes it part of the text.
fn part(text: &str, divider: char) -> Option<(String, &str)> {
    let mut unescaped = String::new();
    let mut chars = text.char_indices();
    while let Some((at, ch)) = chars.next() {
        match ch {
            '\\' => match chars.next()?.1 {
                next if next == divider => unescaped.push(next),
                next => unescaped.extend(['\\', next]),
            },
            _ if ch == divider => return Some((unescaped, text.get(at + divider.len_utf8()..)?)),
            _ => unescaped.push(ch),
        }
    }
    None
}

/// Converts a basic regular expression to an extended one, in which these characters are operators without a backslash.
fn extended(basic: &str) -> String {
    const OPERATORS: &str = "(){}+?|";
    let mut extended = String::new();
    let mut chars = basic.chars();
    while let Some(ch) = chars.next() {
        match ch {
            '\\' => match chars.next() {
                Some(next) if OPERATORS.contains(next) => extended.push(next),
                next => extended.extend(Some('\\').into_iter().chain(next)),
            },
            _ if OPERATORS.contains(ch) => extended.extend(['\\', ch]),
            _ => extended.push(ch),
        }
    }
    extended
}

/// Converts `&` and `\\1` to the syntax of the regex crate.
fn captures(replacement: &str) -> String {
    let mut converted = String::new();
    let mut chars = replacement.chars();
    while let Some(ch) = chars.next() {
        match ch {
            '&' => converted.push_str("${0}"),
            '$' => converted.push_str("$$"),
            '\\' => match chars.next() {
                Some(digit) if digit.is_ascii_digit() => converted.push_str(&format!("${{{digit}}}")),
                Some(next) => converted.push(next),
                None => {}
            },
            _ => converted.push(ch),
        }
    }
    converted
}

#[cfg(test)]
mod tests {
    use super::substituted;

    #[track_caller]
    fn check(text: &str, name: &str, expected: &str) {
        assert_eq!(substituted(vec![name.to_owned()], text), [expected]);
    }

    #[test]
    fn names_are_rewritten() {
        check("s,^docs/bin,.git/hooks,", "docs/bin/pre-commit", ".git/hooks/pre-commit");
        check(r"s/\(a\)\.b/\1&$/", "a.b", "aa.b$");
        check("s/(a)+/x/x;s/x/y/g", "aaxx", "yyy");
        check("s/a/b/", "aa", "ba");
        check("s/A/b/i", "a", "b");
    }

    #[test]
    fn what_is_invalid_changes_nothing() {
        for text in ["", "s", "s/a", "s/a/b", "y/a/b/", r"s/\(a/b/", r"s/a/b\"] {
            check(text, "a", "a");
        }
    }
}
