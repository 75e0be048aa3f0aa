//! The folder that all work trees of a repository share, found without opening the repository.

use std::fs;
use std::path::Path;

/// The folder that all work trees of a repository share; the workspace where git manages nothing.
pub fn shared_folder(workspace: &Path) -> String {
    let own = workspace.join(".git");
    let linked = fs::read_to_string(&own).ok().and_then(|text| {
        let folder = workspace.join(text.strip_prefix("gitdir:")?.trim());
        let common = fs::read_to_string(folder.join("commondir")).ok()?;
        Some(folder.join(common.trim()))
    });
    let folder = linked.unwrap_or_else(|| if own.is_dir() { own } else { workspace.to_owned() });
    folder.canonicalize().unwrap_or(folder).to_string_lossy().into_owned()
}
