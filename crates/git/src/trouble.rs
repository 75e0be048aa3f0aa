//! What is wrong with a repository that is there and cannot be read: git, or whoever looks at its files, then does not
//! see what is work.

use crate::files::config;
use crate::files::index;
use crate::model::fact::Unknown;
use std::path::Path;

/// What is wrong with a repository, and what mends it or shows more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What keeps git or us from reading it.
    pub reason: String,
    /// A command for a person or an agent.
    pub mend: &'static str,
}

/// How closely a repository is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Its settings, and the beginning of its index: cheap enough for each file that is written over.
    Quick,
    /// All of its index.
    Whole,
}

/// Why git reads what we do not: it is no trouble of the repository.
const ONLY_OURS: [Unknown; 2] = [index::SPARSE, config::NO_FILES];

/// What of a git folder shows that one was meant, though git would not take it for one.
const REMAINS: [&str; 6] = ["HEAD", "objects", "refs", "index", "config", "packed-refs"];

/// A `.git` on the way to the repository that git passes over, or at which it gives up, though it was meant for one.
pub(crate) fn remains_of_one(dot_git: &Path) -> Option<Unknown> {
    let there = dot_git.symlink_metadata().ok()?;
    match dot_git.metadata() {
        Ok(found) if found.is_dir() => {
            let entries = std::fs::read_dir(dot_git);
            let has_some = REMAINS.iter().any(|name| dot_git.join(name).symlink_metadata().is_ok());
            (entries.is_err() || has_some).then_some(Unknown("the .git folder is damaged"))
        }
        Ok(found) if found.is_file() => Some(NO_REPOSITORY),
        Ok(_) => Some(Unknown("`.git` is neither a folder nor a file")),
        Err(_) => there.is_symlink().then_some(Unknown("`.git` is a link that leads nowhere")),
    }
}

/// A `.git` file that names no repository.
pub(crate) const NO_REPOSITORY: Unknown = Unknown("the .git file leads to no repository");

/// In words for whoever is asked; none for what only this reader cannot read.
pub fn told(reason: Unknown) -> Option<Trouble> {
    told_of("the repository", &reason)
}

/// The same for a part of it, which is named where the reason tells of any file.
pub(crate) fn told_of(what: &str, reason: &Unknown) -> Option<Trouble> {
    if ONLY_OURS.contains(reason) {
        return None;
    }
    let Unknown(text) = *reason;
    let reason = match text {
        "a file cannot be read" => format!("{what} cannot be read"),
        "not a regular file" => format!("{what} is no regular file"),
        "a file is too large" => format!("{what} is too large to be read"),
        other => other.to_owned(),
    };
    let tells = |word: &str| reason.contains(word);
    let mend = match () {
        () if tells(".git file") => "git worktree repair",
        () if tells("index") => "git fsck, then let a person rebuild the index from HEAD",
        () if tells("format") || tells("extension") || tells("configuration") => "git config --list --show-origin",
        () => "git fsck",
    };
    Some(Trouble { reason, mend })
}
