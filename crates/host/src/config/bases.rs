//! The bases of a policy (`extends`): the shipped rules, folders, files, and git checkouts pinned by their digest.

use super::files::Place;
use reflex_engine::Authority;
use reflex_rules::Base;
use reflex_tables::Node;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The name of the shipped rules that are in force only if a policy names them.
pub(super) const RECOMMENDED: &str = "recommended";

/// Maximum depth of nested `extends`.
const MAX_STEPS: usize = 8;

/// One `extends` entry that was followed.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The folder or file that it names.
    folder: PathBuf,
    /// The digest to which it is pinned; empty if it is not pinned.
    pub(super) digest: String,
    /// `file:line`
    pub(super) at: String,
}

impl Step {
    /// The starting point: the place itself.
    pub(super) fn begin(place: &Place) -> Step {
        let folder = place.folder.canonicalize().unwrap_or_else(|_| place.folder.clone());
        Step { at: folder.display().to_string(), folder, digest: String::new() }
    }
}

/// Its representation in a compiled tree.
pub(super) fn json(base: &Base) -> Value {
    json!({"path": base.path, "git": base.git, "digest": base.digest, "at": base.at})
}

/// Resolves a base relative to the place that names it, or returns the reason why it does not count.
pub(super) fn resolve(base: Node<'_>, from: &Place, home: &Path, trail: &[Step]) -> Result<(Place, Step), String> {
    let (path, at) = (base.get("path").text(), base.get("at").text().to_owned());
    let digest = base.get("digest").text().to_owned();
    if path == RECOMMENDED {
        return Ok((from.shipped(), Step { folder: PathBuf::from(RECOMMENDED), digest: String::new(), at }));
    }
    let mut place = from.base(path, home);
    let folder = place.folder.canonicalize().map_err(|error| format!("{at}: {}: {error}", place.folder.display()))?;
    let shown = folder.display();
    if from.authority == Authority::Project && !folder.starts_with(from.workspace.join(".reflex")) {
        return Err(format!("{at}: {shown} is outside .reflex, so a project cannot build on it"));
    }
    if base.get("git").is_true() && !is_checkout(&folder, from) {
        return Err(format!("{at}: {shown} is not a git checkout, so it does not count"));
    }
    if let Some(step) = trail.iter().find(|step| step.folder == folder) {
        return Err(format!("{at}: `extends` is circular: {shown} was already named at {}", step.at));
    }
    if let Some(step) = pinned(trail).filter(|_| digest.is_empty()) {
        return Err(format!("{at}: {shown} is not pinned, and {} pins its bases, so it does not count", step.at));
    }
    if trail.len() > MAX_STEPS {
        return Err(format!("{at}: `extends` goes on for more than {MAX_STEPS} steps"));
    }
    place.folder.clone_from(&folder);
    Ok((place, Step { folder, digest, at }))
}

/// The step that pins everything after it. A digest does not cover what an unpinned base elsewhere holds.
pub(super) fn pinned(trail: &[Step]) -> Option<&Step> {
    trail.iter().find(|step| !step.digest.is_empty())
}

/// Whether the folder or one above it is a git checkout, other than one that contains the policy itself.
fn is_checkout(folder: &Path, from: &Place) -> bool {
    let policy = from.folder.canonicalize().unwrap_or_else(|_| from.folder.clone());
    let mut above = folder.ancestors().take_while(|above| !policy.starts_with(above));
    above.any(|folder| folder.join(".git").symlink_metadata().is_ok())
}
