//! Taking renames back: each file or folder goes from where a call left it to where it was.

use crate::model::{ItemKind, Moved, Place};
use crate::os;
use crate::place::{find, temporary};
use crate::plan::{Plan, State, Step};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A rename that a plan takes back.
#[derive(Debug, Clone)]
pub(crate) struct Return {
    at: PathBuf,
    to: PathBuf,
    place: Place,
}

impl Return {
    /// The rename that a step takes back.
    fn of(step: &Step, id: &str) -> Option<Return> {
        match (&step.item.kind, step.state) {
            (ItemKind::Unchanged { at, place }, State::Missing | State::Differs) => {
                Some(Return { at: find(at, *place, id)?, to: step.to.clone(), place: *place })
            }
            _ => None,
        }
    }

    /// Whether this rename needs a name that another of them has, or is about to get.
    fn crosses(&self, others: &[Return]) -> bool {
        let touches =
            |other: &Return| touch(&self.to, &other.at) || touch(&self.at, &other.to) || touch(&self.at, &other.at);
        touch(&self.at, &self.to) || others.iter().any(|other| other.place != self.place && touches(other))
    }

    /// The paths whose folders it changes.
    pub(crate) fn paths(&self) -> [&Path; 2] {
        [&self.at, &self.to]
    }
}

/// The renames that a plan takes back.
pub(crate) fn returns(plan: &Plan, id: &str) -> Vec<Return> {
    plan.steps.iter().filter_map(|step| Return::of(step, id)).collect()
}

/// The path that has the content now which a restore will find at `path`, after the renames.
pub(crate) fn present(path: &Path, returns: &[Return]) -> PathBuf {
    let above = returns.iter().filter(|back| path != back.to && path.starts_with(&back.to));
    let nearest = above.max_by_key(|back| back.to.components().count());
    let moved = nearest.and_then(|back| Some(back.at.join(path.strip_prefix(&back.to).ok()?)));
    moved.unwrap_or_else(|| path.to_owned())
}

/// The renames that would take these back.
pub(crate) fn reverse(returns: &[Return]) -> impl Iterator<Item = Moved> {
    returns.iter().map(|back| Moved { from: back.at.clone(), to: back.to.clone() })
}

/// Whether the file at a path is one that goes elsewhere itself.
pub(crate) fn leaves(path: &Path, returns: &[Return]) -> bool {
    os::stat(path).is_ok_and(|current| returns.iter().any(|back| back.place == current.place))
}

/// Carries the renames out. Names that are taken by each other are given up first, the innermost ones first.
pub(crate) fn carry_out(mut returns: Vec<Return>, id: &str) -> io::Result<()> {
    let depth = |path: &Path| path.components().count();
    let is_within = |folder: &Path, back: &Return| folder.starts_with(&back.at) || folder.starts_with(&back.to);
    let is_apart = |folder: &&Path| !returns.iter().any(|back| is_within(folder, back));
    let mut apart: Vec<(usize, PathBuf)> = Vec::new();
    for (index, back) in returns.iter().enumerate().filter(|(_, back)| back.crosses(&returns)) {
        let folder = back.at.ancestors().skip(1).find(is_apart).unwrap_or(Path::new("/"));
        apart.push((index, temporary(folder, id, back.place)));
    }
    apart.sort_by_key(|(index, _)| std::cmp::Reverse(returns.get(*index).map_or(0, |back| depth(&back.at))));
    for (index, aside) in apart {
        let Some(back) = returns.get_mut(index) else { continue };
        fs::rename(&back.at, &aside)?;
        back.at = aside;
    }
    returns.sort_by_key(|back| depth(&back.to));
    for back in returns {
        fs::create_dir_all(back.to.parent().unwrap_or(Path::new("/")))?;
        remove_if_other(&back)?;
        fs::rename(&back.at, &back.to)?;
    }
    Ok(())
}

/// Whether one path is the other, or below it.
fn touch(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Removes what has the name that a file gets back.
fn remove_if_other(back: &Return) -> io::Result<()> {
    match os::stat(&back.to) {
        Ok(current) if current.place != back.place => os::remove(&back.to),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}
