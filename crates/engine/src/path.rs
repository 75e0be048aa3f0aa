//! Where a path lies, told from its text alone.

use crate::effect::TargetPath;
use reflex_shell::{Piece, Printed, Value};

/// The folders that paths are judged against.
#[derive(Debug, Clone, Copy)]
pub struct Folders<'a> {
    /// Where the command runs.
    pub cwd: &'a str,
    /// Where the text began.
    pub start: &'a str,
    /// The project's root.
    pub workspace: &'a str,
    /// The user's home.
    pub home: &'a str,
}

/// The lexical path of a word. `variable` gives the value of an environment variable that is known.
pub(crate) fn lexical(value: &Value, folders: Folders<'_>, variable: &dyn Fn(&str) -> Option<String>) -> TargetPath {
    let mut text = String::new();
    let mut everything = false;
    for (piece, _) in &value.pieces {
        everything = false;
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Glob(glob) => {
                everything = text.is_empty() || text.ends_with('/');
                text.push_str(glob);
                everything &= glob.bytes().all(|byte| byte == b'*');
            }
            Piece::Home(user) if user.is_empty() => text.push_str(folders.home),
            Piece::Home(user) => text.push_str(&format!("{}/{user}", parent(folders.home))),
            Piece::Output(Printed::Temporary) => text.push_str("/tmp/tmp.new"),
            Piece::Output(Printed::WorkingDirectory) => text.push_str(folders.start),
            Piece::Output(Printed::GitRoot) => text.push_str(folders.workspace),
            Piece::Variable(name) => match variable_path(name, folders, variable) {
                Some(known) => text.push_str(&known),
                None => return cut_short(&text, folders),
            },
            Piece::Output(Printed::User) => text.push_str("user"),
            Piece::Output(Printed::Program(_)) | Piece::Unknown(_) => return cut_short(&text, folders),
        }
    }
    known(&text, everything, folders)
}

fn variable_path(name: &str, folders: Folders<'_>, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    match name {
        "PWD" => Some(folders.cwd.to_owned()),
        "TMPDIR" | "TMP" | "TEMP" => Some(variable(name).unwrap_or_else(|| "/tmp".into())),
        _ => variable(name),
    }
}

/// What is not known may be empty: the folder before it is meant. Without one nothing is known.
fn cut_short(text: &str, folders: Folders<'_>) -> TargetPath {
    if text.is_empty() {
        return TargetPath::Unknown;
    }
    let folder_given = text.ends_with('/');
    match known(text, false, folders) {
        TargetPath::Known { text, climbing, .. } if folder_given => {
            TargetPath::Known { text, climbing, follows: true, contents: true }
        }
        TargetPath::Known { text, climbing, follows, .. } => {
            TargetPath::Known { text: format!("{text}*"), climbing, follows, contents: false }
        }
        TargetPath::None | TargetPath::Unknown => TargetPath::Unknown,
    }
}

fn known(text: &str, everything: bool, folders: Folders<'_>) -> TargetPath {
    let follows = text.len() > 1 && (text.ends_with('/') || text.ends_with("/."));
    let path = if everything { text.trim_end_matches('*') } else { text };
    let climbs = path.split('/').any(|part| part == "..");
    let joined = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", folders.cwd) };
    let climbing = climbs.then_some(joined);
    TargetPath::Known {
        text: absolute(path, folders.cwd),
        climbing,
        follows: follows || everything,
        contents: everything,
    }
}

/// Joined to `cwd` if it is relative, with `.`, `..` and doubled slashes taken out.
pub fn absolute(text: &str, cwd: &str) -> String {
    let drive = matches!(text.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic());
    let mut parts: Vec<&str> = Vec::new();
    let base = if text.starts_with('/') || drive { "" } else { cwd };
    for part in base.split('/').chain(text.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if drive { joined } else { format!("/{joined}") }
}

/// Whether `path` is `folder` or lies below it.
pub fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether `path` lies below `folder`.
pub fn is_below(path: &str, folder: &str) -> bool {
    is_within(path, folder) && path.len() > folder.trim_end_matches('/').len() + 1
}

/// The folder above; `/` for a root.
pub fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rfind('/') {
        Some(0) | None => "/",
        Some(slash) => path.get(..slash).unwrap_or("/"),
    }
}

/// Where a path lies. Exactly one holds; the first that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Not known.
    Unknown,
    /// The root of the file system, or all homes.
    Root,
    /// The user's home folder itself.
    Home,
    /// The project's root or a folder above it.
    Workspace,
    /// Below the project's root.
    Inside,
    /// Below a folder for temporary files.
    Temporary,
    /// Below another user's home.
    OtherHome,
    /// Anywhere else.
    Outside,
}

impl Place {
    /// Every place with the word that conditions use for it.
    pub const ALL: [(Place, &'static str); 8] = [
        (Place::Unknown, "unknown"),
        (Place::Root, "root"),
        (Place::Home, "home"),
        (Place::Workspace, "workspace"),
        (Place::Inside, "inside"),
        (Place::Temporary, "temporary"),
        (Place::OtherHome, "other-home"),
        (Place::Outside, "outside"),
    ];

    /// The word that conditions use for it.
    pub fn name(self) -> &'static str {
        Place::ALL.iter().find(|(place, _)| *place == self).map_or("outside", |(_, name)| name)
    }

    /// Where an absolute path lies.
    pub fn of(path: &str, folders: Folders<'_>, temporary: &[String]) -> Place {
        let Folders { workspace, home, .. } = folders;
        if path == "/" || is_below(home, path) || path == "/home" || path == "/Users" {
            return Place::Root;
        }
        if path == home {
            return Place::Home;
        }
        if is_within(workspace, path) {
            return Place::Workspace;
        }
        if is_below(path, workspace) {
            return Place::Inside;
        }
        let below_temporary =
            |folder: &&String| is_within(path, folder) && !(is_within(home, folder) && is_within(path, home));
        if temporary.iter().find(below_temporary).is_some() {
            return Place::Temporary;
        }
        let of_somebody = ["/home", "/Users"].iter().any(|homes| is_below(path, homes));
        if of_somebody && !is_within(path, home) {
            return Place::OtherHome;
        }
        Place::Outside
    }
}

/// Devices that only stand for nothing, zeros, chance or the terminal.
pub(crate) fn is_harmless_device(path: &str) -> bool {
    const NAMES: [&str; 10] =
        ["null", "zero", "random", "urandom", "stdin", "stdout", "stderr", "tty", "full", "console"];
    const FOLDERS: [&str; 2] = ["fd/", "shm/"];
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    NAMES.contains(&name) || FOLDERS.iter().any(|folder| name.starts_with(folder))
}

/// What bash opens as a connection.
pub(crate) fn is_connection(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}

/// Whether a path fits a pattern of the library: `*` within a part, `**` over parts, `?` one letter; `~/` is the home,
/// a pattern that begins with neither `/` nor `~/` may begin at any part.
pub fn fits(pattern: &str, path: &str, home: &str) -> bool {
    if let Some(rest) = pattern.strip_prefix("~/") {
        let Some(below) = path.strip_prefix(home).and_then(|below| below.strip_prefix('/')) else { return false };
        return glob(rest.as_bytes(), below.as_bytes());
    }
    if pattern.starts_with('/') {
        return glob(pattern.as_bytes(), path.as_bytes());
    }
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    let pattern = pattern.as_bytes();
    starts.filter_map(|at| path.as_bytes().get(at..)).any(|rest| first_fits(pattern, rest) && glob(pattern, rest))
}

/// A cheap look before the walk: most patterns begin with a letter that most paths do not have there.
fn first_fits(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern.first(), path.first()) {
        (Some(b'*' | b'?' | b'['), _) => true,
        (Some(wanted), Some(there)) => wanted == there,
        _ => false,
    }
}

/// Matches without recursion: at a mismatch the last star takes one letter more.
pub(crate) fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut retry: Option<(usize, usize, bool)> = None;
    loop {
        let next = pattern.get(at).copied();
        if next == Some(b'*') {
            let deep = pattern.get(at + 1) == Some(&b'*');
            at += if deep { 2 } else { 1 };
            // `**/` also stands for no folder at all.
            if deep && pattern.get(at) == Some(&b'/') && (read == 0 || text.get(read - 1) == Some(&b'/')) {
                at += 1;
            }
            retry = Some((at, read, deep));
            continue;
        }
        match (next, text.get(read).copied()) {
            (None, None) => return true,
            (Some(b'?'), Some(letter)) if letter != b'/' => (at, read) = (at + 1, read + 1),
            (Some(b'['), Some(letter)) if set(pattern, at, letter).is_some() => {
                (at, read) = (set(pattern, at, letter).unwrap_or(at + 1), read + 1);
            }
            (Some(wanted), Some(there)) if wanted == there => (at, read) = (at + 1, read + 1),
            (_, there) => {
                let Some((star, from, deep)) = retry else { return false };
                let taken = text.get(from).copied();
                if taken.is_none() || (there.is_none() && at > pattern.len()) || (!deep && taken == Some(b'/')) {
                    return false;
                }
                retry = Some((star, from + 1, deep));
                (at, read) = (star, from + 1);
            }
        }
    }
}

/// `[a-z_]` at `at`: where it ends, if it holds the letter.
fn set(pattern: &[u8], at: usize, letter: u8) -> Option<usize> {
    let end = at + pattern.get(at..)?.iter().position(|byte| *byte == b']')?;
    let mut inside = pattern.get(at + 1..end)?;
    loop {
        match inside {
            [first, b'-', last, ..] if (*first..=*last).contains(&letter) => return Some(end + 1),
            [_, b'-', _, rest @ ..] => inside = rest,
            [one, ..] if *one == letter => return Some(end + 1),
            [_, rest @ ..] => inside = rest,
            [] => return None,
        }
    }
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
        check("/dev/sd[a-z]", "/dev/sdb", true);
        check("node_modules", "/repo/node_modules", true);
    }

    #[test]
    fn paths_are_normalised() {
        assert_eq!(absolute("../x/./y//z", "/repo/a"), "/repo/x/y/z");
        assert_eq!(absolute("../../../..", "/repo"), "/");
        assert!(is_within("/a/b", "/a") && !is_within("/ab", "/a") && is_below("/a/b", "/a") && !is_below("/a", "/a"));
    }
}
