//! Paths as tools accept them: no shell expands them, but some tools expand a leading tilde, variable or scheme.

use reflex_shell::{Origin, Piece, Value};

/// Returns the path of a file URL of this machine: `file:///x` and `FILE:/x` are `/x`.
pub(super) fn without_scheme(path: &str) -> &str {
    const SCHEME: &str = "file:";
    let is_file = path.get(..SCHEME.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME));
    let Some(rest) = path.get(SCHEME.len()..).filter(|_| is_file) else { return path };
    let local = ["//localhost", "//127.0.0.1", "//"].iter().find_map(|host| rest.strip_prefix(host)).unwrap_or(rest);
    if local.starts_with('/') { local } else { path }
}

/// Variables that some tools expand to a folder at the front of a path.
const FOLDER_VARIABLES: [(&str, &str); 10] = [
    ("$HOME", "~"),
    ("${HOME}", "~"),
    ("$env:USERPROFILE", "~"),
    ("%USERPROFILE%", "~"),
    ("%HOMEPATH%", "~"),
    ("%APPDATA%", "~/AppData/Roaming"),
    ("%LOCALAPPDATA%", "~/AppData/Local"),
    ("%SystemRoot%", "C:/Windows"),
    ("%WINDIR%", "C:/Windows"),
    ("%PROGRAMDATA%", "C:/ProgramData"),
];

/// Returns the value of a path passed to a tool, in which only a leading tilde or variable is expanded.
pub(super) fn agent_path_value(text: &str) -> Value {
    agent_path_at(text, Origin::default())
}

pub(super) fn agent_path_at(text: &str, origin: Origin) -> Value {
    let variable = FOLDER_VARIABLES.iter().find_map(|(name, folder)| {
        let (start, rest) = text.split_at_checked(name.len())?;
        let matches = start.eq_ignore_ascii_case(name) && (rest.is_empty() || rest.starts_with(['/', '\\']));
        matches.then(|| format!("{folder}{}", rest.replace('\\', "/")))
    });
    let text = variable.as_deref().unwrap_or(text);
    let Some(rest) = text.strip_prefix('~') else { return Value::text(text, origin) };
    let (user, below) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
    // An editor's copy (`~$x`, `~1`) is a file; an alphanumeric name is a user's home.
    if !user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        || (below.is_empty() && !user.is_empty())
    {
        return Value::text(text, origin);
    }
    let mut value = Value::piece(Piece::Home(user.to_owned()), origin);
    value.push_text(below, origin);
    value
}
