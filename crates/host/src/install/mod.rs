//! Hook entries in agents' settings: writes them, examines them, and proves them with a real client.

pub mod assurance;
pub mod client;
mod client_trust;
mod client_version;
pub mod doctor;
mod error;
pub mod lasting;
pub mod live;
pub mod matrix;
pub mod mcp_servers;
pub mod namesakes;
pub mod notices;
pub mod older;
mod proof;
pub mod state_folder;
pub mod switches;
mod trouble;
mod wiring;

pub use error::{HookError, TrustError, WiringError};
pub(crate) use lasting::SettleError;
pub use proof::Rekeying;
pub use wiring::{Change, Wiring};
pub(crate) use wiring::{binary_path, write_atomically};
