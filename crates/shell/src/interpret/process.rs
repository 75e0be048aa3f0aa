//! Process substitutions: files whose content a script prints or reads.

use super::streams::Stream;
use crate::model::value::Origin;
use crate::syntax::tree::Script;
use std::rc::Rc;

/// A `<(…)` or `>(…)` that has been met.
pub(super) struct Process {
    pub(super) origin: Origin,
    pub(super) content: Content,
}

/// What is in it.
pub(super) enum Content {
    /// `<(…)`: what it prints.
    Printed(Stream),
    /// `>(…)`: it waits for what is written to it.
    Waiting { script: Rc<Script>, written: Stream },
}
