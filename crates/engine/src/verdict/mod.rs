//! Combines findings into one verdict.

mod backup;
pub(crate) mod gatekeeper;
pub(crate) mod judgeable;
pub(crate) mod reasons;
pub(crate) mod rewrite;
mod severity;
mod weighing;
