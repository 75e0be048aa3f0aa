//! A cheap check before a file in a repository is overwritten: whether the repository looks as git creates it. Any
//! other repository is examined in detail.

use crate::files::config::user_files;
use crate::files::index;
use crate::files::read;
use std::path::Path;

/// Maximum size of plain settings in bytes.
const MAX_SETTINGS: u64 = 64 * 1024;

/// Words in settings that may redirect git, or that not every version of git knows.
const NOT_PLAIN: [&[u8]; 4] = [b"worktree", b"include", b"extensions", b"\\"];

/// Whether the repository with its `.git` folder here has no problem for certain. A false result proves nothing.
pub fn is_plain(root: &Path, home: &Path) -> bool {
    let git_dir = root.join(".git");
    let folder = |name: &str| git_dir.join(name).is_dir();
    let head = read::file(&git_dir.join("HEAD"), 4096).ok().flatten().unwrap_or_default();
    head.starts_with(b"ref: refs/heads/")
        && folder("objects")
        && folder("refs")
        && git_dir.join("commondir").symlink_metadata().is_err()
        && has_plain_settings(&git_dir.join("config"))
        && git_dir.join("info/exclude").metadata().map_or(true, |rules| rules.is_file())
        && index::begins_well(&git_dir.join("index")).is_ok()
        && user_files(home).iter().all(|file| has_plain_settings(file))
        && std::env::vars_os().all(|(name, _)| !name.as_encoded_bytes().starts_with(b"GIT_"))
}

fn has_plain_settings(file: &Path) -> bool {
    match read::file(file, MAX_SETTINGS) {
        Ok(None) => true,
        Ok(Some(text)) => text.split(|byte| *byte == b'\n').all(|line| is_plain_line(line.trim_ascii())),
        Err(_) => false,
    }
}

/// Accepts a blank line, a comment, a section header, or a name with an unquoted value.
fn is_plain_line(line: &[u8]) -> bool {
    if NOT_PLAIN.iter().any(|word| holds(line, word)) {
        return false;
    }
    match line {
        [] | [b'#' | b';', ..] => true,
        [b'[', name @ .., b']'] => is_plain_head(name),
        _ => {
            let Some(at) = line.iter().position(|byte| *byte == b'=') else { return false };
            let (name, value) = line.split_at(at);
            let (name, value) = (name.trim_ascii(), value.get(1..).unwrap_or_default().trim_ascii());
            is_name(name) && !value.iter().any(|byte| b"\"#;".contains(byte)) && is_plain_value(name, value)
        }
    }
}

/// Accepts `core`, or `remote "origin"`.
fn is_plain_head(head: &[u8]) -> bool {
    let Some(at) = head.iter().position(|byte| *byte == b' ') else { return is_name(head) };
    let (name, below) = head.split_at(at);
    let below = below.get(1..).and_then(|below| below.strip_prefix(b"\"")).and_then(|below| below.strip_suffix(b"\""));
    is_name(name) && below.is_some_and(|below| !below.iter().any(|byte| b"\"[]".contains(byte)))
}

fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_alphabetic)
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

fn is_plain_value(name: &[u8], value: &[u8]) -> bool {
    match () {
        () if name.eq_ignore_ascii_case(b"bare") => value == b"false",
        () if name.eq_ignore_ascii_case(b"repositoryformatversion") => value == b"0",
        () => true,
    }
}

fn holds(line: &[u8], word: &[u8]) -> bool {
    line.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, plain: bool) {
        assert_eq!(is_plain_line(line.as_bytes()), plain, "{line}");
    }

    #[test]
    fn what_git_writes_by_itself_is_plain() {
        for line in [
            "",
            "[core]",
            "repositoryformatversion = 0",
            "filemode = true",
            "bare = false",
            "logallrefupdates = true",
            "[remote \"origin\"]",
            "url = git@github.com:owner/name.git",
            "fetch = +refs/heads/*:refs/remotes/origin/*",
            "[branch \"feature/x-1\"]",
            "# a comment",
        ] {
            check(line, true);
        }
    }

    #[test]
    fn what_may_mean_something_else_is_not() {
        for line in [
            "bare = true",
            "BARE=1",
            "bare",
            "repositoryformatversion = 1",
            "[core] bare = true",
            "[extensions]",
            "worktree = /tmp",
            "WorkTree = x",
            "[include]",
            "[includeIf \"gitdir:x\"]",
            "path = a\\",
            "name = \"a",
            "[core",
            "garbage \u{1}",
            "[remote \"a\"b\"]",
        ] {
            check(line, false);
        }
    }
}
