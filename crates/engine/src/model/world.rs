//! The machine as a source of facts. Facts are queried only when a condition needs them, and a query may have no
//! answer.

use crate::model::affected::Affected;
use crate::model::event::Event;
use crate::model::latency::Tick;
use crate::model::session::{SessionUsage, Step, Taint};
use std::collections::BTreeSet;

/// An answer; `None` if unknown.
pub type Known<T> = Option<T>;

/// A path after symlink resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The path with its symlinks followed.
    pub path: String,
    /// Whether the path exists.
    pub exists: Known<bool>,
    /// Whether the path is a folder.
    pub is_folder: Known<bool>,
}

/// Names that would be lost: a sample and the total number, or a lower bound of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// The first few, relative to the work tree.
    pub names: Vec<String>,
    /// Number of names found.
    pub count: usize,
    /// Whether the search was incomplete, so that `count` is a lower bound.
    pub more: bool,
}

impl Names {
    /// Returns the union of both.
    #[must_use]
    pub fn and(mut self, others: Names) -> Names {
        self.names.extend(others.names);
        Names { names: self.names, count: self.count + others.count, more: self.more || others.more }
    }

    /// Whether any name exists. An incomplete search counts as a hit: reaching a bound never lets a call pass.
    pub fn any(&self) -> bool {
        self.count > 0 || self.more
    }
}

impl From<Names> for Affected<Names> {
    fn from(names: Names) -> Affected<Names> {
        if names.any() { Affected::These(names) } else { Affected::Nothing }
    }
}

impl Affected<Names> {
    /// Returns the union. It is unknown if one of both is.
    pub fn and(self, others: Affected<Names>) -> Affected<Names> {
        match (self, others) {
            (Affected::Unknown, _) | (_, Affected::Unknown) => Affected::Unknown,
            (Affected::Nothing, set) | (set, Affected::Nothing) => set,
            (Affected::These(names), Affected::These(others)) => Affected::These(names.and(others)),
        }
    }
}

/// The contents of a folder down to the requested depth.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// Its files and symlinks; for a path that is a file, that file with an empty name.
    pub files: Vec<Surveyed>,
    /// Whether the survey is complete: no deeper folders and no files beyond the bound.
    pub is_complete: bool,
}

/// A file or symlink in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surveyed {
    /// Path relative to the folder.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Whether it was created and last written in this session.
    pub is_new: bool,
}

/// Selects the files that git does not track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untracked {
    /// Files that are not ignored.
    Ordinary,
    /// Files that are ignored.
    Ignored,
    /// Both.
    All,
}

/// Maximum number of names that are listed; a larger set is unknown.
pub const MAX_LISTED: usize = 4096;

/// A source of file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamesOf<'a> {
    /// A folder of this machine; an absolute path.
    Folder(&'a str),
    /// An archive (tar, zip, cpio) of this machine; an absolute path.
    Archive(&'a str),
    /// A commit: the repository that contains a folder, and a revision.
    Commit {
        /// The folder; an absolute path.
        at: &'a str,
        /// The revision: `HEAD`, a branch, a tag.
        word: &'a str,
    },
}

/// The reason why git, or code that reads its files, cannot identify the work in an existing repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unreadable {
    /// The defect.
    pub reason: String,
    /// The command that repairs it or shows more.
    pub mend: String,
}

/// The depth of a check of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Only checks of negligible cost: for each file that is overwritten.
    Quick,
    /// Every check that discarding work requires.
    Full,
}

/// Maximum size in bytes of a file whose content is read; larger files are not hand-written scripts.
pub const MAX_CONTENT: usize = 1024 * 1024;

/// The state of a file relative to the start of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Age {
    /// Whether it existed when the session began.
    pub is_older: bool,
    /// Whether it has not been written since.
    pub is_untouched: bool,
}

/// The files of the machine, without what git knows about them.
pub trait Files {
    /// Resolves a path. With `follow`, a symlink as the last component is followed too.
    fn real(&self, path: &str, follow: bool) -> ResolvedPath;
    /// Returns the paths that match an absolute shell pattern; unknown if it takes too many to examine.
    fn expand(&self, pattern: &str) -> Affected<Vec<String>>;
    /// Whether names that differ only in case are the same file.
    fn folds_case(&self) -> bool;
    /// Returns the names of files and symlinks in a folder, an archive or a commit, relative to its root; unknown if
    /// the list is too long or the source cannot be read.
    fn names_of(&self, source: NamesOf<'_>) -> Affected<Vec<String>>;
    /// Returns the contents of a path down to `depth` levels of folders, the top first; unknown if it cannot be read.
    fn survey(&self, path: &str, depth: usize) -> Known<Survey>;
    /// Returns the first bytes of a regular file, at most a few hundred.
    fn opening(&self, path: &str) -> Option<Vec<u8>>;
    /// Returns the content of a regular text file, symlinks followed; `None` for any other file and above
    /// [`MAX_CONTENT`] bytes.
    fn content(&self, path: &str) -> Option<String>;
    /// Whether a text file exceeds [`MAX_CONTENT`] and has an unknown content for that reason alone.
    fn is_too_large(&self, path: &str) -> bool;
    /// Returns the content of a file before the call: its current content, unless the call has already run.
    fn content_before(&self, path: &str) -> Option<String> {
        self.content(path)
    }
    /// Whether the folder contains one of these names.
    fn has_one_of(&self, folder: &str, names: &[&str]) -> Known<bool>;
}

/// The git repositories of the machine.
pub trait Git {
    /// Returns the root of the git work tree that contains the path.
    fn work_tree(&self, path: &str) -> Option<String>;
    /// Returns the defect of the repository that contains the path; `None` if it can be read or if the path is in no
    /// repository.
    fn unreadable(&self, path: &str, look: Look) -> Option<Unreadable>;
    /// Whether git tracks the path or a path below it.
    fn is_tracked(&self, path: &str) -> Known<bool>;
    /// Whether git ignores the path.
    fn is_ignored(&self, path: &str) -> Known<bool>;
    /// Returns the tracked files at or below the path whose content is in no commit.
    fn uncommitted(&self, path: &str) -> Affected<Names>;
    /// Returns the tracked files at or below the path that differ from the index.
    fn unstaged(&self, path: &str) -> Affected<Names>;
    /// Returns the files at or below the path that git does not track.
    fn untracked(&self, path: &str, which: Untracked) -> Affected<Names>;
    /// Returns the checked-out submodules at or below the path; each is a work tree of its own.
    fn submodules(&self, path: &str) -> Vec<String>;
    /// Returns the branch that is checked out at the path; the inner `None` means that none is.
    fn branch(&self, path: &str) -> Known<Option<String>>;
    /// Whether a word names a commit in the repository of the path: a branch, a tag, HEAD.
    fn names_commit(&self, path: &str, word: &str) -> Known<bool>;
    /// Returns the number of commits that become unreachable if this reference is deleted, or moved to `onto`. The
    /// reference is a full name, with a trailing `*` for all names with that prefix, or `HEAD` for the branch that it
    /// names.
    fn orphaned(&self, path: &str, reference: &str, onto: &str) -> Known<usize>;
    /// Returns the number of stashes.
    fn stashes(&self, path: &str) -> Known<usize>;
    /// Returns the branches that this repository protects in addition to the default ones.
    fn protected(&self, path: &str) -> Vec<String>;
}

/// The session of the call: its earlier calls, and what they did to files.
pub trait Session {
    /// Returns the earlier calls of the session, oldest first, if one of them relates to this one; else an empty list.
    fn past(&self, now: &Step) -> Vec<Step>;
    /// Returns the remnants of earlier calls of the session.
    fn remnants(&self) -> Vec<Taint>;
    /// Returns the ids of refused calls that wait for approval.
    fn waiting(&self) -> Vec<String> {
        Vec::new()
    }
    /// Returns the session's usage including this call, which starts these programs; queried only if a person set a
    /// budget.
    fn spent(&self, event: &Event, started: &mut dyn Iterator<Item = &str>) -> SessionUsage;
    /// Returns the files that calls of the session wrote, as far as their text shows it.
    fn written(&self) -> BTreeSet<String>;
    /// Whether the file or folder was created in the session.
    fn is_of_session(&self, path: &str) -> Known<bool>;
    /// Returns the age of the file relative to the session.
    fn age(&self, path: &str) -> Known<Age>;
}

/// The files of the guard, and those in which agents start it.
pub trait GuardFiles {
    /// Returns the files of the guard itself: its binary, configuration and state.
    fn guard(&self) -> Vec<String>;
    /// Returns the resolved paths of settings files with hook entries whose usual path is a symlink.
    fn hook_files(&self) -> Vec<String> {
        Vec::new()
    }
    /// Whether the file is the guard's own program: the same file, or a copy of it.
    fn is_guard_program(&self, path: &str) -> bool;
}

/// The programs of the machine, and their environment.
pub trait Environment {
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// Returns the names of all environment variables, as far as they are known.
    fn variables(&self) -> Vec<String> {
        Vec::new()
    }
    /// Returns the definition of a user's alias: of a program (`git`), or of the shell if `program` is empty.
    fn alias(&self, program: &str, name: &str) -> Option<String>;
    /// Returns the path of a program that is started by its bare name.
    fn program(&self, name: &str) -> Option<String>;
    /// Returns the folders for temporary files.
    fn temporary(&self) -> Vec<String>;
    /// Returns the current time for measurements; a clock that does not measure never advances.
    fn clock(&self) -> Tick;
}

/// The machine as facts. Paths are absolute. Answers are bounded; facts beyond the bounds are unknown.
///
/// Code that needs only one subject takes only that one: a `&dyn World` is also a `&dyn Git`.
pub trait World: Files + Git + Session + GuardFiles + Environment {}

impl<W: Files + Git + Session + GuardFiles + Environment> World for W {}
