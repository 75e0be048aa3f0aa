//! What the machine knows: asked only when a condition needs it. A question may stay unanswered.

use crate::budget::Spent;
use crate::event::Event;
use crate::latency::Tick;
use crate::loopbreaker::Step;
use crate::path::{is_within, parent};
use crate::remnant::Remnant;
use std::collections::BTreeMap;

/// An answer, or that it is not known.
pub type Known<T> = Option<T>;

/// Where a path really leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Real {
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
pub const MOST_CONTENT: usize = 1024 * 1024;

/// The machine as facts. Paths are absolute; answers are bounded, and what lies beyond the bounds is not known.
pub trait World {
    /// Where a path leads. With `follow` a link at its end is followed too.
    fn real(&self, path: &str, follow: bool) -> Real;
    /// The paths that fit an absolute pattern of the shell; not known where there are too many to look at.
    fn expand(&self, pattern: &str) -> Known<Vec<String>>;
    /// Whether names that differ only in case are the same file.
    fn folds_case(&self) -> bool;
    /// The names of files and links in a folder, an archive or a commit, from its root on; not known where there are too
    /// many, or where it cannot be read.
    fn names_of(&self, source: NamesOf<'_>) -> Known<Vec<String>>;
    /// What stands in a regular file of text, links followed; nothing for what is no such file or larger than
    /// [`MOST_CONTENT`] bytes.
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
    /// How many commits would be reachable from nowhere without this local branch.
    fn only_on(&self, path: &str, branch: &str) -> Known<usize>;
    /// How many stashes there are.
    fn stashes(&self, path: &str) -> Known<usize>;
    /// Branches that this repository protects besides those everybody protects.
    fn protected(&self, path: &str) -> Vec<String>;
    /// A clock to measure by; it stands still where nothing is measured.
    fn clock(&self) -> Tick;
    /// What earlier calls of the session left behind.
    fn remnants(&self) -> Vec<Remnant>;
    /// What the session has used with this call, which starts these programs; asked only where a person set a budget.
    fn spent(&self, event: &Event, started: &mut dyn Iterator<Item = &str>) -> Spent;
    /// Whether the file or folder was made in the session.
    fn is_of_session(&self, path: &str) -> Known<bool>;
    /// How old the file is beside the session.
    fn age(&self, path: &str) -> Known<Age>;
}

/// What a file has from the time before its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Age {
    /// It was there when the session began.
    pub is_older: bool,
    /// Nobody has written to it since.
    pub is_untouched: bool,
}

/// A world that is only supposed: what `eval` and the tests judge in. What is not given is not known.
#[derive(Debug, Clone, Default)]
pub struct Supposed {
    /// The project's root; git facts are about it.
    pub workspace: String,
    /// The git facts, if any are given.
    pub git: Option<SupposedGit>,
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
    /// Links and where they lead; relative ones begin at the project's root.
    pub links: BTreeMap<String, String>,
    /// Paths at which nothing is.
    pub missing: Vec<String>,
    /// Files of the guard.
    pub guard: Vec<String>,
    /// Files and what stands in them; relative ones begin at the project's root.
    pub files: BTreeMap<String, String>,
    /// Aliases of the shell (`k`) and of programs (`git co`), and what they stand for.
    pub aliases: BTreeMap<String, String>,
    /// Whether names that differ only in case are the same file.
    pub folds_case: bool,
    /// The calls of the session before.
    pub past: Vec<Step>,
    /// What earlier calls of the session left behind.
    pub remnants: Vec<Remnant>,
    /// The ids of calls that wait for a person.
    pub waiting: Vec<String>,
}

/// Git facts that are given. Paths are relative to the project's root; what is not listed is tracked and unchanged.
#[derive(Debug, Clone, Default)]
pub struct SupposedGit {
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// Tracked files with changes.
    pub dirty: Vec<String>,
    /// Files that are not tracked.
    pub untracked: Vec<String>,
    /// Folders and files that are ignored.
    pub ignored: Vec<String>,
    /// Protected branches.
    pub protected: Vec<String>,
    /// Commits that exist on no remote.
    pub unpushed: Option<usize>,
    /// Stashes.
    pub stashes: Option<usize>,
    /// Why the repository cannot be read; what else is given is then not known.
    pub unreadable: Option<String>,
}

impl Supposed {
    fn readable(&self) -> Option<&SupposedGit> {
        self.git.as_ref().filter(|git| git.unreadable.is_none())
    }

    fn relative<'p>(&self, path: &'p str) -> Option<&'p str> {
        if !is_within(path, &self.workspace) {
            return None;
        }
        path.get(self.workspace.trim_end_matches('/').len()..).map(|rest| rest.trim_start_matches('/'))
    }

    fn names(&self, path: &str, of: impl Fn(&SupposedGit) -> Vec<String>) -> Known<Names> {
        let git = self.readable()?;
        let Some(relative) = self.relative(path) else { return Some(Names::default()) };
        let is_meant = |name: &String| {
            let name = name.trim_end_matches('/');
            relative.is_empty() || is_within(name, relative) || is_within(relative, name)
        };
        let names: Vec<String> = of(git).into_iter().filter(is_meant).collect();
        Some(Names { count: names.len(), names, more: false })
    }

    /// Where a path leads if it is a link; links to links up to eight.
    fn followed(&self, mut path: String) -> String {
        for _ in 0..8 {
            let Some((_, target)) = self.links.iter().find(|(link, _)| self.absolute_link(link) == path) else { break };
            path = crate::path::absolute(target, parent(&path));
        }
        path
    }

    fn absolute_link(&self, link: &str) -> String {
        crate::path::absolute(link, &self.workspace)
    }
}

impl World for Supposed {
    fn real(&self, path: &str, follow: bool) -> Real {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let mut real = String::from("/");
        for (index, part) in parts.iter().enumerate() {
            real = crate::path::absolute(part, &real);
            let last = index + 1 == parts.len();
            if follow || !last {
                real = self.followed(real);
            }
        }
        let missing = self.missing.iter().any(|gone| is_within(&real, &self.absolute_link(gone)));
        Real { path: real, exists: Some(!missing), is_folder: None }
    }

    fn expand(&self, _pattern: &str) -> Known<Vec<String>> {
        None
    }

    fn folds_case(&self) -> bool {
        self.folds_case
    }

    /// An archive that is supposed has its names for a text, one a line; so has a commit, as the file `git:WORD`.
    fn names_of(&self, source: NamesOf<'_>) -> Known<Vec<String>> {
        let lines = |text: String| text.lines().map(str::to_owned).collect();
        match source {
            NamesOf::Archive(path) => self.content(path).map(lines),
            NamesOf::Commit { word, .. } => self.files.get(&format!("git:{word}")).cloned().map(lines),
            NamesOf::Folder(folder) => {
                let files = self.files.keys().map(|file| self.absolute_link(file));
                let below = files.filter_map(|file| {
                    let inner = is_within(&file, folder).then(|| file.get(folder.len()..))??;
                    Some(inner.trim_start_matches('/').to_owned())
                });
                let names: Vec<String> = below.filter(|name| !name.is_empty()).collect();
                (!names.is_empty()).then_some(names)
            }
        }
    }

    fn content(&self, path: &str) -> Option<String> {
        let real = self.real(path, true).path;
        let file = self.files.iter().find(|(file, _)| self.absolute_link(file) == real);
        file.map(|(_, text)| text.clone()).filter(|text| text.len() <= MOST_CONTENT)
    }

    fn is_too_large(&self, path: &str) -> bool {
        let real = self.real(path, true).path;
        self.files.iter().any(|(file, text)| self.absolute_link(file) == real && text.len() > MOST_CONTENT)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn alias(&self, program: &str, name: &str) -> Option<String> {
        let key = if program.is_empty() { name.to_owned() } else { format!("{program} {name}") };
        self.aliases.get(&key).cloned()
    }

    fn temporary(&self) -> Vec<String> {
        ["/tmp", "/private/tmp", "/var/tmp", "/var/folders"].map(String::from).to_vec()
    }

    fn past(&self, _now: &Step) -> Vec<Step> {
        self.past.clone()
    }

    fn guard(&self) -> Vec<String> {
        self.guard.clone()
    }

    fn waiting(&self) -> Vec<String> {
        self.waiting.clone()
    }

    fn is_guard_program(&self, _path: &str) -> bool {
        false
    }

    fn program(&self, _name: &str) -> Option<String> {
        None
    }

    fn work_tree(&self, _path: &str) -> Option<String> {
        Some(self.workspace.clone())
    }

    fn unreadable(&self, path: &str, _look: Look) -> Option<Unreadable> {
        let reason = self.git.as_ref()?.unreadable.clone()?;
        self.relative(path).map(|_| Unreadable { reason, mend: "git status".into() })
    }

    fn has_one_of(&self, _folder: &str, _names: &[&str]) -> Known<bool> {
        Some(true)
    }

    fn is_tracked(&self, path: &str) -> Known<bool> {
        let git = self.readable()?;
        let Some(relative) = self.relative(path) else { return Some(false) };
        let mut untracked = git.untracked.iter().chain(&git.ignored);
        Some(!untracked.any(|name| is_within(relative, name.trim_end_matches('/'))))
    }

    fn is_ignored(&self, path: &str) -> Known<bool> {
        let git = self.readable()?;
        let relative = self.relative(path)?;
        let listed = git.ignored.iter().any(|name| is_within(relative, name.trim_end_matches('/')));
        // Without git facts the usual build folders count as ignored; with them only what is listed does.
        Some(listed)
    }

    fn uncommitted(&self, path: &str) -> Known<Names> {
        self.names(path, |git| git.dirty.clone())
    }

    fn unstaged(&self, path: &str) -> Known<Names> {
        self.names(path, |git| git.dirty.clone())
    }

    fn untracked(&self, path: &str, which: Untracked) -> Known<Names> {
        self.names(path, |git| match which {
            Untracked::Ordinary => git.untracked.clone(),
            Untracked::Ignored => git.ignored.clone(),
            Untracked::All => git.untracked.iter().chain(&git.ignored).cloned().collect(),
        })
    }

    fn submodules(&self, _path: &str) -> Vec<String> {
        Vec::new()
    }

    fn branch(&self, _path: &str) -> Known<Option<String>> {
        self.readable().map(|git| git.branch.clone())
    }

    fn names_commit(&self, _path: &str, word: &str) -> Known<bool> {
        let git = self.readable()?;
        let is_branch =
            word == "HEAD" || git.branch.as_deref() == Some(word) || git.protected.iter().any(|name| name == word);
        // A file that is listed is meant, other words are branches in nearly every case.
        Some(is_branch || !git.dirty.iter().any(|name| is_within(name, word)))
    }

    fn only_on(&self, _path: &str, _branch: &str) -> Known<usize> {
        self.readable()?.unpushed
    }

    fn stashes(&self, _path: &str) -> Known<usize> {
        self.readable()?.stashes
    }

    fn protected(&self, _path: &str) -> Vec<String> {
        self.readable().map(|git| git.protected.clone()).unwrap_or_default()
    }

    fn clock(&self) -> Tick {
        Tick::default()
    }

    fn remnants(&self) -> Vec<Remnant> {
        self.remnants.clone()
    }

    fn spent(&self, _event: &Event, _started: &mut dyn Iterator<Item = &str>) -> Spent {
        Spent::default()
    }

    fn is_of_session(&self, _path: &str) -> Known<bool> {
        None
    }

    /// What git is said to lack was there before.
    fn age(&self, path: &str) -> Known<Age> {
        let relative = self.relative(path)?;
        let git = self.readable()?;
        let listed = git.untracked.iter().chain(&git.dirty).chain(&git.ignored).any(|name| name == relative);
        listed.then_some(Age { is_older: true, is_untouched: true })
    }
}
