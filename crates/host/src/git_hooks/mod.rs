//! The guard as a git hook: the changes to be committed or pushed, and the files that git runs.

mod arrivals;
mod changes;
mod entries;
mod error;
mod objects;

pub use arrivals::silenced_agents;
pub use changes::changes;
pub use entries::{COMMITTED_HOOK, Done, Entries, committed_hook};
pub use error::GitHookError;
