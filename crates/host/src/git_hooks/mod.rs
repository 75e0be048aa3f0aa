//! The guard as a hook of git: what would be committed or pushed, and the files that git runs.

mod changes;
mod entries;
mod objects;

pub use changes::changes;
pub use entries::{Done, Entries};
