//! This machine: files and git as facts, the folders of the guard, what it remembers of every call.

mod audit;
pub mod catalog;
pub mod config;
pub mod git;
mod install;
mod pipeline;
pub mod reflexes;
pub mod store;
mod system;
mod world;

pub use config as layers;
pub use config::{Mode, library_rules, rule_place};
pub use install::{Change, Wiring, doctor, live, matrix};
pub use pipeline::{Host, MOST_IN_A_ROW};
pub use reflex_rules as rules;
pub use store::appeal::{Appeal, MOST_APPEALS};
pub use store::bound::Bound;
pub use store::signing;
pub use system::clock::{duration, moment, now, timestamp};
pub use system::folders::{Folders, choose_home, chosen_home};
pub use system::person;
pub use world::LocalWorld;
