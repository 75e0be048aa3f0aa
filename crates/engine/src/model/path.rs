//! Lexical classification of paths.

use crate::model::effect::TargetPath;
use reflex_shell::{Piece, Printed, Value};

/// The folders that paths are judged against.
#[derive(Debug, Clone, Copy)]
pub struct Folders<'a> {
    /// Working directory of the command.
    pub cwd: &'a str,
    /// Working directory at the start of the text.
    pub start: &'a str,
    /// Root of the project.
    pub workspace: &'a str,
    /// Home folder of the user.
    pub home: &'a str,
}

/// Returns the lexical path of a word. `variable` returns the value of a known environment variable.
pub(crate) fn lexical(value: &Value, folders: Folders<'_>, variable: &dyn Fn(&str) -> Option<String>) -> TargetPath {
    let mut text = String::new();
    let mut everything = false;
    for (at, (piece, _)) in value.pieces.iter().enumerate() {
        everything = false;
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Glob(glob) => {
                everything = text.is_empty() || text.ends_with('/');
                text.push_str(glob);
                everything &= glob.bytes().all(|byte| byte == b'*');
            }
            Piece::Home(user) if user.is_empty() => text.push_str(folders.home),
            Piece::Home(user) => match user.as_str() {
                "+" => text.push_str(folders.cwd),
                "-" => return cut_short(&text, folders),
                "root" => text.push_str("/root"),
                user => text.push_str(&format!("{}/{user}", parent(folders.home))),
            },
            Piece::Resolved => {}
            Piece::Output(Printed::Temporary) => text.push_str("/tmp/tmp.new"),
            Piece::Output(Printed::WorkingDirectory) => text.push_str(folders.start),
            Piece::Output(Printed::GitRoot) => text.push_str(folders.workspace),
            Piece::Variable(name) => match variable_path(name, folders, variable) {
                Some(known) => text.push_str(&known),
                None => return cut_short(&text, folders),
            },
            Piece::Output(Printed::User) => text.push_str("user"),
            Piece::Output(Printed::Program(_)) | Piece::Unknown(_) => {
                return match ending(value, at) {
                    Some(end) if !text.is_empty() => known(&format!("{text}*{end}"), false, folders),
                    _ => cut_short(&text, folders),
                };
            }
        }
    }
    match known(&text, everything, folders) {
        TargetPath::Known { text, climbing, contents, .. } if value.is_resolved() => {
            TargetPath::Known { text, climbing, follows: true, contents }
        }
        path @ (TargetPath::None | TargetPath::Known { .. } | TargetPath::Unknown) => path,
    }
}

fn variable_path(name: &str, folders: Folders<'_>, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    match name {
        "PWD" => Some(folders.cwd.to_owned()),
        "TMPDIR" | "TMP" | "TEMP" => Some(variable(name).unwrap_or_else(|| "/tmp".into())),
        _ => variable(name),
    }
}

/// Returns the known ending of a name with an unknown piece: `.log` of `logs/$(date).log`.
fn ending(value: &Value, at: usize) -> Option<String> {
    let rest = value.pieces.get(at + 1..).unwrap_or_default();
    let end: String = rest.iter().map(|(piece, _)| piece.as_text()).collect::<Option<_>>()?;
    (!end.is_empty() && !end.contains(['/', '*', '?', '['])).then_some(end)
}

/// Ends a path at an unknown piece. The piece may be empty, so the folder before it is meant; without one the path is
/// unknown.
fn cut_short(text: &str, folders: Folders<'_>) -> TargetPath {
    if text.is_empty() {
        return TargetPath::Unknown;
    }
    let ends_in_slash = text.ends_with('/');
    match known(text, false, folders) {
        TargetPath::Known { text, climbing, .. } if ends_in_slash => {
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
    let climbs = path.as_bytes().windows(2).any(|pair| pair == b"..") && path.split('/').any(|part| part == "..");
    if path.len() + folders.cwd.len() > MAX_PATH {
        return TargetPath::Unknown;
    }
    let climbing = climbs.then(|| if is_absolute(path) { path.to_owned() } else { format!("{}/{path}", folders.cwd) });
    TargetPath::Known {
        text: through_process(absolute(path, folders.cwd), folders.cwd),
        climbing,
        follows: follows || everything,
        contents: everything,
    }
}

/// Maximum length of a path in bytes. No system opens longer ones, and the bound keeps walks up the folders cheap.
const MAX_PATH: usize = 16 * 1024;

/// Resolves `/proc/self/root` to the root and `/proc/self/cwd` to the command's working directory.
fn through_process(path: String, cwd: &str) -> String {
    let Some((process, rest)) = path.strip_prefix("/proc/").and_then(|below| below.split_once('/')) else {
        return path;
    };
    let is_process =
        matches!(process, "self" | "thread-self" | "*") || process.bytes().all(|byte| byte.is_ascii_digit());
    let (link, below) = rest.split_once('/').unwrap_or((rest, ""));
    let leads_to = match link {
        "root" => "/",
        "cwd" => cwd,
        _ => return path,
    };
    if is_process { through_process(absolute(below, leads_to), cwd) } else { path }
}

/// Whether a path is an open file descriptor of the program itself. The same path in the guard's process is another
/// file.
pub(crate) fn is_open_file(path: &str) -> bool {
    path.starts_with("/proc/self/fd/")
}

/// Returns the path, joined to `cwd` if it is relative, without `.`, `..` and repeated slashes.
pub fn absolute(text: &str, cwd: &str) -> String {
    // Most paths are already normalized.
    if is_plain(text.as_bytes()) {
        return text.to_owned();
    }
    if is_plain(cwd.as_bytes()) {
        match text.as_bytes() {
            [] => return cwd.to_owned(),
            // The names of the registry roots begin with `H`.
            [first, ..] if !first.eq_ignore_ascii_case(&b'h') && has_plain_parts(text.as_bytes()) => {
                return [cwd, "/", text].concat();
            }
            _ => {}
        }
    }
    let named = windows_path(text);
    let text = named.as_deref().unwrap_or(text);
    let mut parts: Vec<&str> = Vec::new();
    let base = if is_absolute(text) { "" } else { cwd };
    let drive = drive_length(text).or(drive_length(base)).is_some();
    for part in base.split('/').chain(text.split('/')) {
        match part {
            "" | "." => {}
            ".." if drive && parts.len() < 2 => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (drive, parts.len()) {
        (true, 1) => format!("{joined}/"),
        (true, _) => joined,
        (false, _) => format!("/{joined}"),
    }
}

/// Whether a path is absolute, is not the root, and is already normalized.
fn is_plain(path: &[u8]) -> bool {
    path.split_first().is_some_and(|(first, rest)| *first == b'/' && has_plain_parts(rest))
}

/// Whether no component is empty, `.` or `..`, and the path has no drive.
fn has_plain_parts(path: &[u8]) -> bool {
    // State of the current component: 0 if empty, the number of its dots, or `OTHER` for any other content.
    let mut dots = 0_u8;
    const OTHER: u8 = 3;
    for byte in path {
        dots = match byte {
            b':' => return false,
            b'/' if dots < OTHER => return false,
            b'/' => 0,
            b'.' if dots < OTHER => dots + 1,
            _ => OTHER,
        };
    }
    dots == OTHER
}

/// Whether a path begins at a root or on a drive.
pub fn is_absolute(text: &str) -> bool {
    text.starts_with('/') || drive_length(text).is_some()
}

/// The roots of the registry, as PowerShell's drives and as `reg` writes them.
const REGISTRY: [(&str, &str); 5] = [
    ("HKLM", "HKEY_LOCAL_MACHINE"),
    ("HKCU", "HKEY_CURRENT_USER"),
    ("HKCR", "HKEY_CLASSES_ROOT"),
    ("HKU", "HKEY_USERS"),
    ("HKCC", "HKEY_CURRENT_CONFIG"),
];

/// Returns the length in bytes of a drive prefix such as `C:` or `HKLM:`.
pub(crate) fn drive_length(text: &str) -> Option<usize> {
    // Nearly all paths begin with a slash, and every rule calls this.
    if !text.starts_with(|ch: char| ch.is_ascii_alphabetic()) {
        return None;
    }
    let first = text.split('/').next()?;
    let name = first.strip_suffix(':')?;
    let drive = name.len() == 1 && name.starts_with(|ch: char| ch.is_ascii_alphabetic());
    (drive || REGISTRY.iter().any(|(root, _)| root.eq_ignore_ascii_case(name))).then_some(first.len())
}

/// Normalizes Windows spellings: `//?/C:/x` becomes `C:/x`, `HKEY_LOCAL_MACHINE/x` becomes `HKLM:/x`; `C:x` is taken
/// from the drive's root.
fn windows_path(text: &str) -> Option<String> {
    let plain = ["//?/UNC/", "//?/", "//./"].into_iter().find_map(|start| text.strip_prefix(start));
    if let Some(plain) = plain.filter(|plain| drive_length(plain).is_some()) {
        return Some(plain.to_owned());
    }
    let after = text.split_once("::").filter(|(provider, _)| {
        let provider = provider.to_ascii_lowercase();
        provider.ends_with("registry") || provider.ends_with("filesystem")
    });
    let text = after.map_or(text, |(_, after)| after);
    let (first, rest) = text.split_once('/').unwrap_or((text, ""));
    let root = REGISTRY.iter().find(|(short, long)| {
        long.eq_ignore_ascii_case(first.trim_end_matches(':')) || (*short == first && !rest.is_empty())
    });
    if let Some((short, _)) = root {
        return Some(format!("{short}:/{rest}"));
    }
    match text.as_bytes() {
        [ch, b':', next, ..] if ch.is_ascii_alphabetic() && *next != b'/' => {
            Some(format!("{}/{}", text.get(..2)?, text.get(2..)?))
        }
        [ch, b':'] if ch.is_ascii_alphabetic() => Some(format!("{text}/")),
        _ => after.map(|(_, after)| after.to_owned()),
    }
}

/// Whether `path` is `folder` or below it.
pub fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether `path` is below `folder`.
pub fn is_below(path: &str, folder: &str) -> bool {
    is_within(path, folder) && path.len() > folder.trim_end_matches('/').len() + 1
}

/// Returns the parent folder; `/` for a root.
pub fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rfind('/') {
        Some(0) | None => "/",
        Some(slash) => path.get(..slash).unwrap_or("/"),
    }
}

/// The class of a path's location. Exactly one applies: the first that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Unknown.
    Unknown,
    /// The root of the file system, or the folder of all homes.
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
    /// Every place with its name in conditions.
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

    /// Returns its name in conditions.
    pub fn name(self) -> &'static str {
        Place::ALL.iter().find(|(place, _)| *place == self).map_or("outside", |(_, name)| name)
    }

    /// Classifies an absolute path.
    pub fn from_path(path: &str, folders: Folders<'_>, temporary: &[String]) -> Place {
        let Folders { workspace, home, .. } = folders;
        if drive_length(path).is_some() {
            return Place::on_drive(path, folders);
        }
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
        let is_in_a_home = is_within(path, "/root") || ["/home", "/Users"].iter().any(|homes| is_below(path, homes));
        if is_in_a_home && !is_within(path, home) {
            return Place::OtherHome;
        }
        Place::Outside
    }
}

impl Place {
    /// Classifies a path on a drive, where case is ignored and homes are in `Users`.
    fn on_drive(path: &str, folders: Folders<'_>) -> Place {
        let lower = |path: &str| path.to_lowercase().trim_end_matches('/').to_owned();
        let (path, workspace, home) = (lower(path), lower(folders.workspace), lower(folders.home));
        if path.len() == 2 || path.get(2..) == Some("/users") || is_below(&home, &path) {
            return Place::Root;
        }
        let temporary = ["/windows/temp", "/temp", "/tmp"]
            .iter()
            .any(|folder| path.get(2..).is_some_and(|path| is_within(path, folder)));
        match () {
            () if path == home => Place::Home,
            () if is_within(&workspace, &path) => Place::Workspace,
            () if is_below(&path, &workspace) => Place::Inside,
            () if temporary || path.contains("/appdata/local/temp/") => Place::Temporary,
            () if path.get(2..).is_some_and(|path| is_below(path, "/users")) && !is_within(&path, &home) => {
                Place::OtherHome
            }
            () => Place::Outside,
        }
    }
}

/// Whether the path is a harmless device: null, zeros, random data, the terminal, an open descriptor or shared memory.
pub(crate) fn is_harmless_device(path: &str) -> bool {
    const NAMES: [&str; 10] =
        ["null", "zero", "random", "urandom", "stdin", "stdout", "stderr", "tty", "full", "console"];
    const FOLDERS: [&str; 2] = ["fd/", "shm/"];
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    NAMES.contains(&name) || FOLDERS.iter().any(|folder| name.starts_with(folder))
}

/// Whether bash opens the path as a network connection.
pub(crate) fn is_connection(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}

/// Returns the last component of a path.
pub(crate) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_no_way_around() {
        assert_eq!(through_process("/proc/self/root/proc/1/root/etc".into(), "/repo"), "/etc");
        assert_eq!(through_process("/proc/self/cwd/x".into(), "/repo"), "/repo/x");
        assert_eq!(through_process("/proc/meminfo/x".into(), "/repo"), "/proc/meminfo/x");
    }

    #[test]
    fn paths_are_normalised() {
        let check = |text, cwd, expected| assert_eq!(absolute(text, cwd), expected, "{text} {cwd}");
        check("a/.b/..c/...", "/repo", "/repo/a/.b/..c/...");
        check("/a/.b", "/repo", "/a/.b");
        check("/a/", "/repo", "/a");
        check("/a/.", "/repo", "/a");
        check("/a//b", "/repo", "/a/b");
        check(".", "/repo/", "/repo");
        check("", "/repo", "/repo");
        check("a", "/", "/a");
        check("c:a", "/repo", "c:/a");
        check("hklm/x", "/repo", "/repo/hklm/x");
        check("HKEY_CURRENT_USER/x", "/repo", "HKCU:/x");
        assert_eq!(absolute("../x/./y//z", "/repo/a"), "/repo/x/y/z");
        assert_eq!(absolute("../../../..", "/repo"), "/");
        assert!(is_within("/a/b", "/a") && !is_within("/ab", "/a") && is_below("/a/b", "/a") && !is_below("/a", "/a"));
    }
}
