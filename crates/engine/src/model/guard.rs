//! The names by which the guard itself is known.

/// Names under which the guard's program is its own.
pub(crate) const GUARD_PROGRAMS: [&str; 2] = ["reflex", "rfx"];
