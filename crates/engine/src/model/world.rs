//! What the machine knows: asked only when a condition needs it. A question may stay unanswered.

use crate::model::event::Event;
use crate::model::latency::Tick;
use crate::model::session::{SessionUsage, Step, Taint};
use std::collections::BTreeSet;

/// An answer, or that it is not known.
pub type Known<T> = Option<T>;

/// Where a path really leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The path with its links followed.
    pub path: String,
    /// Whether something is there.
    pub exists: Known<bool>,
    /// Whether a folder is there.
    pub is_folder: Known<bool>,
}

/// Names of what would be lost: some of them, and how many there are, or at least are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// The first few, relative to the work tree.
    pub names: Vec<String>,
    /// All that were found.
    pub count: usize,
    /// Whether not everything could be looked at: there are then at least `count`.
    pub more: bool,
}

impl Names {
    /// These and others.
    #[must_use]
    pub fn and(mut self, others: Names) -> Names {
        self.names.extend(others.names);
        Names { names: self.names, count: self.count + others.count, more: self.more || others.more }
    }

    /// Whether there is any. What could not all be looked at within the bounds may hold one and is taken for it: a bound
    /// that is reached never lets anything pass.
    pub fn any(&self) -> bool {
        self.count > 0 || self.more
    }
}

/// What lies in a folder, as far down as was asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// Its files and links; of a path that is a file that one, without a name.
    pub files: Vec<Surveyed>,
    /// Whether all of it was seen: nothing lies deeper, and there is no more than was looked at.
    pub is_whole: bool,
}

/// A file or link of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surveyed {
    /// From the folder on.
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// It was made and last written in this session.
    pub is_new: bool,
}

/// Which files that git does not track are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untracked {
    /// Those that are not ignored.
    Ordinary,
    /// Those that are ignored.
    Ignored,
    /// Both.
    All,
}

/// More names than these are not listed; of more it is not known what they are.
pub const MAX_LISTED: usize = 4096;

/// What has names of files in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamesOf<'a> {
    /// A folder of this machine: absolute.
    Folder(&'a str),
    /// An archive (tar, zip, cpio) of this machine: absolute.
    Archive(&'a str),
    /// A commit, by the repository around a folder and a word that names it.
    Commit {
        /// The folder, absolute.
        at: &'a str,
        /// `HEAD`, a branch, a tag.
        word: &'a str,
    },
}

/// Why git, or whoever looks at its files, cannot tell what is work in a repository that is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unreadable {
    /// What is wrong with it.
    pub reason: String,
    /// The command that mends it or shows more.
    pub mend: String,
}

/// How closely a repository is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// As far as costs nearly nothing: for each file that is written over.
    Quick,
    /// As far as whoever discards work must know.
    Whole,
}

/// Files larger than this are no scripts that people write; their content is not known.
pub const MAX_CONTENT: usize = 1024 * 1024;

/// What a file has from the time before its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Age {
    /// It was there when the session began.
    pub is_older: bool,
    /// Nobody has written to it since.
    pub is_untouched: bool,
}

/// The machine as facts. Paths are absolute; answers are bounded, and what lies beyond the bounds is not known.
pub trait World {
    /// Where a path leads. With `follow` a link at its end is followed too.
    fn real(&self, path: &str, follow: bool) -> ResolvedPath;
    /// The paths that fit an absolute pattern of the shell; not known where there are too many to look at.
    fn expand(&self, pattern: &str) -> Known<Vec<String>>;
    /// Whether names that differ only in case are the same file.
    fn folds_case(&self) -> bool;
    /// The names of files and links in a folder, an archive or a commit, from its root on; not known where there are too
    /// many, or where it cannot be read.
    fn names_of(&self, source: NamesOf<'_>) -> Known<Vec<String>>;
    /// What lies at a path and so many folders below it, the top first; not known where it cannot be read.
    fn survey(&self, path: &str, depth: usize) -> Known<Survey>;
    /// The first bytes of a regular file, no more than a few hundred.
    fn opening(&self, path: &str) -> Option<Vec<u8>>;
    /// What stands in a regular file of text, links followed; nothing for what is no such file or larger than
    /// [`MAX_CONTENT`] bytes.
    fn content(&self, path: &str) -> Option<String>;
    /// Whether a file of text is larger than that: what it says is not known because of that alone.
    fn is_too_large(&self, path: &str) -> bool;
    /// What stood in a file before the call: what it holds, unless the call has run already.
    fn content_before(&self, path: &str) -> Option<String> {
        self.content(path)
    }
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// What the user has named so: an alias of a program (`git`), or of the shell where that is empty.
    fn alias(&self, program: &str, name: &str) -> Option<String>;
    /// Folders for temporary files.
    fn temporary(&self) -> Vec<String>;
    /// The calls of the session before this one, oldest first, if one of them has to do with this one; else none.
    fn past(&self, now: &Step) -> Vec<Step>;

    /// Files of the guard itself: its binary, configuration and state.
    fn guard(&self) -> Vec<String>;
    /// Settings files with hook entries that are links from their usual place, with the links followed.
    fn hook_files(&self) -> Vec<String> {
        Vec::new()
    }
    /// The ids of calls that were refused and wait for a person.
    fn waiting(&self) -> Vec<String> {
        Vec::new()
    }
    /// Whether the file is the guard's own program: the same file, or a copy of it.
    fn is_guard_program(&self, path: &str) -> bool;
    /// Where a program of this name is found that is started without a path.
    fn program(&self, name: &str) -> Option<String>;
    /// The root of the git work tree in which the path lies.
    fn work_tree(&self, path: &str) -> Option<String>;
    /// What is wrong with the repository to which the path belongs: it is there, and cannot be read. None where it can,
    /// and where there is none.
    fn unreadable(&self, path: &str, look: Look) -> Option<Unreadable>;
    /// Whether one of these names lies in the folder.
    fn has_one_of(&self, folder: &str, names: &[&str]) -> Known<bool>;
    /// Whether git tracks the path or something below it.
    fn is_tracked(&self, path: &str) -> Known<bool>;
    /// Whether git ignores the path.
    fn is_ignored(&self, path: &str) -> Known<bool>;
    /// Tracked files at or below the path whose content is in no commit.
    fn uncommitted(&self, path: &str) -> Known<Names>;
    /// Tracked files at or below the path that differ from the index.
    fn unstaged(&self, path: &str) -> Known<Names>;
    /// Files at or below the path that git does not track.
    fn untracked(&self, path: &str, which: Untracked) -> Known<Names>;
    /// Submodules at or below the path that are checked out: each is a work tree of its own.
    fn submodules(&self, path: &str) -> Vec<String>;
    /// The branch that is checked out where the path lies; `None` inside if none is.
    fn branch(&self, path: &str) -> Known<Option<String>>;
    /// Whether a word names a commit where the path lies: a branch, a tag, HEAD.
    fn names_commit(&self, path: &str, word: &str) -> Known<bool>;
    /// How many commits nothing would lead to any more if this reference was deleted, or moved to what `onto` names: by its
    /// full name, with `*` at its end for all that begin so, or `HEAD` for the branch that it names.
    fn orphaned(&self, path: &str, reference: &str, onto: &str) -> Known<usize>;
    /// How many stashes there are.
    fn stashes(&self, path: &str) -> Known<usize>;
    /// Branches that this repository protects besides those everybody protects.
    fn protected(&self, path: &str) -> Vec<String>;
    /// A clock to measure by; it stands still where nothing is measured.
    fn clock(&self) -> Tick;
    /// What earlier calls of the session left behind.
    fn remnants(&self) -> Vec<Taint>;
    /// What the session has used with this call, which starts these programs; asked only where a person set a budget.
    fn spent(&self, event: &Event, started: &mut dyn Iterator<Item = &str>) -> SessionUsage;
    /// Whether the file or folder was made in the session.
    fn is_of_session(&self, path: &str) -> Known<bool>;
    /// The files that calls of the session wrote, as far as their text tells which.
    fn written(&self) -> BTreeSet<String>;
    /// How old the file is beside the session.
    fn age(&self, path: &str) -> Known<Age>;
}
