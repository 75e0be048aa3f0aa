//! A hypothetical machine for `eval`, `demo` and the tests.

use crate::model::affected::Affected;
use crate::model::event::Event;
use crate::model::latency::Tick;
use crate::model::path::{absolute, is_within, parent};
use crate::model::session::{SessionUsage, Step, Taint};
use crate::model::world::{
    Age, Environment, Files, Git, GuardFiles, Known, Look, MAX_CONTENT, Names, NamesOf, ResolvedPath, Session, Survey,
    Surveyed, Unreadable, Untracked,
};
use std::collections::{BTreeMap, BTreeSet};

/// A hypothetical world for `eval` and the tests. Facts that are not given are unknown.
#[derive(Debug, Clone, Default)]
pub struct FakeWorld {
    /// The project's root, which the git facts refer to.
    pub workspace: String,
    /// The git facts, if given.
    pub git: Option<SupposedGit>,
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
    /// Symlinks and their targets; relative paths start at the project's root.
    pub links: BTreeMap<String, String>,
    /// Paths that do not exist.
    pub missing: Vec<String>,
    /// Files of the guard.
    pub guard: Vec<String>,
    /// Files and their content; relative paths start at the project's root.
    pub files: BTreeMap<String, String>,
    /// Aliases of the shell (`k`) and of programs (`git co`), with their definitions.
    pub aliases: BTreeMap<String, String>,
    /// Whether names that differ only in case are the same file.
    pub folds_case: bool,
    /// The earlier calls of the session.
    pub past: Vec<Step>,
    /// The remnants of earlier calls of the session.
    pub remnants: Vec<Taint>,
    /// The ids of calls that wait for approval.
    pub waiting: Vec<String>,
}

/// The given git facts. Paths are relative to the project's root; an unlisted path is tracked and unchanged.
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
    /// Number of commits that exist on no remote.
    pub unpushed: Option<usize>,
    /// Number of stashes.
    pub stashes: Option<usize>,
    /// The reason why the repository cannot be read; the other git facts are then unknown.
    pub unreadable: Option<String>,
}

impl FakeWorld {
    fn readable(&self) -> Option<&SupposedGit> {
        self.git.as_ref().filter(|git| git.unreadable.is_none())
    }

    fn relative<'p>(&self, path: &'p str) -> Option<&'p str> {
        if !is_within(path, &self.workspace) {
            return None;
        }
        path.get(self.workspace.trim_end_matches('/').len()..).map(|rest| rest.trim_start_matches('/'))
    }

    fn names(&self, path: &str, of: impl Fn(&SupposedGit) -> Vec<String>) -> Affected<Names> {
        let Some(git) = self.readable() else { return Affected::Unknown };
        let Some(relative) = self.relative(path) else { return Affected::Nothing };
        let is_meant = |name: &String| {
            let name = name.trim_end_matches('/');
            relative.is_empty() || is_within(name, relative) || is_within(relative, name)
        };
        let names: Vec<String> = of(git).into_iter().filter(is_meant).collect();
        Names { count: names.len(), names, more: false }.into()
    }

    /// Returns the given files at or below a path outside of the project.
    fn outside(&self, path: &str) -> Vec<String> {
        if self.relative(path).is_some() {
            return Vec::new();
        }
        let files = self.files.keys().filter(|file| file.starts_with('/'));
        files.filter(|file| is_within(file, path) && self.relative(file).is_none()).cloned().collect()
    }

    /// Follows up to eight symlinks.
    fn followed(&self, mut path: String) -> String {
        for _ in 0..8 {
            let Some((_, target)) = self.links.iter().find(|(link, _)| self.absolute_link(link) == path) else { break };
            path = absolute(target, parent(&path));
        }
        path
    }

    fn absolute_link(&self, link: &str) -> String {
        absolute(link, &self.workspace)
    }
}

impl Files for FakeWorld {
    fn real(&self, path: &str, follow: bool) -> ResolvedPath {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let mut real = String::from("/");
        for (index, part) in parts.iter().enumerate() {
            real = absolute(part, &real);
            let last = index + 1 == parts.len();
            if follow || !last {
                real = self.followed(real);
            }
        }
        let missing = self.missing.iter().any(|entry| is_within(&real, &self.absolute_link(entry)));
        let has_file = || self.files.keys().any(|file| is_within(&self.absolute_link(file), &real));
        let exists = if missing { Some(false) } else { has_file().then_some(true) };
        ResolvedPath { path: real, exists, is_folder: None }
    }

    /// Expands patterns over the given files; a folder without any is unknown.
    fn expand(&self, pattern: &str) -> Affected<Vec<String>> {
        if pattern.contains("**") {
            return Affected::Unknown;
        }
        let start = pattern.find(['*', '?', '[']).map_or(pattern, |at| parent(pattern.get(..=at).unwrap_or("")));
        let files = self.files.keys().map(|file| self.absolute_link(file));
        let depth = pattern.matches('/').count();
        let to_depth = |file: String| file.split('/').take(depth + 1).collect::<Vec<_>>().join("/");
        let below: BTreeSet<String> = files.filter(|file| is_within(file, start)).map(to_depth).collect();
        let found = || below.iter().filter(|path| fits(pattern, path)).cloned().collect::<Vec<_>>();
        (!below.is_empty()).then(found).into()
    }

    fn folds_case(&self) -> bool {
        self.folds_case
    }

    /// The names in an archive are the lines of its text; those in a commit are the lines of the file `git:WORD`.
    fn names_of(&self, source: NamesOf<'_>) -> Affected<Vec<String>> {
        let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let names: Known<Vec<String>> = match source {
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
        };
        names.into()
    }

    /// Surveys the given files; a path without any is unknown.
    fn survey(&self, path: &str, depth: usize) -> Known<Survey> {
        let mut survey = Survey { files: Vec::new(), is_complete: true };
        for (file, text) in &self.files {
            let file = self.absolute_link(file);
            let Some(below) = is_within(&file, path).then(|| file.get(path.len()..)).flatten() else { continue };
            let name = below.trim_start_matches('/').to_owned();
            match name.matches('/').count() < depth || name.is_empty() {
                true => survey.files.push(Surveyed { name, size: text.len() as u64, is_new: false }),
                false => survey.is_complete = false,
            }
        }
        (!survey.files.is_empty()).then_some(survey)
    }

    fn opening(&self, path: &str) -> Option<Vec<u8>> {
        self.content(path).map(String::into_bytes)
    }

    fn content(&self, path: &str) -> Option<String> {
        let real = self.real(path, true).path;
        let file = self.files.iter().find(|(file, _)| self.absolute_link(file) == real);
        file.map(|(_, text)| text.clone()).filter(|text| text.len() <= MAX_CONTENT)
    }

    fn is_too_large(&self, path: &str) -> bool {
        let real = self.real(path, true).path;
        self.files.iter().any(|(file, text)| self.absolute_link(file) == real && text.len() > MAX_CONTENT)
    }

    fn has_one_of(&self, _folder: &str, _names: &[&str]) -> Known<bool> {
        Some(true)
    }
}

impl Git for FakeWorld {
    fn work_tree(&self, _path: &str) -> Option<String> {
        Some(self.workspace.clone())
    }

    fn unreadable(&self, path: &str, _look: Look) -> Option<Unreadable> {
        let reason = self.git.as_ref()?.unreadable.clone()?;
        self.relative(path).map(|_| Unreadable { reason, mend: "git status".into() })
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
        // Without git facts the usual build folders count as ignored; with them only listed paths do.
        Some(listed)
    }

    fn uncommitted(&self, path: &str) -> Affected<Names> {
        self.names(path, |git| git.dirty.clone())
    }

    fn unstaged(&self, path: &str) -> Affected<Names> {
        self.names(path, |git| git.dirty.clone())
    }

    /// Outside of the project the given files are in no repository.
    fn untracked(&self, path: &str, which: Untracked) -> Affected<Names> {
        let outside = self.outside(path);
        if !outside.is_empty() && which != Untracked::Ignored {
            return Names { count: outside.len(), names: outside, more: false }.into();
        }
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
        // A listed file is taken for a path; other words are nearly always branches.
        Some(is_branch || !git.dirty.iter().any(|name| is_within(name, word)))
    }

    fn orphaned(&self, _path: &str, _reference: &str, _onto: &str) -> Known<usize> {
        self.readable()?.unpushed
    }

    fn stashes(&self, _path: &str) -> Known<usize> {
        self.readable()?.stashes
    }

    fn protected(&self, _path: &str) -> Vec<String> {
        self.readable().map(|git| git.protected.clone()).unwrap_or_default()
    }
}

impl Session for FakeWorld {
    fn past(&self, _now: &Step) -> Vec<Step> {
        self.past.clone()
    }

    fn remnants(&self) -> Vec<Taint> {
        self.remnants.clone()
    }

    fn waiting(&self) -> Vec<String> {
        self.waiting.clone()
    }

    fn spent(&self, _event: &Event, _started: &mut dyn Iterator<Item = &str>) -> SessionUsage {
        SessionUsage::default()
    }

    fn written(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn is_of_session(&self, _path: &str) -> Known<bool> {
        None
    }

    /// Files that are dirty, untracked or ignored existed before the session.
    fn age(&self, path: &str) -> Known<Age> {
        if self.outside(path).iter().any(|file| file == path) {
            return Some(Age { is_older: true, is_untouched: true });
        }
        let relative = self.relative(path)?;
        let git = self.readable()?;
        let listed = git.untracked.iter().chain(&git.dirty).chain(&git.ignored).any(|name| name == relative);
        listed.then_some(Age { is_older: true, is_untouched: true })
    }
}

impl GuardFiles for FakeWorld {
    fn guard(&self) -> Vec<String> {
        self.guard.clone()
    }

    fn is_guard_program(&self, _path: &str) -> bool {
        false
    }
}

impl Environment for FakeWorld {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn variables(&self) -> Vec<String> {
        self.variables.keys().cloned().collect()
    }

    fn alias(&self, program: &str, name: &str) -> Option<String> {
        let key = if program.is_empty() { name.to_owned() } else { format!("{program} {name}") };
        self.aliases.get(&key).cloned()
    }

    fn program(&self, _name: &str) -> Option<String> {
        None
    }

    fn temporary(&self) -> Vec<String> {
        ["/tmp", "/private/tmp", "/var/tmp", "/var/folders"].map(String::from).to_vec()
    }

    fn clock(&self) -> Tick {
        Tick::default()
    }
}

/// Whether a path fits a pattern with stars, each of which matches characters of one component.
fn fits(pattern: &str, path: &str) -> bool {
    match (pattern.split_at_checked(1), path.split_at_checked(1)) {
        (Some(("*", rest)), _) if fits(rest, path) => true,
        (Some(("*", _)), Some((letter, rest))) => letter != "/" && fits(pattern, rest),
        (Some((wanted, pattern)), Some((letter, path))) => wanted == letter && fits(pattern, path),
        (None, None) => true,
        _ => false,
    }
}
