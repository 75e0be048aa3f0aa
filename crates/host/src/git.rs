//! Facts about a git repository, read without starting git.
//!
//! A hostile repository runs code through git itself (filters, monitors, hooks), so nothing here
//! starts a process: files are read, bounds are counted, and whatever cannot be had within them is
//! an [`Unknown`], which must never be taken for "clean".

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

mod attributes;
mod config;
mod direction;
mod effort;
mod history;
mod ignore;
mod index;
mod listing;
mod objects;
mod plain;
mod read;
mod references;
mod staged;
mod survey;
mod trouble;
mod unstaged;

/// The content of a regular file of at most `limit` bytes, links followed; nothing is ever waited for.
pub(crate) fn regular_file(path: &Path, limit: usize) -> Option<Vec<u8>> {
    read::file(path, limit as u64).ok().flatten()
}

use config::Settings;
use index::Index;
pub(crate) use plain::is_plain;
use reflex_engine::shell::work;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use survey::{Question, Survey};
pub(crate) use trouble::told;
pub use trouble::{Look, Trouble};

/// Why a fact could not be had (too many files, unsupported format, unreadable …).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown(pub &'static str);

/// Why a repository does not answer about a path: it is about others.
const ELSEWHERE: [Unknown; 5] = [NO_WORK_TREE, IN_GIT_FOLDER, BEHIND_LINK, UNRESOLVED, OUTSIDE];

const NO_WORK_TREE: Unknown = Unknown("the repository has no work tree");
const IN_GIT_FOLDER: Unknown = Unknown("the path lies in the git folder");
const BEHIND_LINK: Unknown = Unknown("the path lies behind a link or in another repository");
const UNRESOLVED: Unknown = Unknown("the path cannot be resolved");
const OUTSIDE: Unknown = Unknown("the path is outside the work tree");

impl Unknown {
    /// Whether the path is none of the repository's, so that nothing hides from it there.
    pub(crate) fn is_elsewhere(&self) -> bool {
        ELSEWHERE.contains(self)
    }
}

/// A fact, or why it is unknown.
pub type Fact<T> = Result<T, Unknown>;

/// Paths relative to the work tree, sorted; `names` is cut at the limit that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The first names.
    pub names: Vec<PathBuf>,
    /// How many there are in all.
    pub count: usize,
    /// False when some files could not be judged or looked at: `count`, which may be 0, is then "at least".
    pub complete: bool,
}

/// Which untracked files to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ignored {
    /// Only files that no ignore rule matches.
    Without,
    /// Ignored files as well.
    With,
    /// Only ignored files.
    Only,
}

/// A repository found on disk; configuration and index are read once, when first needed.
#[derive(Debug)]
pub struct Repository {
    work_tree: Option<PathBuf>,
    /// The folder whose `.git` this is; none where a bare one was found itself.
    found_in: Option<PathBuf>,
    is_bare: bool,
    git_dir: PathBuf,
    common_dir: PathBuf,
    format: Fact<gix_hash::Kind>,
    worktree_configuration: Fact<bool>,
    settings: OnceLock<Fact<Settings>>,
    index: OnceLock<Fact<Arc<Index>>>,
    survey: Survey,
    /// Folders below the work tree, and whether what lies in them belongs to it.
    own: RefCell<BTreeMap<Vec<u8>, bool>>,
    /// The folder that was last asked about and is all of this work tree: many paths lie in the same.
    owned: RefCell<Option<Vec<u8>>>,
    has_submodules: OnceLock<bool>,
    quick_trouble: OnceCell<Option<Trouble>>,
    whole_trouble: OnceCell<Option<Trouble>>,
}

/// What is found on the way upward from a folder.
pub(crate) struct Search {
    /// The repository that git would take.
    pub repository: Option<Repository>,
    /// The nearest folder whose `.git` was meant for a repository and is none, and why.
    pub damaged: Option<(PathBuf, Unknown)>,
}

impl Repository {
    /// Walks upward from `start`, or from its nearest existing ancestor if it does not exist.
    pub fn discover(start: &Path) -> Option<Repository> {
        Self::search(start).repository
    }

    /// The same with what is damaged on the way.
    pub(crate) fn search(start: &Path) -> Search {
        let mut damaged = None;
        for directory in nearest_existing(start).iter().flat_map(|start| start.ancestors()) {
            let told = |reason: Unknown| (directory.to_owned(), reason);
            match Self::at(directory) {
                Ok(Some(repository)) => return Search { repository: Some(repository), damaged },
                Ok(None) => {
                    damaged = damaged.or_else(|| trouble::remains_of_one(&directory.join(".git")).map(told));
                }
                Err(reason) => return Search { repository: None, damaged: damaged.or_else(|| Some(told(reason))) },
            }
        }
        Search { repository: None, damaged }
    }

    /// The folder with the checked-out files; none for a bare repository or inside the git folder.
    pub fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_deref()
    }

    /// The git folder of this work tree.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git folder that all work trees of the repository share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Tracked files at or below `scope` (empty: all) that differ from the index or whose index
    /// entry differs from HEAD.
    pub fn uncommitted(&self, scope: &[PathBuf], limit: usize) -> Fact<Names> {
        self.survey.ask(self, Question::Uncommitted, &self.scope(scope)?, limit)
    }

    /// Tracked files at or below `scope` (empty: all) that differ from the index: what
    /// `git checkout -- .` loses.
    pub fn unstaged(&self, scope: &[PathBuf], limit: usize) -> Fact<Names> {
        self.survey.ask(self, Question::Unstaged, &self.scope(scope)?, limit)
    }

    /// Untracked files at or below `scope` (empty: all). A nested repository counts as one name, and so does a folder
    /// that is ignored as a whole.
    pub fn untracked(&self, scope: &[PathBuf], ignored: Ignored, limit: usize) -> Fact<Names> {
        self.survey.ask(self, Question::Untracked(ignored), &self.scope(scope)?, limit)
    }

    /// Folders at or below the path in which a submodule is checked out; at most `limit`.
    pub fn submodules(&self, path: &Path, limit: usize) -> Fact<Vec<PathBuf>> {
        let is_submodule = |entry: &gix_index::Entry| entry.mode == gix_index::entry::Mode::COMMIT;
        let index = self.index()?;
        if !*self.has_submodules.get_or_init(|| index.entries().iter().any(is_submodule)) {
            return Ok(Vec::new());
        }
        let (root, scope) = (self.checked_out()?, self.scope(&[path.to_owned()])?);
        let links = index.within(&scope).filter(|entry| is_submodule(entry));
        let folders = links.map(|entry| root.join(OsStr::from_bytes(index.path(entry))));
        Ok(folders.filter(|folder| folder.join(".git").symlink_metadata().is_ok()).take(limit).collect())
    }

    /// Whether any index entry is this path or lies below it.
    pub fn is_tracked(&self, path: &Path) -> Fact<bool> {
        let path = self.relative(path)?;
        Ok(self.index()?.covers(&path))
    }

    /// The objects that stand for a path in the index; empty for none.
    pub(crate) fn staged_as(&self, path: &Path) -> String {
        let path = path.as_os_str().as_bytes();
        let entries = self.index().map(|index| index.within(&Scope(vec![path.to_vec()])).collect::<Vec<_>>());
        entries.unwrap_or_default().iter().map(|entry| format!("{} ", entry.id)).collect()
    }

    /// Whether the path is untracked and matched by an ignore rule, as `git check-ignore` says.
    pub fn is_ignored(&self, path: &Path) -> Fact<bool> {
        ignore::is_ignored(self, &self.relative(path)?, path.as_os_str().as_bytes().ends_with(b"/"))
    }

    /// The repository whose `.git` (or whose bare folder) is exactly here. A `.git` file that leads
    /// nowhere is an error, as it is for git: the search must not go on to an outer repository.
    fn at(directory: &Path) -> Result<Option<Self>, Unknown> {
        let dot_git = directory.join(".git");
        match std::fs::metadata(&dot_git) {
            Ok(found) if found.is_dir() && is_git_dir(&dot_git) => {
                return Ok(Some(Self::open(dot_git, Some(directory))));
            }
            Ok(found) if found.is_file() => {
                let target = link_target(&dot_git, b"gitdir:").filter(|target| is_git_dir(target));
                let target = target.ok_or(trouble::NO_REPOSITORY)?;
                return Ok(Some(Self::open(target, Some(directory))));
            }
            _ => {}
        }
        Ok(is_git_dir(directory).then(|| Self::open(directory.to_path_buf(), None)))
    }

    fn open(git_dir: PathBuf, found_in: Option<&Path>) -> Self {
        let common_dir = common_dir_of(&git_dir);
        let local = Settings::of_repository(&git_dir, &common_dir);
        let format = local.as_ref().map_err(Clone::clone).and_then(Settings::object_hash);
        let worktree_configuration = local.as_ref().map(Settings::worktree_configuration).map_err(Clone::clone);
        let work_tree = found_in.and_then(|directory| match &local {
            Ok(settings) if common_dir == git_dir => settings.work_tree(&git_dir, directory),
            _ => Some(directory.to_path_buf()),
        });
        let is_bare = common_dir == git_dir && local.is_ok_and(|settings| settings.is_bare());
        Repository {
            work_tree,
            found_in: found_in.map(Path::to_path_buf),
            is_bare,
            git_dir,
            common_dir,
            format,
            worktree_configuration,
            settings: OnceLock::new(),
            index: OnceLock::new(),
            survey: Survey::default(),
            own: RefCell::default(),
            owned: RefCell::default(),
            has_submodules: OnceLock::new(),
            quick_trouble: OnceCell::new(),
            whole_trouble: OnceCell::new(),
        }
    }

    /// What the user's or the repository's configuration says a subcommand of git stands for.
    pub fn alias(&self, name: &str) -> Option<String> {
        let settings = match self.settings() {
            Ok(settings) => settings,
            Err(reason) => {
                work::cut(|| format!("git's aliases are not known: {}", reason.0));
                return None;
            }
        };
        // Each name that is asked for is looked for among all values.
        work::spend(settings.count() as u64 / 32);
        settings.text("alias", None, name).map(|text| String::from_utf8_lossy(text).into_owned())
    }

    fn settings(&self) -> Fact<&Settings> {
        let load = || Settings::of_user_and_repository(self);
        self.settings.get_or_init(load).as_ref().map_err(Clone::clone)
    }

    fn index(&self) -> Fact<&Index> {
        let load = || Index::load(self).map(Arc::new);
        self.index.get_or_init(load).as_deref().map_err(Clone::clone)
    }

    fn object_hash(&self) -> Fact<gix_hash::Kind> {
        self.format.clone()
    }

    fn checked_out(&self) -> Fact<&Path> {
        self.work_tree.as_deref().ok_or(NO_WORK_TREE)
    }

    fn scope(&self, paths: &[PathBuf]) -> Fact<Scope> {
        let paths: Vec<Vec<u8>> = paths.iter().map(|path| self.relative(path)).collect::<Fact<_>>()?;
        paths.iter().try_for_each(|path| self.is_of_this_work_tree(path))?;
        let whole = paths.iter().any(Vec::is_empty);
        Ok(Scope(if whole { Vec::new() } else { paths }))
    }

    /// An answer about a path elsewhere would be "nothing", which reads as "clean".
    fn is_of_this_work_tree(&self, path: &[u8]) -> Fact<()> {
        let root = self.checked_out()?;
        let above = path.iter().rposition(|byte| *byte == b'/').and_then(|slash| path.get(..slash));
        let is_known = self.owned.borrow().as_deref().is_some_and(|owned| Some(owned) == above);
        if is_known && !path.ends_with(b"/.git") {
            return Ok(());
        }
        if path.split(|byte| *byte == b'/').any(|part| part == b".git") {
            return Err(IN_GIT_FOLDER);
        }
        for level in attributes::levels(path).into_iter().filter(|level| !level.is_empty() && level.len() < path.len())
        {
            if !self.is_own_folder(root, level)? {
                return Err(BEHIND_LINK);
            }
        }
        *self.owned.borrow_mut() = above.map(<[u8]>::to_vec);
        Ok(())
    }

    fn is_own_folder(&self, root: &Path, folder: &[u8]) -> Fact<bool> {
        if let Some(known) = self.own.borrow().get(folder) {
            return Ok(*known);
        }
        let full = root.join(OsStr::from_bytes(folder));
        let inner = full.join(".git").symlink_metadata().is_ok() || self.index()?.is_submodule(folder);
        let own = !inner && !full.is_symlink();
        self.own.borrow_mut().insert(folder.to_vec(), own);
        Ok(own)
    }

    /// The slash-separated path below the work tree; empty for the work tree itself.
    fn relative(&self, path: &Path) -> Fact<Vec<u8>> {
        let root = self.checked_out()?;
        if let Some(below) = plain_below(path.as_os_str().as_bytes(), root.as_os_str().as_bytes()) {
            return Ok(below.to_vec());
        }
        let whole = root.join(path);
        let climbs = path.components().any(|part| part == Component::ParentDir);
        if !climbs && let Ok(below) = whole.strip_prefix(root) {
            return Ok(slashed(below));
        }
        // The last component itself is not followed: a link is a thing of its own.
        let resolved = match (whole.parent(), whole.file_name()) {
            (Some(parent), Some(name)) => resolve(parent).map(|parent| parent.join(name)),
            _ => resolve(&whole),
        };
        let resolved = resolved.ok_or(UNRESOLVED)?;
        let below = resolved.strip_prefix(root).map_err(|_| OUTSIDE)?;
        Ok(slashed(below))
    }
}

/// The paths a question is limited to; none means the whole work tree.
struct Scope(Vec<Vec<u8>>);

impl Scope {
    fn includes(&self, path: &[u8]) -> bool {
        self.0.is_empty() || self.0.iter().any(|chosen| is_at_or_below(path, chosen))
    }

    /// Whether a folder is in the scope or on the way to it.
    fn reaches(&self, directory: &[u8]) -> bool {
        self.includes(directory) || self.0.iter().any(|chosen| is_at_or_below(chosen, directory))
    }

    /// What lies in a folder above chosen paths and leads to them.
    fn next_below(&self, directory: &[u8]) -> std::collections::BTreeSet<&[u8]> {
        let shared = if directory.is_empty() { 0 } else { directory.len() + 1 };
        let below = self.0.iter().filter(|chosen| chosen.len() > shared && is_at_or_below(chosen, directory));
        let next = |chosen: &[u8]| chosen.iter().skip(shared).position(|byte| *byte == b'/');
        below.filter_map(|chosen| chosen.get(..next(chosen).map_or(chosen.len(), |at| shared + at))).collect()
    }
}

fn is_at_or_below(path: &[u8], top: &[u8]) -> bool {
    top.is_empty() || path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Paths gathered for an answer, why some could not be judged, and why there may be others.
#[derive(Debug, Clone, Default)]
struct Found {
    names: std::collections::BTreeSet<Vec<u8>>,
    unclear: BTreeMap<Vec<u8>, Unknown>,
    broken_off: Option<Unknown>,
}

impl Found {
    fn add(&mut self, path: &[u8]) {
        self.names.insert(path.to_vec());
    }

    fn add_unclear(&mut self, path: &[u8], reason: &'static str) {
        self.unclear.insert(path.to_vec(), Unknown(reason));
    }

    /// What was found stays true when the search for more ends early.
    fn break_off(&mut self, search: Fact<()>) {
        self.broken_off = self.broken_off.take().or(search.err());
    }

    /// With nothing certain found, an unclear file makes the whole answer unknown. A search that was broken off is one
    /// that found at least so many.
    fn finish(mut self, limit: usize) -> Fact<Names> {
        let (count, complete) = (self.names.len(), self.unclear.is_empty() && self.broken_off.is_none());
        match self.unclear.pop_last() {
            Some((_, reason)) if count == 0 && self.broken_off.is_none() => Err(reason),
            _ => {
                let first = self.names.iter().take(limit);
                let mut names: Vec<PathBuf> = first.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect();
                names.sort();
                Ok(Names { names, count, complete })
            }
        }
    }
}

/// What an absolute path has below the root, if every part of that is a name: thousands of paths may be asked about.
fn plain_below<'a>(path: &'a [u8], root: &[u8]) -> Option<&'a [u8]> {
    let below = path.strip_prefix(root)?.strip_prefix(b"/")?;
    below.split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b"..")).then_some(below)
}

fn slashed(path: &Path) -> Vec<u8> {
    let parts: Vec<&[u8]> = path.iter().map(OsStr::as_bytes).filter(|part| *part != b".").collect();
    parts.join(&b'/')
}

fn joined(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let parts: &[&[u8]] = if directory.is_empty() { &[name] } else { &[directory, name] };
    parts.join(&b'/')
}

fn nearest_existing(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let existing = path.ancestors().find_map(|ancestor| ancestor.canonicalize().ok())?;
    let directory = if existing.is_dir() { Some(existing.as_path()) } else { existing.parent() };
    directory.map(Path::to_path_buf)
}

/// Follows the links of the part that exists; the rest must not climb.
fn resolve(path: &Path) -> Option<PathBuf> {
    let (top, existing) = path.ancestors().find_map(|top| Some((top, top.canonicalize().ok()?)))?;
    let rest = path.strip_prefix(top).ok()?;
    rest.components().all(|part| matches!(part, Component::Normal(_))).then(|| existing.join(rest))
}

fn is_git_dir(directory: &Path) -> bool {
    let common = common_dir_of(directory);
    let head = read::file(&directory.join("HEAD"), 4096).ok().flatten().unwrap_or_default();
    let points = head.starts_with(b"ref:") || gix_hash::ObjectId::from_hex(head.trim_ascii()).is_ok();
    points && common.join("objects").is_dir() && common.join("refs").is_dir()
}

fn common_dir_of(git_dir: &Path) -> PathBuf {
    link_target(&git_dir.join("commondir"), b"").unwrap_or_else(|| git_dir.to_path_buf())
}

/// The existing folder that a small file names after `prefix`, relative to the file's own folder.
fn link_target(file: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let content = read::file(file, 16 * 1024).ok().flatten()?;
    let named = content.strip_prefix(prefix)?.trim_ascii();
    file.parent()?.join(OsStr::from_bytes(named)).canonicalize().ok()
}
