//! Ignore rules, and the files that git does not track.

use crate::files::config;
use crate::files::effort::Effort;
use crate::files::index::Index;
use crate::files::read::{self, Budget};
use crate::files::scope::{Scope, joined, levels};
use crate::model::fact::{Fact, Unknown};
use crate::model::found::Found;
use crate::model::question::Ignored;
use crate::repository::Repository;
use crate::system::{bytes, native};
use gix_glob::pattern::Case;
use gix_ignore::Search;
use std::fs::FileType;
use std::path::{Path, PathBuf};

const MAXIMUM_BYTES: u64 = 4 * 1024 * 1024;

const UNREADABLE: Unknown = Unknown("a folder cannot be listed");

/// Untracked files (and links, and nested repositories as one name each) in the scope.
pub(crate) fn untracked(repository: &Repository, scope: &Scope, ignored: Ignored) -> Fact<Found> {
    let mut listing =
        Listing { rules: Rules::new(repository)?, index: repository.index()?, scope, ignored, found: Found::default() };
    let search = listing.folder(b"", false);
    listing.found.break_off(search);
    Ok(listing.found)
}

/// Whether an ignore rule matches an untracked path or a folder above it.
fn is_ignored(repository: &Repository, path: &[u8], named_as_folder: bool) -> Fact<bool> {
    let index = repository.index()?;
    if path.is_empty() || index.covers(path) {
        return Ok(false);
    }
    let mut rules = Rules::new(repository)?;
    for level in levels(path) {
        if level.is_empty() {
            rules.enter(level)?;
            continue;
        }
        let metadata = std::fs::symlink_metadata(rules.root.join(native(level))).ok();
        let is_last = level.len() == path.len();
        let exists_as_folder = metadata.as_ref().is_some_and(std::fs::Metadata::is_dir);
        let is_link = metadata.is_some_and(|metadata| metadata.is_symlink());
        if !is_last && (is_link || index.is_submodule(level)) {
            return Err(Unknown("the path is below a link or in a submodule"));
        }
        if rules.exclude(level, !is_last || exists_as_folder || (named_as_folder && !is_link))? {
            return Ok(true);
        }
        if !is_last {
            rules.enter(level)?;
        }
    }
    Ok(false)
}

impl Repository {
    /// Whether the path is untracked and matched by an ignore rule, as in `git check-ignore`.
    pub fn is_ignored(&self, path: &Path) -> Fact<bool> {
        is_ignored(self, &self.relative(path)?, bytes(path.as_os_str()).ends_with(b"/"))
    }
}

/// Whether a folder is empty. One that cannot be listed counts as not empty.
pub(crate) fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// The state of a folder's entry.
struct Known {
    /// Whether it is in the index.
    tracked: bool,
    /// Whether it is in an ignored folder.
    all_ignored: bool,
}

struct Listing<'a> {
    rules: Rules<'a>,
    index: &'a Index,
    scope: &'a Scope,
    ignored: Ignored,
    found: Found,
}

impl Listing<'_> {
    fn folder(&mut self, directory: &[u8], all_ignored: bool) -> Fact<()> {
        let outer_rules = self.rules.enter(directory)?;
        let inner = if self.scope.includes(directory) {
            self.listed(directory, all_ignored)
        } else {
            self.on_the_way(directory, all_ignored)
        };
        self.rules.leave(outer_rules);
        inner
    }

    fn listed(&mut self, directory: &[u8], all_ignored: bool) -> Fact<()> {
        let Ok(listing) = std::fs::read_dir(self.rules.root.join(native(directory))) else {
            // The folder itself is reported, since it may contain anything.
            self.add(directory, all_ignored);
            return Ok(());
        };
        let entries = self.index.below(directory);
        let shared = if directory.is_empty() { 0 } else { directory.len() + 1 };
        for entry in listing {
            self.rules.budget.list()?;
            let entry = entry.map_err(|_| UNREADABLE)?;
            let kind = entry.file_type().map_err(|_| UNREADABLE)?;
            let path = joined(directory, &bytes(&entry.file_name()));
            if entry.file_name() != ".git" {
                let tracked = self.index.has_entry_below(&entries, shared, &path);
                self.entry(&path, kind, Known { tracked, all_ignored })?;
            }
        }
        Ok(())
    }

    /// Visits only those entries of a folder that lead to paths in the scope: the folder may contain any number of
    /// others.
    fn on_the_way(&mut self, directory: &[u8], all_ignored: bool) -> Fact<()> {
        for path in self.scope.next_below(directory) {
            self.rules.budget.list()?;
            let found = std::fs::symlink_metadata(self.rules.root.join(native(path)));
            match found {
                Ok(found) => {
                    let tracked = self.index.has_entry(path);
                    self.entry(path, found.file_type(), Known { tracked, all_ignored })?;
                }
                Err(error) if read::is_missing(&error) => {}
                Err(_) => self.found.break_off(Err(UNREADABLE)),
            }
        }
        Ok(())
    }

    /// Git ignores pipes, sockets and devices.
    fn entry(&mut self, path: &[u8], kind: FileType, Known { tracked, all_ignored }: Known) -> Fact<()> {
        if kind.is_dir() {
            return if tracked { Ok(()) } else { self.inner_folder(path, all_ignored) };
        }
        if !tracked && (kind.is_file() || kind.is_symlink()) && self.scope.includes(path) {
            let ignored = all_ignored || self.rules.exclude(path, false)?;
            self.add(path, ignored);
        }
        Ok(())
    }

    fn inner_folder(&mut self, path: &[u8], all_ignored: bool) -> Fact<()> {
        let ignored = all_ignored || self.rules.exclude(path, true)?;
        if ignored && self.ignored == Ignored::Without {
            return Ok(());
        }
        let tracked_below = !self.index.below(path).is_empty();
        if !tracked_below && self.is_repository(path) {
            self.add(path, ignored);
            return Ok(());
        }
        if ignored && !tracked_below && self.scope.includes(path) && !self.is_empty(path) {
            // One name for the entire folder: a dependency folder may have more files than the limit.
            self.add(path, ignored);
            return Ok(());
        }
        self.folder(path, ignored)
    }

    fn is_empty(&self, path: &[u8]) -> bool {
        is_empty(&self.rules.root.join(native(path)))
    }

    fn is_repository(&self, path: &[u8]) -> bool {
        let full = self.rules.root.join(native(path));
        let has_marker = std::fs::symlink_metadata(full.join(".git")).is_ok();
        has_marker && !matches!(Repository::at(&full, &self.rules.repository.home), Ok(None))
    }

    fn add(&mut self, path: &[u8], ignored: bool) {
        if path.is_empty() {
            return self.found.break_off(Err(UNREADABLE));
        }
        let asked = match self.ignored {
            Ignored::Without => !ignored,
            Ignored::With => true,
            Ignored::Only => ignored,
        };
        if asked && self.scope.includes(path) {
            self.found.add(path);
        }
    }
}

/// The rules that apply in one folder, strongest last.
struct Rules<'a> {
    repository: &'a Repository,
    root: &'a Path,
    search: Search,
    effort: Effort,
    budget: Budget,
    case: Case,
}

impl<'a> Rules<'a> {
    /// Loads the user's rules and the repository's own. Folders add theirs when entered.
    fn new(repository: &'a Repository) -> Fact<Self> {
        let settings = repository.settings()?;
        let root = repository.checked_out()?;
        let user = settings.path("core", "excludesfile", root);
        let user = Some(user.unwrap_or_else(|| config::user_directory(&repository.home).join("ignore")));
        let info_file = repository.common_dir.join("info/exclude");
        let case = match settings.boolean("core", "ignorecase") {
            Some(true) => Case::Fold,
            _ => Case::Sensitive,
        };
        let (search, effort, budget) = (Search::default(), Effort::default(), Budget::new());
        let mut rules = Rules { repository, root, search, effort, budget, case };
        for file in [user, Some(info_file)].into_iter().flatten() {
            if let Some(content) = read::file(&file, MAXIMUM_BYTES)? {
                rules.add(&content, file, None)?;
            }
        }
        Ok(rules)
    }

    /// Adds a folder's own rules. The result is for [`leave`](Self::leave).
    fn enter(&mut self, directory: &[u8]) -> Fact<(usize, Effort)> {
        let before = (self.search.patterns.len(), self.effort.clone());
        let name = joined(directory, b".gitignore");
        let file = self.root.join(native(&name));
        match read::file_not_link(&file, MAXIMUM_BYTES)? {
            Some(content) => self.add(&content, file, Some(self.root))?,
            None if self.is_left_out(&name)? => {
                return Err(Unknown("a file with ignore rules is not checked out"));
            }
            None => {}
        }
        Ok(before)
    }

    fn leave(&mut self, (patterns, effort): (usize, Effort)) {
        self.search.patterns.truncate(patterns);
        self.effort = effort;
    }

    fn exclude(&self, path: &[u8], is_folder: bool) -> Fact<bool> {
        self.effort.spend(path, &self.budget)?;
        let found = self.search.pattern_matching_relative_path(path.into(), Some(is_folder), self.case);
        Ok(found.is_some_and(|found| !found.pattern.is_negative()))
    }

    fn add(&mut self, content: &[u8], source: PathBuf, root: Option<&Path>) -> Fact<()> {
        self.effort.add(content)?;
        let added = self.search.add_patterns_buffer(content, source, root, Default::default());
        added.map_err(|_| Unknown("the ignore rules cannot be parsed"))
    }

    fn is_left_out(&self, name: &[u8]) -> Fact<bool> {
        let index = self.repository.index()?;
        let entry = index.position(name).and_then(|position| index.entries().get(position));
        Ok(entry.is_some_and(|entry| entry.flags.contains(gix_index::entry::Flags::SKIP_WORKTREE)))
    }
}
