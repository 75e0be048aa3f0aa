//! Facts about targets, each queried from the world at most once and cached for the call. After the analysis, only this
//! module queries the machine.

pub mod agent_settings;
mod at_stake;
pub(crate) mod cache;
mod classes;
mod connection;
mod destination;
mod dispatch;
pub(crate) mod excerpt;
pub(crate) mod fact;
mod git;
mod guard;
mod hooks;
mod landed;
mod listed;
pub(crate) mod location;
mod paths;
mod regenerable;
mod replaced;
mod switches;
mod user_facts;
mod writes_below;
