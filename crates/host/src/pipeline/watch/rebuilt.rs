//! Folders of packages and caches, which tools make again: copies of them would only fill the disk. Results of a build
//! are kept: they may be those of a long run.

use crate::system::context::Context;
use crate::world::LocalWorld;
use reflex_engine::{Analysis, Event, Facts};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Maximum number of folders that are remembered. Beyond it the list begins anew.
const MAX_REMEMBERED: usize = 50_000;

/// The folders of one project, as they are during one call.
pub(super) struct RebuiltFolders {
    context: Context,
    workspace: String,
    known: Mutex<HashMap<PathBuf, bool>>,
}

impl RebuiltFolders {
    /// The folders of this project.
    pub(super) fn new(context: &Context, workspace: &str) -> RebuiltFolders {
        RebuiltFolders { context: context.clone(), workspace: workspace.into(), known: Mutex::default() }
    }

    /// Whether a tool makes this file or folder again, or the folder that it is in.
    pub(super) fn holds(&self, path: &Path) -> bool {
        path.parent().is_some_and(|folder| self.is_one(folder)) || path.is_dir() && self.is_one(path)
    }

    fn is_one(&self, folder: &Path) -> bool {
        if !folder.starts_with(&self.workspace) || folder == Path::new(&self.workspace) {
            return false;
        }
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(folder) {
            return *known;
        }
        // A folder within one that a tool makes again needs no look at the disk.
        let is_rebuilt = folder.parent().is_some_and(|above| self.is_one(above)) || self.is_rebuilt(folder);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(folder.to_owned(), is_rebuilt);
        is_rebuilt
    }

    fn is_rebuilt(&self, folder: &Path) -> bool {
        let Some(folder) = folder.to_str() else { return false };
        let world = LocalWorld::new(&self.context, &self.workspace, Vec::new());
        let analysis = Analysis::default();
        let home = self.context.folders().home.to_string_lossy().into_owned();
        let event = Event { workspace: self.workspace.clone(), home, ..Event::default() };
        Facts::new(&event, &analysis, reflex_library::tables(), &world).is_tools_own(folder)
    }
}
