//! The aliases of the user's shell, read from its startup files. The files are not executed and conditions are not
//! evaluated, so an alias counts wherever it is defined.

use std::path::Path;

/// Startup files, below the home directory, in which aliases are usually defined. The last file that defines a name
/// wins.
const FILES: [&str; 7] = [".profile", ".bash_profile", ".bashrc", ".bash_aliases", ".zshenv", ".zprofile", ".zshrc"];

/// Maximum size of a startup file, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// The value of an alias in the shell of the user with this home.
pub(crate) fn of_shell(home: &Path, name: &str) -> Option<String> {
    let texts = FILES.iter().rev().filter_map(|file| reflex_git::regular_file(&home.join(file), MAX_BYTES));
    let mut found = texts.filter_map(|bytes| in_text(&String::from_utf8_lossy(&bytes), name));
    found.next()
}

/// The value of the last `alias NAME=…` in a text.
fn in_text(text: &str, name: &str) -> Option<String> {
    let of_line = |line: &str| {
        let words = line.trim_start().strip_prefix("alias ")?;
        let rest = words.trim_start().strip_prefix(name)?.strip_prefix('=')?;
        value(rest)
    };
    text.lines().rev().find_map(of_line)
}

/// A shell word without its quotes; `None` if it continues on the next line.
fn value(written: &str) -> Option<String> {
    let mut value = String::new();
    let mut chars = written.chars();
    while let Some(ch) = chars.next() {
        match ch {
            '\'' => loop {
                match chars.next()? {
                    '\'' => break,
                    plain => value.push(plain),
                }
            },
            '"' => loop {
                match chars.next()? {
                    '"' => break,
                    '\\' => value.push(chars.next()?),
                    plain => value.push(plain),
                }
            },
            '\\' => value.push(chars.next()?),
            ' ' | '\t' | ';' | '#' | '&' => break,
            plain => value.push(plain),
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_read_as_shells_write_them() {
        let text = "alias k=kubectl\n  alias gp='git push --force' # mine\nalias q=\"say \\\"x\\\"\"\nalias two='it'\\''s'\n\
                    alias k=oc; ls\nalias open='x\n# alias no=yes\nunalias k";
        for (name, value) in [
            ("k", Some("oc")),
            ("gp", Some("git push --force")),
            ("q", Some("say \"x\"")),
            ("two", Some("it's")),
            ("open", None),
            ("no", None),
            ("", None),
        ] {
            assert_eq!(in_text(text, name).as_deref(), value, "{name}");
        }
    }
}
