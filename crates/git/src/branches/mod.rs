//! Branches, their upstreams, and the targets of a push.

pub(crate) mod direction;
pub(crate) mod references;
