//! The policy key for the files that a watched run loses.

use super::loaded::Loaded;
use reflex_supervise::WhenFull;

/// The answer to a change whose file cannot be kept, because the disk is full. One policy that refuses is enough.
pub(crate) fn when_full(loaded: &[Loaded]) -> WhenFull {
    let refuses = |one: &Loaded| one.layer.tables.policy().watch().full() == "refuse";
    if loaded.iter().any(refuses) { WhenFull::Refuse } else { WhenFull::Continue }
}
