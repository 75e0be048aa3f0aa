//! A repository on disk, discovered from a folder. Its settings and index are read on first use.

use crate::files::config::{Folders, Settings};
use crate::files::index::Index;
use crate::files::read;
use crate::files::scope::{Scope, levels, plain_below, slashed};
use crate::model::fact::{BEYOND_LINK, Fact, IN_GIT_FOLDER, NO_WORK_TREE, OUTSIDE, UNRESOLVED, Unknown};
use crate::model::question::Survey;
use crate::system::{bytes, native};
use crate::trouble::{NO_REPOSITORY, Trouble, remains_of_one};
use reflex_work as work;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A repository on disk. Its configuration and index are read once, on first use.
#[derive(Debug)]
pub struct Repository {
    pub(crate) work_tree: Option<PathBuf>,
    /// The folder that contains this `.git`; `None` for a bare repository.
    pub(crate) found_in: Option<PathBuf>,
    pub(crate) is_bare: bool,
    pub(crate) git_dir: PathBuf,
    pub(crate) common_dir: PathBuf,
    pub(crate) home: PathBuf,
    format: Fact<gix_hash::Kind>,
    pub(crate) worktree_configuration: Fact<bool>,
    settings: OnceLock<Fact<Settings>>,
    index: OnceLock<Fact<Arc<Index>>>,
    /// The first path that was asked about, and the part of the index about it, if that could be read alone.
    excerpt: OnceLock<(Vec<u8>, Option<Index>)>,
    pub(crate) survey: Survey,
    /// Folders below the work tree, and whether their contents belong to it.
    own_folders: RefCell<BTreeMap<Vec<u8>, bool>>,
    /// The last folder known to belong to this work tree: consecutive paths are often in the same folder.
    owned: RefCell<Option<Vec<u8>>>,
    has_submodules: OnceLock<bool>,
    pub(crate) quick_trouble: OnceCell<Option<Trouble>>,
    pub(crate) full_trouble: OnceCell<Option<Trouble>>,
}

/// The result of the search upward from a folder.
pub struct Search {
    /// The repository that git would use.
    pub repository: Option<Repository>,
    /// The nearest folder with a `.git` that is not a valid repository, and the reason.
    pub damaged: Option<(PathBuf, Unknown)>,
}

impl Repository {
    /// Searches upward from `start`, or from its nearest existing ancestor if it does not exist. `home` is the user's
    /// home with their git settings. It is not taken from the environment, which may name a folder of the repository
    /// with an `ignore` of its own.
    pub fn discover(start: &Path, home: &Path) -> Option<Repository> {
        Self::search(start, home).repository
    }

    /// As [`Repository::discover`], with the damaged repository on the way, if any.
    pub fn search(start: &Path, home: &Path) -> Search {
        let mut damaged = None;
        for directory in nearest_existing(start).iter().flat_map(|start| start.ancestors()) {
            let damage = |reason: Unknown| (directory.to_owned(), reason);
            match Self::at(directory, home) {
                Ok(Some(repository)) => return Search { repository: Some(repository), damaged },
                Ok(None) => {
                    damaged = damaged.or_else(|| remains_of_one(&directory.join(".git")).map(damage));
                }
                Err(reason) => return Search { repository: None, damaged: damaged.or_else(|| Some(damage(reason))) },
            }
        }
        Search { repository: None, damaged }
    }

    /// The folder with the checked-out files; `None` for a bare repository or inside the git folder.
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

    /// Folders at or below the path with a checked-out submodule, at most `limit`.
    pub fn submodules(&self, path: &Path, limit: usize) -> Fact<Vec<PathBuf>> {
        let is_submodule = |entry: &gix_index::Entry| entry.mode == gix_index::entry::Mode::COMMIT;
        let index = self.index()?;
        if !*self.has_submodules.get_or_init(|| index.entries().iter().any(is_submodule)) {
            return Ok(Vec::new());
        }
        let (root, scope) = (self.checked_out()?, self.scope(&[path.to_owned()])?);
        let links = index.within(&scope).filter(|entry| is_submodule(entry));
        let folders = links.map(|entry| root.join(native(index.path(entry))));
        Ok(folders.filter(|folder| folder.join(".git").symlink_metadata().is_ok()).take(limit).collect())
    }

    /// Whether any index entry is this path or lies below it.
    pub fn is_tracked(&self, path: &Path) -> Fact<bool> {
        let path = self.relative(path)?;
        Ok(self.index_about(&path)?.covers(&path))
    }

    /// The object ids of a path in the index, each followed by a space; empty if untracked.
    pub fn staged_as(&self, path: &Path) -> String {
        let path = bytes(path.as_os_str());
        let entries = self.index().map(|index| index.within(&Scope(vec![path.to_vec()])).collect::<Vec<_>>());
        entries.unwrap_or_default().iter().map(|entry| format!("{} ", entry.id)).collect()
    }

    /// The repository whose `.git` (or whose bare folder) is exactly here. A `.git` file with an invalid target is an
    /// error, as in git: the search must not continue to an outer repository.
    pub(crate) fn at(directory: &Path, home: &Path) -> Result<Option<Self>, Unknown> {
        let dot_git = directory.join(".git");
        match std::fs::metadata(&dot_git) {
            Ok(found) if found.is_dir() && is_git_dir(&dot_git) => {
                return Ok(Some(Self::open(dot_git, Some(directory), home)));
            }
            Ok(found) if found.is_file() => {
                let target = link_target(&dot_git, b"gitdir:").filter(|target| is_git_dir(target));
                let target = target.ok_or(NO_REPOSITORY)?;
                return Ok(Some(Self::open(target, Some(directory), home)));
            }
            _ => {}
        }
        Ok(is_git_dir(directory).then(|| Self::open(directory.to_path_buf(), None, home)))
    }

    fn open(git_dir: PathBuf, found_in: Option<&Path>, home: &Path) -> Self {
        let common_dir = common_dir_of(&git_dir);
        let local = Settings::of_repository(Folders { git_dir: &git_dir, common_dir: &common_dir, home });
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
            home: home.to_owned(),
            format,
            worktree_configuration,
            settings: OnceLock::new(),
            index: OnceLock::new(),
            excerpt: OnceLock::new(),
            survey: Survey::default(),
            own_folders: RefCell::default(),
            owned: RefCell::default(),
            has_submodules: OnceLock::new(),
            quick_trouble: OnceCell::new(),
            full_trouble: OnceCell::new(),
        }
    }

    /// The value of a git alias in the user's or the repository's configuration.
    pub fn alias(&self, name: &str) -> Option<String> {
        let settings = match self.settings() {
            Ok(settings) => settings,
            Err(reason) => {
                work::cut(|| format!("git's aliases are not known: {}", reason.0));
                return None;
            }
        };
        // The lookup scans all values.
        work::spend(settings.count() as u64 / 32);
        settings.text("alias", None, name).map(|text| String::from_utf8_lossy(text).into_owned())
    }

    pub(crate) fn settings(&self) -> Fact<&Settings> {
        let load = || {
            let folders = Folders { git_dir: &self.git_dir, common_dir: &self.common_dir, home: &self.home };
            Settings::of_user_and_repository(folders, self.worktree_configuration.clone()?)
        };
        self.settings.get_or_init(load).as_ref().map_err(Clone::clone)
    }

    pub(crate) fn index(&self) -> Fact<&Index> {
        let load = || Index::load(&self.git_dir, self.object_hash()?).map(Arc::new);
        self.index.get_or_init(load).as_deref().map_err(Clone::clone)
    }

    /// The index, or only its entries for one path and for attributes files. Most calls ask about one file.
    pub(crate) fn index_about(&self, path: &[u8]) -> Fact<&Index> {
        if self.index.get().is_some() || path.is_empty() {
            return self.index();
        }
        let hash = self.object_hash()?;
        let (known, index) = self.excerpt.get_or_init(|| (path.to_vec(), Index::about(&self.git_dir, hash, path)));
        index.as_ref().filter(|_| known == path).map_or_else(|| self.index(), Ok)
    }

    pub(crate) fn object_hash(&self) -> Fact<gix_hash::Kind> {
        self.format.clone()
    }

    pub(crate) fn checked_out(&self) -> Fact<&Path> {
        self.work_tree.as_deref().ok_or(NO_WORK_TREE)
    }

    pub(crate) fn scope(&self, paths: &[PathBuf]) -> Fact<Scope> {
        let paths: Vec<Vec<u8>> = paths.iter().map(|path| self.relative(path)).collect::<Fact<_>>()?;
        paths.iter().try_for_each(|path| self.is_of_this_work_tree(path))?;
        let includes_root = paths.iter().any(Vec::is_empty);
        Ok(Scope(if includes_root { Vec::new() } else { paths }))
    }

    /// Fails for a path outside this work tree: an empty answer would read as "clean".
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
        for level in levels(path).into_iter().filter(|level| !level.is_empty() && level.len() < path.len()) {
            if !self.is_own_folder(root, level, path)? {
                return Err(BEYOND_LINK);
            }
        }
        *self.owned.borrow_mut() = above.map(<[u8]>::to_vec);
        Ok(())
    }

    /// Whether a folder above a path belongs to this work tree.
    fn is_own_folder(&self, root: &Path, folder: &[u8], path: &[u8]) -> Fact<bool> {
        if let Some(known) = self.own_folders.borrow().get(folder) {
            return Ok(*known);
        }
        let full = root.join(native(folder));
        let inner = full.join(".git").symlink_metadata().is_ok() || self.index_about(path)?.is_submodule(folder);
        let is_own = !inner && !full.is_symlink();
        self.own_folders.borrow_mut().insert(folder.to_vec(), is_own);
        Ok(is_own)
    }

    /// The slash-separated path below the work tree; empty for the work tree itself.
    pub(crate) fn relative(&self, path: &Path) -> Fact<Vec<u8>> {
        let root = self.checked_out()?;
        if let Some(below) = plain_below(&bytes(path.as_os_str()), &bytes(root.as_os_str())) {
            return Ok(below.to_vec());
        }
        let full = root.join(path);
        let climbs = path.components().any(|part| part == Component::ParentDir);
        if !climbs && let Ok(below) = full.strip_prefix(root) {
            return Ok(slashed(below));
        }
        // The last component is not followed: the link itself is the target.
        let resolved = match (full.parent(), full.file_name()) {
            (Some(parent), Some(name)) => resolve(parent).map(|parent| parent.join(name)),
            _ => resolve(&full),
        };
        let resolved = resolved.ok_or(UNRESOLVED)?;
        let below = resolved.strip_prefix(root).map_err(|_| OUTSIDE)?;
        Ok(slashed(below))
    }
}

fn nearest_existing(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let existing = path.ancestors().find_map(|ancestor| ancestor.canonicalize().ok())?;
    let directory = if existing.is_dir() { Some(existing.as_path()) } else { existing.parent() };
    directory.map(Path::to_path_buf)
}

/// Resolves links in the existing part of a path. The rest must not contain `..`.
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
    file.parent()?.join(native(named)).canonicalize().ok()
}
