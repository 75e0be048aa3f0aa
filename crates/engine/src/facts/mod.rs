//! Facts about targets, asked of the world at most once each and remembered for the call. The only room that asks the
//! machine during judgement.

pub mod agent_settings;
mod asked_by_people;
mod below;
pub(crate) mod cache;
mod classes;
mod connection;
mod dispatch;
pub(crate) mod excerpt;
pub(crate) mod fact;
mod git;
mod guard;
mod hooks;
pub(crate) mod location;
mod paths;
mod pointed;
mod replaced;
mod switches;
