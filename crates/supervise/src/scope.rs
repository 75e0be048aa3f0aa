//! The part of a process tree's calls that a supervisor sees.

use crate::loss::Watch;
use crate::start::Judge;
use std::fmt;
use std::sync::Arc;

/// The calls that are seen, and the one that answers them. Other calls cost nothing.
#[derive(Clone)]
pub enum Scope {
    /// Starts of programs.
    Starts(Arc<dyn Judge>),
    /// Changes to files.
    Files(Arc<dyn Watch>),
    /// Both.
    Both {
        /// Judges starts.
        judge: Arc<dyn Judge>,
        /// Answers changes.
        watch: Arc<dyn Watch>,
    },
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::Starts(_) => "Starts",
            Scope::Files(_) => "Files",
            Scope::Both { .. } => "Both",
        })
    }
}
