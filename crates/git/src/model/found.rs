//! The paths that answer a question, collected and cut to a limit.

use crate::model::fact::{Fact, Unknown};
use crate::system::native;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Paths relative to the work tree, sorted; `names` is cut at the limit that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The first names.
    pub names: Vec<PathBuf>,
    /// How many there are in all.
    pub count: usize,
    /// False when some files could not be judged or looked at: `count`, which may be 0, is then "at least".
    pub complete: bool,
}

/// Paths gathered for an answer, why some could not be judged, and why there may be others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub(crate) names: BTreeSet<Vec<u8>>,
    pub(crate) unclear: BTreeMap<Vec<u8>, Unknown>,
    pub(crate) broken_off: Option<Unknown>,
}

impl Found {
    pub(crate) fn add(&mut self, path: &[u8]) {
        self.names.insert(path.to_vec());
    }

    pub(crate) fn add_unclear(&mut self, path: &[u8], reason: &'static str) {
        self.unclear.insert(path.to_vec(), Unknown(reason));
    }

    /// What was found stays true when the search for more ends early.
    pub(crate) fn break_off(&mut self, search: Fact<()>) {
        self.broken_off = self.broken_off.take().or(search.err());
    }

    /// With nothing certain found, an unclear file makes the whole answer unknown. A search that was broken off is one
    /// that found at least so many.
    pub(crate) fn finish(mut self, limit: usize) -> Fact<Names> {
        let (count, complete) = (self.names.len(), self.unclear.is_empty() && self.broken_off.is_none());
        match self.unclear.pop_last() {
            Some((_, reason)) if count == 0 && self.broken_off.is_none() => Err(reason),
            _ => {
                let first = self.names.iter().take(limit);
                let mut names: Vec<PathBuf> = first.map(|name| PathBuf::from(&*native(name))).collect();
                names.sort();
                Ok(Names { names, count, complete })
            }
        }
    }
}
