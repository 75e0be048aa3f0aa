//! Branches, what they follow, and where a push goes.

pub(crate) mod direction;
pub(crate) mod references;
