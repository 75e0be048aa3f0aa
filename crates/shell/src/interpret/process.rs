//! Process substitutions: files whose content a script writes or reads.

use super::streams::Stream;
use crate::model::value::Origin;
use crate::syntax::tree::Script;
use std::rc::Rc;

/// A `<(…)` or `>(…)` in the text.
pub(super) struct Process {
    pub(super) origin: Origin,
    pub(super) content: Content,
}

/// The content of the file.
pub(super) enum Content {
    /// `<(…)`: the output of the script.
    Printed(Stream),
    /// `>(…)`: the script, and the text written to it so far.
    Waiting { script: Rc<Script>, written: Stream },
}
