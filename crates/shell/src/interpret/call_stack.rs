//! The stack of the walk: active functions, aliases, loops and shells, and the states in which they were left.

use super::state::State;
use super::streams::Stream;
use crate::reading::{CommandId, ExecTarget, Words};
use crate::syntax::tree::Node;
use std::rc::Rc;

/// A function or alias that is being walked.
pub(super) struct Call {
    pub(super) name: String,
    /// The number of enclosing pipelines and background lists at the call.
    pub(super) forking: u32,
    pub(super) parameters: Words,
    pub(super) state: State,
}

/// A completed call that changed nothing: the same call runs the same commands.
pub(super) struct Called {
    pub(super) body: Rc<Node>,
    pub(super) parameters: Words,
    pub(super) state: State,
    pub(super) parent: Option<CommandId>,
    pub(super) site: ExecTarget,
    pub(super) output: Stream,
    pub(super) status: Option<bool>,
}

/// A construct that can be left before its end.
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// The merged states in which it was left.
    pub(super) left: Option<State>,
    /// The merged states in which a loop continued with its next round.
    pub(super) next: Option<State>,
}

/// The kind of a construct that can be left.
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
