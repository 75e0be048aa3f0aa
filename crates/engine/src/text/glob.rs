//! Path patterns: whether a pattern matches a path, and whether two patterns may match the same path.

use crate::model::path::drive_length;

/// Whether a path matches a pattern of the library: `*` matches within a component, `**` across components, `?` one
/// character. `~/` is the home folder. A pattern that begins with neither `/` nor `~/` may match from any component on.
pub fn fits(pattern: &str, path: &str, home: &str) -> bool {
    Compared::new(path, home).fits(pattern.as_bytes())
}

/// A path with precomputed properties, because it is compared with hundreds of patterns.
pub(crate) struct Compared<'p> {
    path: &'p str,
    home: &'p str,
    /// The part below the home folder.
    below_home: Option<&'p [u8]>,
    /// The last component.
    last: &'p [u8],
    on_drive: bool,
}

impl<'p> Compared<'p> {
    /// Creates it from an absolute path and the home folder for `~/`.
    pub(crate) fn new(path: &'p str, home: &'p str) -> Compared<'p> {
        let below = path.strip_prefix(home).and_then(|below| below.strip_prefix('/'));
        let on_drive = drive_length(path).is_some();
        let last = last_parts(path.as_bytes(), 1);
        Compared { path, home, below_home: below.map(str::as_bytes), last, on_drive }
    }

    /// Whether it matches a pattern; see [`fits`].
    pub(crate) fn fits(&self, pattern: &[u8]) -> bool {
        if self.on_drive && (has_case(self.path.as_bytes()) || has_case(pattern)) {
            return self.fits_without_case(pattern);
        }
        let path = self.path.as_bytes();
        if !may_end(pattern, path) {
            return false;
        }
        match pattern {
            [b'~', b'/', rest @ ..] => self.below_home.is_some_and(|below| may_begin(rest, below) && glob(rest, below)),
            [b'/', rest @ ..] => path.strip_prefix(b"/").is_some_and(|path| may_begin(rest, path) && glob(rest, path)),
            _ if names_drive(pattern) => glob(pattern, path),
            _ => self.fits_anywhere(pattern),
        }
    }

    /// Matches without regard to case, for paths on a drive.
    fn fits_without_case(&self, pattern: &[u8]) -> bool {
        let lower = self.path.to_lowercase();
        let home =
            if drive_length(self.home).is_some() { self.home.to_lowercase() } else { home_on_drive(&lower).to_owned() };
        Compared::new(&lower, &home).fits(String::from_utf8_lossy(pattern).to_lowercase().as_bytes())
    }

    /// Whether a pattern matches from one of the path's components on.
    fn fits_anywhere(&self, pattern: &[u8]) -> bool {
        let slashes = pattern.iter().filter(|byte| **byte == b'/').count();
        // A pattern without `**` can only match the last components.
        let deep = if pattern.last() == Some(&b'*') || slashes > 0 { find(pattern, b"**") } else { None };
        match deep {
            None if slashes == 0 => may_begin(pattern, self.last) && glob(pattern, self.last),
            None => {
                let last = last_parts(self.path.as_bytes(), slashes + 1);
                may_begin(pattern, last) && glob(pattern, last)
            }
            // The part before the first `**` decides at which component the pattern may begin.
            Some(deep) => {
                let fixed = pattern.get(..deep).unwrap_or(&[]);
                let slashes = fixed.iter().filter(|byte| **byte == b'/').count();
                let begins = |start: &&[u8]| {
                    slashes == 0 || (may_begin(fixed, start) && glob(fixed, first_parts(start, slashes)))
                };
                starts(self.path.as_bytes()).find(begins).is_some_and(|start| glob(pattern, start))
            }
        }
    }
}

fn has_case(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_uppercase)
}

/// Whether a pattern begins with a drive.
fn names_drive(pattern: &[u8]) -> bool {
    // Cheap pretest: few patterns contain a colon, and every path is compared with all of them.
    pattern.contains(&b':') && std::str::from_utf8(pattern).is_ok_and(|pattern| drive_length(pattern).is_some())
}

/// `c:/users/NAME` of a path below it.
fn home_on_drive(path: &str) -> &str {
    let slashes = path.match_indices('/').map(|(at, _)| at);
    let end = slashes.clone().nth(2).unwrap_or(path.len());
    let is_home = path.get(2..).is_some_and(|path| path.starts_with("/users/"));
    if is_home { path.get(..end).unwrap_or(path) } else { "" }
}

/// Cheap pretest before the full match: the last byte of most patterns differs from that of most paths.
fn may_end(pattern: &[u8], path: &[u8]) -> bool {
    let last = pattern.last().copied().unwrap_or(b'*');
    matches!(last, b'*' | b'?' | b']') || path.last() == Some(&last)
}

/// The same pretest for the first byte.
fn may_begin(pattern: &[u8], path: &[u8]) -> bool {
    let first = pattern.first().copied().unwrap_or(b'*');
    matches!(first, b'*' | b'?' | b'[') || path.first() == Some(&first)
}

/// Byte offset of the first occurrence.
pub(crate) fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// The suffixes of the path that begin at its components.
fn starts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let after = |(at, byte): (usize, &u8)| (*byte == b'/').then(|| path.get(at + 1..).unwrap_or(&[]));
    std::iter::once(path).chain(path.iter().enumerate().filter_map(after))
}

fn last_parts(path: &[u8], parts: usize) -> &[u8] {
    let slash = path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').nth(parts - 1);
    slash.map_or(path, |(at, _)| path.get(at + 1..).unwrap_or(&[]))
}

/// The first components, including the slash after them.
fn first_parts(path: &[u8], parts: usize) -> &[u8] {
    let slash = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').nth(parts - 1);
    slash.map_or(path, |(at, _)| path.get(..=at).unwrap_or(path))
}

/// Offsets in the pattern and the text to continue from after a mismatch: the one after a star, which then consumes one
/// more byte.
type Retry = Option<(usize, usize)>;

/// Matches without recursion. On a mismatch the last `*` consumes one more byte, and if it may not, the last `**` does.
pub(crate) fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    let (mut shallow, mut deep): (Retry, Retry) = (None, None);
    loop {
        let next = pattern.get(at).copied();
        if next == Some(b'*') {
            if pattern.get(at + 1) == Some(&b'*') {
                at += 2;
                // `**/` also matches zero folders.
                let at_part = read == 0 || text.get(read - 1) == Some(&b'/');
                at += usize::from(pattern.get(at) == Some(&b'/') && at_part);
                (shallow, deep) = (None, Some((at, read)));
            } else {
                at += 1;
                shallow = Some((at, read));
            }
            continue;
        }
        match (next, text.get(read).copied()) {
            (None, None) => return true,
            (Some(b'?'), Some(ch)) if ch != b'/' => (at, read) = (at + 1, read + 1),
            (Some(b'['), Some(ch)) if set(pattern, at, ch).is_some() => {
                (at, read) = (set(pattern, at, ch).unwrap_or(at + 1), read + 1);
            }
            (Some(wanted), Some(found)) if wanted == found => (at, read) = (at + 1, read + 1),
            _ => {
                let within = shallow.filter(|(_, from)| text.get(*from).is_some_and(|ch| *ch != b'/'));
                let retry = if within.is_some() { &mut shallow } else { &mut deep };
                let Some((star, from)) = *retry else { return false };
                if from >= text.len() {
                    return false;
                }
                (at, read) = (star, from + 1);
                *retry = Some((star, from + 1));
                if within.is_none() {
                    shallow = None;
                }
            }
        }
    }
}

/// The end of the set `[a-z_]` or `[!a-z]` at `at`, if it contains the byte.
fn set(pattern: &[u8], at: usize, ch: u8) -> Option<usize> {
    let end = set_end(pattern, at)?;
    holds(pattern.get(at + 1..end)?, ch).then_some(end + 1)
}

fn set_end(pattern: &[u8], at: usize) -> Option<usize> {
    Some(at + pattern.get(at..)?.iter().position(|byte| *byte == b']')?)
}

fn holds(inside: &[u8], ch: u8) -> bool {
    if let [b'!' | b'^', rest @ ..] = inside {
        return !holds(rest, ch);
    }
    let mut inside = inside;
    loop {
        match inside {
            [first, b'-', last, ..] if (*first..=*last).contains(&ch) => return true,
            [_, b'-', _, rest @ ..] => inside = rest,
            [one, ..] if *one == ch => return true,
            [_, rest @ ..] => inside = rest,
            [] => return false,
        }
    }
}

/// Maximum number of components or bytes that are compared. Longer patterns count as matching the same path.
const MAX_COMPARED: usize = 128;

/// Whether some path can match both an absolute shell pattern and an absolute pattern in the syntax of the
/// library. In the shell pattern, a star does not match a leading dot.
pub(crate) fn may_meet(shell: &str, library: &str) -> bool {
    let parts = |pattern| str::split(pattern, '/').filter(|part: &&str| !part.is_empty()).collect::<Vec<_>>();
    let (shell, library): (Vec<&str>, Vec<&str>) = (parts(shell), parts(library));
    if shell.len().max(library.len()) > MAX_COMPARED {
        return true;
    }
    // A recursive search also finds names with a leading dot.
    let dots = shell.contains(&"**");
    // Element j: whether the rest of `shell` may meet `library[j..]`.
    let mut after: Vec<bool> = (0..=library.len()).map(|j| library.iter().skip(j).all(|part| *part == "**")).collect();
    for one in shell.iter().rev() {
        let mut here = vec![false; library.len() + 1];
        for j in (0..=library.len()).rev() {
            let at = |row: &[bool], j: usize| row.get(j).copied().unwrap_or(false);
            let met = match library.get(j) {
                _ if *one == "**" => at(&after, j) || at(&here, j + 1),
                None => false,
                Some(&"**") => at(&here, j + 1) || at(&after, j),
                Some(other) => at(&after, j + 1) && parts_meet(one, other, dots),
            };
            if let Some(slot) = here.get_mut(j) {
                *slot = met;
            }
        }
        after = here;
    }
    after.first().copied().unwrap_or(false)
}

/// One step of a pattern for names.
#[derive(Clone, Copy, PartialEq)]
enum Step<'p> {
    Any,
    One,
    Byte(u8),
    Set(&'p [u8]),
}

fn parts_meet(shell: &str, library: &str, dots: bool) -> bool {
    let (shell, library) = (steps(shell.as_bytes()), steps(library.as_bytes()));
    let hidden = library.first() == Some(&Step::Byte(b'.'));
    if hidden && !dots && shell.first() != Some(&Step::Byte(b'.')) {
        return false;
    }
    if shell.len().max(library.len()) > MAX_COMPARED {
        return true;
    }
    let mut after: Vec<bool> =
        (0..=library.len()).map(|j| library.iter().skip(j).all(|step| *step == Step::Any)).collect();
    for one in shell.iter().rev() {
        let mut here = vec![false; library.len() + 1];
        for j in (0..=library.len()).rev() {
            let at = |row: &[bool], j: usize| row.get(j).copied().unwrap_or(false);
            let met = match (*one, library.get(j)) {
                (Step::Any, _) => at(&after, j) || (j < library.len() && at(&here, j + 1)),
                (_, None) => false,
                (_, Some(Step::Any)) => at(&here, j + 1) || at(&after, j),
                (one, Some(other)) => at(&after, j + 1) && may_be_same(one, *other),
            };
            if let Some(slot) = here.get_mut(j) {
                *slot = met;
            }
        }
        after = here;
    }
    after.first().copied().unwrap_or(false)
}

fn may_be_same(one: Step<'_>, other: Step<'_>) -> bool {
    match (one, other) {
        (Step::Byte(a), Step::Byte(b)) => a == b,
        (Step::Byte(ch), Step::Set(set)) | (Step::Set(set), Step::Byte(ch)) => holds(set, ch),
        (Step::Any | Step::One | Step::Set(_), _) | (_, Step::Any | Step::One) => true,
    }
}

fn steps(pattern: &[u8]) -> Vec<Step<'_>> {
    let mut steps = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(byte) = pattern.get(at).copied() {
        let group = matches!(byte, b'*' | b'?' | b'+' | b'@' | b'!') && pattern.get(at + 1) == Some(&b'(');
        let (step, length) = match byte {
            // `@(a|b)`: treated as any text.
            _ if group => (Step::Any, pattern.get(at..).and_then(|rest| find(rest, b")")).map_or(2, |end| end + 1)),
            b'*' => (Step::Any, 1),
            b'?' => (Step::One, 1),
            b'[' => match set_end(pattern, at) {
                Some(end) => (Step::Set(pattern.get(at + 1..end).unwrap_or(&[])), end + 1 - at),
                None => (Step::Byte(b'['), 1),
            },
            ch => (Step::Byte(ch), 1),
        };
        steps.push(step);
        at += length;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_gitignore_would() {
        let check = |pattern, path, expected| assert_eq!(fits(pattern, path, "/home/me"), expected, "{pattern} {path}");
        check("~/.ssh/id_*", "/home/me/.ssh/id_rsa", true);
        check("~/.ssh/id_*", "/home/you/.ssh/id_rsa", false);
        check("/etc/**", "/etc/a/b", true);
        check("/etc/*", "/etc/a/b", false);
        check(".env", "/repo/a/.env", true);
        check(".env", "/repo/a/x.env", false);
        check("*.pem", "/repo/a/x.pem", true);
        check("**/bin/reflex", "/usr/local/bin/reflex", true);
        check("**/bin/reflex", "bin/reflex", true);
        check("/dev/sd[a-z]", "/dev/sdb", true);
        check("/dev/sd[!a-z]", "/dev/sdb", false);
        check("node_modules", "/repo/node_modules", true);
        check(".git/**", "/repo/.git/refs/heads/x", true);
        check(".git/**", "/repo/.github/x", false);
        check(".git/refs/**/*.lock", "/repo/.git/refs/heads/main.lock", true);
        check("tests/**", "/repo/src/tests/a/b", true);
    }

    #[test]
    fn a_long_path_is_walked_once() {
        let path = format!("/{}", ".git/".repeat(200_000));
        assert!(!fits(".git/**/index.lock", &path, "/home/me") && !fits(".env", &path, "/home/me"));
    }

    #[test]
    fn two_patterns_may_meet() {
        let check = |shell, library, expected| assert_eq!(may_meet(shell, library), expected, "{shell} {library}");
        check("/home/me/.ssh/*", "/home/me/.ssh/id_*", true);
        check("/home/me/.ssh/*.pub", "/home/me/.ssh/id_*", true);
        check("/home/me/.ss?/id_rsa", "/home/me/.ssh/id_*", true);
        check("/home/me/*", "/home/me/.netrc", false);
        check("/home/me/.n*", "/home/me/.netrc", true);
        check("/home/me/**/id_rsa", "/home/me/.ssh/id_*", true);
        check("/etc/sh[a-c]dow", "/etc/shadow", true);
        check("/etc/sh[!a]dow", "/etc/shadow", false);
        check("/etc/@(shadow|x)", "/etc/shadow", true);
        check("/repo/.e*", "/**/.env", true);
        check("/repo/.es*", "/**/.env", false);
    }
}
