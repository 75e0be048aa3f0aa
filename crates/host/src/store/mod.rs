//! The guard's persistent state: the audit log, each session's last calls, a person's approvals, signs of life.
//!
//! All files are below `~/.local/state/reflex` in the user's home. This module makes no decisions. The rest of the host
//! accesses the state only through [`Store`], so that the same few methods could be implemented by a team's server.

pub(crate) mod alarm;
pub mod answers;
pub(crate) mod appeal;
mod append;
pub mod approvals;
pub(crate) mod bound;
pub mod canary;
mod chain;
pub(crate) mod clean;
mod fields;
mod follow;
mod grant;
mod head;
pub(crate) mod judged;
pub mod life;
mod log;
pub mod modes;
pub(crate) mod note;
pub(crate) mod passed;
mod pending;
pub mod pins;
pub mod presence;
mod remnants;
pub(crate) mod restored;
mod scope;
mod search;
pub mod session;
pub mod signing;
mod snapshot;
mod spent;
mod state;
pub mod tasks;
mod waiting;

pub use chain::{Broken, Checked};
pub use follow::LogFollower;
pub use head::Missing;
pub use log::Log;
pub use note::SCHEMA;
pub use search::Search;
pub use state::Store;
