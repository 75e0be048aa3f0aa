//! Commands that show how a call would be judged, without running it.

pub(in crate::commands) mod check;
pub(in crate::commands) mod demo;
pub(in crate::commands) mod eval;
pub(in crate::commands) mod explain;
