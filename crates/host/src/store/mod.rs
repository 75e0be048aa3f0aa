//! The guard's persistent state: the audit log, each session's last calls, a person's approvals, signs of life.
//!
//! All files are below `~/.local/state/reflex` in the user's home. This module makes no decisions. The rest of the host
//! accesses the state only through [`Store`], so that the same few methods could be implemented by a team's server.

pub mod alarm;
pub(crate) mod appeal;
mod append;
pub mod approvals;
pub(crate) mod bound;
pub mod canary;
mod chain;
mod fields;
mod follow;
mod head;
pub mod heartbeat;
mod log;
pub(crate) mod mcp_verdicts;
pub(crate) mod model_history;
pub mod modes;
pub(crate) mod note;
pub mod pause;
pub mod pins;
pub mod presence;
pub(crate) mod redact;
mod remnants;
pub(crate) mod restored;
mod search;
pub mod session;
pub mod signing;
mod snapshot;
mod state;
pub mod tasks;
mod usage;

pub use chain::{Broken, Checked, LineError};
pub use follow::LogFollower;
pub use head::Missing;
pub use log::Log;
pub(crate) use log::LogEnd;
pub use note::SCHEMA;
pub use search::{Search, Test};
pub use state::Store;
