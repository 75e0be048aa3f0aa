//! The hook entries in the agents' settings: written, examined, proven by a real client.

mod client_trust;
pub mod doctor;
pub mod live;
pub mod matrix;
mod proof;
mod wiring;

pub use wiring::{Change, Wiring};
