//! The meaning of a target: its resolved path, and every other path that it may refer to.

use crate::model::path::Place;
use crate::model::truth::Ternary;
use crate::model::world::ResolvedPath;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// The meaning of a target.
pub(super) struct Seen {
    /// The resolved path.
    pub(super) real: ResolvedPath,
    /// The class of the resolved path's location.
    pub(super) place: Place,
    /// Every path that is meant: the resolved path, the path as written, its landing place in a folder, the source of a
    /// copy.
    pub(super) paths: Vec<String>,
    /// Number of leading `paths` that are certain; the others are possible.
    pub(super) sure: usize,
    /// The absolute pattern that is meant, if any.
    pub(super) pattern: Option<Pattern>,
    /// Whether the content of every file that the pattern means is shown or sent.
    pub(super) is_taken_whole: bool,
    /// Class answers so far, by the class's index in the library.
    pub(super) classes: RefCell<BTreeMap<usize, Ternary>>,
}

/// A meaning that is compared by its content, without the answers about it.
pub(super) struct Distinct(pub(super) Rc<Seen>);

impl Distinct {
    fn content(&self) -> (&ResolvedPath, &[String], usize, Option<&Pattern>, bool) {
        (&self.0.real, &self.0.paths, self.0.sure, self.0.pattern.as_ref(), self.0.is_taken_whole)
    }
}

impl PartialEq for Distinct {
    fn eq(&self, other: &Distinct) -> bool {
        self.content() == other.content()
    }
}

impl Eq for Distinct {}

impl Hash for Distinct {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.paths.hash(state);
    }
}

/// Paths of which only a pattern is known.
#[derive(PartialEq, Eq)]
pub(super) enum Pattern {
    /// A pattern that the shell expands.
    Written(String),
    /// Everything in a folder that is copied or read recursively.
    Tree(String),
}
