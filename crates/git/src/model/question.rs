//! The questions about paths, and the cached answers.

use crate::model::fact::Fact;
use crate::model::found::Found;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Selects untracked files by the ignore rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ignored {
    /// Only files that no ignore rule matches.
    Without,
    /// Ignored files as well.
    With,
    /// Only ignored files.
    Only,
}

/// A question about the status of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Question {
    Uncommitted,
    Unstaged,
    Untracked(Ignored),
}

/// The answers so far, by question.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) about: RefCell<BTreeMap<Question, Rc<Answers>>>,
}

/// The cached answers to one question.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) asked: Cell<usize>,
    pub(crate) complete: OnceCell<Fact<Found>>,
}
