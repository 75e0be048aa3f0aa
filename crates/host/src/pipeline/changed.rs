//! The files of a project that differ from the last commit, to tell what an agent's session has changed.

use super::host::Host;
use crate::system::os;
use reflex_engine::Event;
use reflex_git::{Ignored, Repository};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum number of files.
const MAX_FILES: usize = 5000;

/// Size and change time of a file; `None` if it does not exist.
type State = Option<(u64, (i64, i64))>;

/// The files that differ from the last commit, or are in none, with their state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedFiles(BTreeMap<PathBuf, State>);

impl ChangedFiles {
    /// Returns the number of files that are other than before.
    pub fn since(&self, before: &ChangedFiles) -> usize {
        let other = |(path, state): (&PathBuf, &State)| before.0.get(path) != Some(state);
        let gone = before.0.keys().filter(|path| !self.0.contains_key(*path)).count();
        self.0.iter().filter(|entry| other(*entry)).count() + gone
    }
}

impl Host {
    /// Returns the changed files of the project here. `None` outside of a repository, or if there are too many.
    pub fn changed_files(&self) -> Option<ChangedFiles> {
        let workspace = self.placed(Event::default()).workspace;
        let repository = Repository::discover(Path::new(&workspace), &self.folders().home)?;
        let root = repository.work_tree()?.to_owned();
        let uncommitted = repository.uncommitted(&[], MAX_FILES).ok()?;
        let untracked = repository.untracked(&[], Ignored::Without, MAX_FILES).ok()?;
        if [&uncommitted, &untracked].iter().any(|names| names.count > names.names.len()) {
            return None;
        }
        let state = |path: &Path| {
            let stat = os::stat_of(&path.symlink_metadata().ok()?);
            Some((stat.size, stat.changed))
        };
        let names = uncommitted.names.into_iter().chain(untracked.names);
        Some(ChangedFiles(names.map(|name| (name.clone(), state(&root.join(&name)))).collect()))
    }
}
