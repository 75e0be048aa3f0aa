//! The questions about paths, and the answers that are already known.

use super::fact::Fact;
use super::found::Found;
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
pub(super) enum Question {
    Uncommitted,
    Unstaged,
    Untracked(Ignored),
}

/// The questions so far.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) about: RefCell<BTreeMap<Question, Rc<Answers>>>,
}

/// What is known of the answers to one question.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) asked: Cell<usize>,
    pub(super) whole: OnceCell<Fact<Found>>,
}
