//! Scripts and tasks that run in each folder of a set.

use super::resolver::ScriptResolver;
use crate::model::effect::{Effect, TargetPath};
use crate::model::path;
use reflex_shell::work;

/// Maximum number of folders in which one command is followed. Exceeding it is reported.
const MAX_FOLDERS: usize = 32;

impl ScriptResolver<'_> {
    /// Returns the effect as it happens in each folder, if its working directory is a pattern: `make -C "$d" clean` in a
    /// loop over `*/`.
    pub(super) fn in_each_folder(&self, effect: &Effect) -> Option<Vec<Effect>> {
        let pattern = effect.folder.as_deref().filter(|folder| folder.contains(['*', '?', '[']))?;
        if self.world.real(pattern, true).exists == Some(true) {
            return None;
        }
        let mut folders = self.world.expand(pattern).known()?;
        if folders.len() > MAX_FOLDERS {
            work::cut(|| format!("{pattern} stands for more than {MAX_FOLDERS} folders"));
            folders.truncate(MAX_FOLDERS);
        }
        Some(folders.into_iter().map(|folder| moved(effect, pattern, folder)).collect())
    }
}

/// Returns the effect with another working directory.
fn moved(effect: &Effect, pattern: &str, folder: String) -> Effect {
    let mut effect = effect.clone();
    for target in &mut effect.targets {
        if let TargetPath::Known { text, .. } = &mut target.path
            && path::is_within(text, pattern)
        {
            *text = path::absolute(text.get(pattern.len()..).unwrap_or("").trim_start_matches('/'), &folder);
        }
    }
    effect.folder = Some(folder);
    effect
}
