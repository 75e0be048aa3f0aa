//! The paths that answer a question, collected and cut to a limit.

use crate::model::fact::{Fact, Unknown};
use crate::system::native;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Paths relative to the work tree, sorted. `names` is cut at the requested limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The first names.
    pub names: Vec<PathBuf>,
    /// The total number of paths.
    pub count: usize,
    /// False if some files could not be examined: `count`, which may be 0, is then a lower bound.
    pub complete: bool,
}

/// Paths collected for an answer, paths that could not be examined, and the reason for an incomplete search.
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

    /// Records that the search ended early. The paths found so far stay valid.
    pub(crate) fn break_off(&mut self, search: Fact<()>) {
        self.broken_off = self.broken_off.take().or(search.err());
    }

    /// Returns the answer. If no path is certain, an unclear path makes the answer unknown. After an incomplete search,
    /// the count is a lower bound.
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
