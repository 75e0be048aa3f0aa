//! Older guards: finds and removes their hooks in every file of an agent that may have them.

use super::error::WiringError;
use super::wiring::{Change, Wiring, file_of, mode_of, write_atomically};
use reflex_agents::settings::{OLDER_FILES, is_older_plugin, older_guards, without_older_guards};
use reflex_git::project_root;
use std::fs;
use std::path::{Path, PathBuf};

/// A hook of an older guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OlderGuard {
    /// The file with the hook.
    pub file: PathBuf,
    /// Its command line.
    pub line: String,
}

impl Wiring {
    /// The hooks of older guards in the agent's files of the user and of the project around a folder.
    pub fn older(&self, here: &Path) -> Vec<OlderGuard> {
        self.older_files(here).into_iter().flat_map(|file| of_file(&file)).collect()
    }

    /// The changes that remove them, for every file except the wiring's own.
    ///
    /// # Errors
    /// A file is not valid settings.
    pub fn without_older(&self, here: &Path) -> Result<Vec<(PathBuf, Change)>, WiringError> {
        let mut changes = Vec::new();
        for file in self.older_files(here).into_iter().filter(|file| file != self.file()) {
            if of_file(&file).is_empty() {
                continue;
            }
            let before =
                fs::read_to_string(&file).map_err(|source| WiringError::Unread { file: file.clone(), source })?;
            let after = match is_own(&file) {
                true => None,
                false => Some(
                    without_older_guards(&before)
                        .map_err(|source| WiringError::Format { file: file.clone(), source })?,
                ),
            };
            changes.push((file, Change { before: Some(before), after }));
        }
        Ok(changes)
    }

    fn older_files(&self, here: &Path) -> Vec<PathBuf> {
        let settings = self.settings();
        let root = project_root(&here.to_string_lossy(), &self.home_of_agents().to_string_lossy());
        let root = PathBuf::from(root);
        let of_user = settings.files.iter().map(|form| file_of(form, self.home_of_agents()));
        let of_project = settings.project.iter().map(|form| root.join(form.folder).join(form.name));
        let older = OLDER_FILES.iter().filter(|(agent, ..)| *agent == self.agent());
        let older = older.flat_map(|(_, user, project)| [self.home_of_agents().join(user), root.join(project)]);
        let mut files: Vec<PathBuf> = of_user.chain(of_project).chain(older).collect();
        files.sort();
        files.dedup();
        files
    }
}

/// Writes a change of [`Wiring::without_older`].
///
/// # Errors
/// The file cannot be written.
pub fn take_out(file: &Path, change: &Change) -> Result<(), WiringError> {
    let done = match &change.after {
        Some(after) => write_atomically(file, after, mode_of(file)),
        None => fs::remove_file(file),
    };
    done.map_err(|source| WiringError::Unwritten { file: file.to_owned(), source })
}

fn of_file(file: &Path) -> Vec<OlderGuard> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut lines = older_guards(&text);
    if lines.is_empty() && is_own(file) && is_older_plugin(&text) {
        lines.push("a plugin".into());
    }
    lines.into_iter().map(|line| OlderGuard { file: file.to_owned(), line }).collect()
}

/// Whether the file belongs to the older guard as a whole.
fn is_own(file: &Path) -> bool {
    OLDER_FILES.iter().any(|(_, user, project)| file.ends_with(user) || file.ends_with(project))
}
