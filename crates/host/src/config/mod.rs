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
pub(crate) mod loosening;
mod mode;
mod offer;
mod overview;
mod precedence;
pub mod trust;
pub(crate) mod watch;

pub use auto_pilot::{JudgeConfig, Provider};
pub(crate) use cache::Cache;
pub use candidate::Candidate;
pub use compile::compile;
pub use files::{Found, Place};
pub use library::{library_rules, rationale, rule_place};
pub(crate) use load::load_with_presence;
pub use load::{LAST_GOOD_IN_FORCE, NOT_IN_FORCE, load};
pub(crate) use loaded::record;
pub use loaded::{Loaded, PresentFolders};
pub use loosening::accept_reflex;
pub use mode::{Mode, SESSION_MODE};
pub use offer::Offer;
pub use overview::{NamedError, Opened, lowered, named, offer, offer_of_user, open};
pub use precedence::{preset_in_force, standing};
