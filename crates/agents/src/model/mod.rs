//! Agents, their payloads, and the answers that a hook can give: plain data.

pub mod abilities;
pub(crate) mod agent;
pub(crate) mod delivery;
pub(crate) mod enforcement;
pub(crate) mod payload;
pub(crate) mod reply;
pub(crate) mod surface;
