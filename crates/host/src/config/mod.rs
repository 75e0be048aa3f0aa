//! Rules and policies that people wrote: found, compiled once, and cached by the identity of their files.

pub(crate) mod asking;
mod auto_pilot;
mod bases;
mod cache;
mod candidate;
mod compile;
mod files;
pub(crate) mod judge;
mod library;
mod load;
mod loaded;
mod mode;
mod offer;
pub(crate) mod own;
mod people;
mod standing;
pub mod trust;

pub use auto_pilot::{JudgeConfig, Provider};
pub(crate) use cache::Cache;
pub use candidate::Candidate;
pub use compile::compile;
pub use files::{Found, Place};
pub use library::{library_rules, rule_place};
pub use load::load;
pub(crate) use load::load_there;
pub(crate) use loaded::record;
pub use loaded::{Loaded, There};
pub use mode::{Mode, SESSION_MODE};
pub use offer::Offer;
pub use own::accept_reflex;
pub use people::{Opened, lowered, named, offer, offer_of_own, open};
pub use standing::{preset_in_force, standing};
