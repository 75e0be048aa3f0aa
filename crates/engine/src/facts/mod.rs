//! Facts about targets, asked of the world at most once each and remembered for the call. The only room that asks the
//! machine during judgement.

pub mod agent_settings;
mod asked_by_people;
mod below;
pub(crate) mod cache;
mod connection;
pub(crate) mod excerpt;
mod hooks;
pub(crate) mod location;
mod switches;
