//! The bases of a policy (`extends`): the shipped rules, folders, files, and git checkouts pinned by their digest.

use super::files::Place;
use reflex_engine::Authority;
use reflex_rules::Base;
use reflex_tables::view;
use serde_json::{Value, json};
use std::io;
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

view! {
    /// A base in a compiled tree.
    pub(super) struct CompiledBase<'a> {
        /// `recommended`, or a path.
        path: &'a str,
        /// Whether the path must be a git checkout.
        git: bool,
        /// The required digest of its files; empty to accept any.
        digest: &'a str,
        /// `file:line`
        at: &'a str,
    }
}

/// A base does not count, with the place that names it.
#[derive(Debug, thiserror::Error)]
#[error("{at}: {problem}")]
pub(super) struct BaseError {
    /// `file:line`
    at: String,
    problem: BaseProblem,
}

/// The reason why a base does not count.
#[derive(Debug, thiserror::Error)]
pub(super) enum BaseProblem {
    /// Its folder does not exist, or cannot be read.
    #[error("{}: {source}", folder.display())]
    Io { folder: PathBuf, source: io::Error },
    /// A project names a folder that others may write.
    #[error("{} is outside .reflex, so a project cannot build on it", .0.display())]
    Outside(PathBuf),
    /// It is named as a git checkout.
    #[error("{} is not a git checkout, so it does not count", .0.display())]
    NotCheckout(PathBuf),
    /// It builds on itself, with the place that named it before.
    #[error("`extends` is circular: {} was already named at {before}", folder.display())]
    Circular { folder: PathBuf, before: String },
    /// A place above it pins its bases.
    #[error("{} is not pinned, and {by} pins its bases, so it does not count", folder.display())]
    NotPinned { folder: PathBuf, by: String },
    /// More bases than this number are above it.
    #[error("`extends` goes on for more than {0} steps")]
    TooDeep(usize),
    /// Its content has this digest.
    #[error("{} has the digest sha256:{digest}, and another is pinned, so it does not count", folder.display())]
    OtherDigest { folder: PathBuf, digest: String },
}

impl Step {
    /// The error for the place that names the base of this step.
    pub(super) fn error(&self, problem: BaseProblem) -> BaseError {
        BaseError { at: self.at.clone(), problem }
    }
}

/// Its representation in a compiled tree.
pub(super) fn json(base: &Base) -> Value {
    json!({"path": base.path, "git": base.git, "digest": base.digest, "at": base.at})
}

/// Resolves a base relative to the place that names it, or returns the reason why it does not count.
pub(super) fn resolve(
    base: CompiledBase<'_>,
    from: &Place,
    home: &Path,
    trail: &[Step],
) -> Result<(Place, Step), BaseError> {
    let (path, at) = (base.path(), base.at().to_owned());
    let digest = base.digest().to_owned();
    if path == RECOMMENDED {
        return Ok((from.shipped(), Step { folder: PathBuf::from(RECOMMENDED), digest: String::new(), at }));
    }
    let mut place = from.base(path, home);
    match real_folder(base, &place, from, trail) {
        Ok(folder) => {
            place.folder.clone_from(&folder);
            Ok((place, Step { folder, digest, at }))
        }
        Err(problem) => Err(BaseError { at, problem }),
    }
}

/// The folder of a base without links, if the base may be named here.
fn real_folder(base: CompiledBase<'_>, place: &Place, from: &Place, trail: &[Step]) -> Result<PathBuf, BaseProblem> {
    let failed = |source| BaseProblem::Io { folder: place.folder.clone(), source };
    let folder = place.folder.canonicalize().map_err(failed)?;
    if from.authority == Authority::Project && !folder.starts_with(from.workspace.join(".reflex")) {
        return Err(BaseProblem::Outside(folder));
    }
    if base.git() && !is_checkout(&folder, from) {
        return Err(BaseProblem::NotCheckout(folder));
    }
    if let Some(step) = trail.iter().find(|step| step.folder == folder) {
        return Err(BaseProblem::Circular { folder, before: step.at.clone() });
    }
    if let Some(step) = pinned(trail).filter(|_| base.digest().is_empty()) {
        return Err(BaseProblem::NotPinned { folder, by: step.at.clone() });
    }
    if trail.len() > MAX_STEPS {
        return Err(BaseProblem::TooDeep(MAX_STEPS));
    }
    Ok(folder)
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
