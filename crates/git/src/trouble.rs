//! Problems of an existing repository that cannot be read: git, or a check of its files, then fails to see unsaved
//! work.

use crate::files::config;
use crate::files::index;
use crate::model::fact::Unknown;
use std::path::Path;

/// A problem of a repository, with a command that fixes it or shows more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The reason why git or this reader cannot read it.
    pub reason: String,
    /// A command for a person or an agent.
    pub mend: &'static str,
}

/// The depth of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Its settings and the header of its index: cheap enough to run for each overwritten file.
    Quick,
    /// All of its index.
    Full,
}

/// Reasons that only apply to this reader: git can read the repository.
const ONLY_OURS: [Unknown; 2] = [index::SPARSE, config::NO_FILES];

/// Entries that mark a folder as an intended git folder, even if git would reject it.
const REMAINS: [&str; 6] = ["HEAD", "objects", "refs", "index", "config", "packed-refs"];

/// Checks a `.git` that git skips, or at which it fails, although it was meant for a repository.
pub(crate) fn remains_of_one(dot_git: &Path) -> Option<Unknown> {
    let metadata = dot_git.symlink_metadata().ok()?;
    match dot_git.metadata() {
        Ok(found) if found.is_dir() => {
            let entries = std::fs::read_dir(dot_git);
            let has_some = REMAINS.iter().any(|name| dot_git.join(name).symlink_metadata().is_ok());
            (entries.is_err() || has_some).then_some(Unknown("the .git folder is damaged"))
        }
        Ok(found) if found.is_file() => Some(NO_REPOSITORY),
        Ok(_) => Some(Unknown("`.git` is neither a folder nor a file")),
        Err(_) => metadata.is_symlink().then_some(Unknown("`.git` is a link that leads nowhere")),
    }
}

/// A `.git` file without a repository as its target.
pub(crate) const NO_REPOSITORY: Unknown = Unknown("the .git file leads to no repository");

/// Describes a reason for people; `None` if only this reader is affected.
pub fn told(reason: Unknown) -> Option<Trouble> {
    trouble_of("the repository", &reason)
}

/// Describes a reason for a part of the repository, which is named if the reason may be about any file.
pub(crate) fn trouble_of(what: &str, reason: &Unknown) -> Option<Trouble> {
    if ONLY_OURS.contains(reason) {
        return None;
    }
    let Unknown(text) = *reason;
    let reason = match text {
        "a file cannot be read" => format!("{what} cannot be read"),
        "not a regular file" => format!("{what} is not a regular file"),
        "a file is too large" => format!("{what} is too large to be read"),
        other => other.to_owned(),
    };
    let has = |word: &str| reason.contains(word);
    let mend = match () {
        () if has(".git file") => "git worktree repair",
        () if has("index") => "git fsck, then let a person rebuild the index from HEAD",
        () if has("format") || has("extension") || has("configuration") => "git config --list --show-origin",
        () => "git fsck",
    };
    Some(Trouble { reason, mend })
}
