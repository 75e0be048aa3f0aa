//! Combines findings into one verdict.

pub(crate) mod gatekeeper;
pub(crate) mod judgeable;
pub(crate) mod rewrite;
mod severity;
