//! Finds the folders that git manages by their `.git` alone, without opening the repository.

use std::fs;
use std::path::Path;

/// The folder that all work trees of a repository share; the workspace itself outside a repository.
pub fn shared_folder(workspace: &Path) -> String {
    let dot_git = workspace.join(".git");
    let linked = fs::read_to_string(&dot_git).ok().and_then(|text| {
        let folder = workspace.join(text.strip_prefix("gitdir:")?.trim());
        let common = fs::read_to_string(folder.join("commondir")).ok()?;
        Some(folder.join(common.trim()))
    });
    let folder = linked.unwrap_or_else(|| if dot_git.is_dir() { dot_git } else { workspace.to_owned() });
    folder.canonicalize().unwrap_or(folder).to_string_lossy().into_owned()
}

/// Length in bytes beyond which no system finds a path.
const MAX_PATH: usize = 4096;

/// The nearest ancestor with a `.git`, otherwise the folder itself. A repository in the home or above it does not count
/// as a project: it would make everything below it part of the workspace.
pub fn project_root(folder: &str, home: &str) -> String {
    let is_root = |path: &&Path| path.join(".git").symlink_metadata().is_ok() && !Path::new(home).starts_with(path);
    Path::new(folder)
        .ancestors()
        .skip_while(|path| path.as_os_str().len() > MAX_PATH)
        .find(is_root)
        .map_or_else(|| folder.to_owned(), |path| path.to_string_lossy().into_owned())
}
