//! What is being walked: functions, aliases, loops and shells, and what may be left of them.

use super::state::State;
use super::streams::Stream;
use crate::reading::{CommandId, ExecTarget, Words};
use crate::syntax::tree::Node;
use std::rc::Rc;

/// A function or alias that is being walked.
pub(super) struct Call {
    pub(super) name: String,
    /// How many pipelines and background lists we were in.
    pub(super) forking: u32,
    pub(super) parameters: Words,
    pub(super) state: State,
}

/// A call that has been walked and has changed nothing: the same call runs the same commands.
pub(super) struct Called {
    pub(super) body: Rc<Node>,
    pub(super) parameters: Words,
    pub(super) state: State,
    pub(super) parent: Option<CommandId>,
    pub(super) site: ExecTarget,
    pub(super) output: Stream,
    pub(super) status: Option<bool>,
}

/// What can be left before its end.
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// The states in which it was left.
    pub(super) left: Option<State>,
    /// The states in which a loop went on to its next round.
    pub(super) next: Option<State>,
}

/// What kind of thing can be left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    Loop,
    Function,
    Shell,
}

impl Frame {
    pub(super) fn new(kind: FrameKind) -> Frame {
        Frame { kind, left: None, next: None }
    }
}
