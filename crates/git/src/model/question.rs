//! The questions about paths, and the answers that are already known.

use crate::model::fact::Fact;
use crate::model::found::Found;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Which untracked files to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ignored {
    /// Only files that no ignore rule matches.
    Without,
    /// Ignored files as well.
    With,
    /// Only ignored files.
    Only,
}

/// What is asked about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Question {
    Uncommitted,
    Unstaged,
    Untracked(Ignored),
}

/// The questions so far.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) about: RefCell<BTreeMap<Question, Rc<Answers>>>,
}

/// What is known of the answers to one question.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) asked: Cell<usize>,
    pub(crate) whole: OnceCell<Fact<Found>>,
}
