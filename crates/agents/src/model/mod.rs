//! What an agent is, what it hands to a hook and what a hook can answer: plain data.

pub mod abilities;
pub(crate) mod agent;
pub(crate) mod delivery;
pub(crate) mod enforcement;
pub(crate) mod payload;
pub(crate) mod reply;
pub(crate) mod surface;
