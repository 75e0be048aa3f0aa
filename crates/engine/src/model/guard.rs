//! The names of the guard itself.

/// Names of the guard's program.
pub(crate) const GUARD_PROGRAMS: [&str; 2] = ["reflex", "rfx"];
