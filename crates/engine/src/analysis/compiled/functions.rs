//! Results of functions of compiled languages, by the ends of their names.

use super::reader::Reader;
use super::values::{HOME, formatted, method};

/// Functions that return the home folder.
const HOMES: [&str; 7] = [
    "os.UserHomeDir",
    "NSHomeDirectory",
    "home_dir",
    "GetUserHomeDirectory",
    "user.home",
    "System.user_home",
    "homedir",
];

/// Functions that return an environment variable.
const VARIABLES: [&str; 6] = ["Getenv", "getenv", "env.var", "env.var_os", "secure_getenv", "GetEnvironmentVariable"];

/// Functions that join the parts of a path.
const JOINS: [&str; 14] = [
    "Path.join",
    "file.path",
    "joinpath",
    "project.file",
    "filepath.Join",
    "path.Join",
    "Path.of",
    "Paths.get",
    "Path.Combine",
    "File",
    "Path.new",
    "PathBuf.from",
    "path",
    "URL",
];

/// Returns whether a name is one of these, with any qualifier.
pub(super) fn is(name: &str, known: &[&str]) -> bool {
    let fits =
        |known: &&str| name.strip_suffix(*known).is_some_and(|before| before.is_empty() || before.ends_with('.'));
    known.iter().any(fits)
}

impl Reader {
    /// Returns the result of a call, if it is a known path or text.
    pub(super) fn function(&self, name: &str, arguments: &[Option<String>], open: usize) -> Option<String> {
        let first = arguments.first().and_then(Option::as_deref);
        let of_home = matches!(first, Some("HOME" | "USERPROFILE" | "user.home"));
        let home = is(name, &HOMES) || (of_home && (is(name, &VARIABLES) || is(name, &["System.getProperty"])));
        let profile = || self.names_in(open).any(|name| name.ends_with("SpecialFolder.UserProfile"));
        if home || (is(name, &["GetFolderPath"]) && profile()) {
            return Some(HOME.to_string());
        }
        if is(name, &JOINS) {
            let parts: Option<Vec<&str>> = arguments.iter().map(Option::as_deref).collect();
            return parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("/"));
        }
        if is(name, &["format", "Sprintf", "String.format"]) {
            return formatted(arguments);
        }
        if is(
            name,
            &[
                "path.expand",
                "normalizePath",
                "Path.expand",
                "expanduser",
                "abspath",
                "String.from",
                "std.string",
                "string",
                "URI.create",
                "OsStr.new",
            ],
        ) {
            return first.map(str::to_owned);
        }
        // In `home.join("x")`, the name of the value and the method are one token.
        let (value, method_name) = name.rsplit_once('.')?;
        method(self.names.get(value)?.clone(), method_name, arguments)
    }
}
