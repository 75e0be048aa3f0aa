//! This machine: files and git as facts, the folders of the guard, what it remembers of every call.

mod answer;
mod appeal;
mod bound;
mod case;
pub mod catalog;
mod checks;
pub mod config;
pub mod doctor;
mod ending;
pub mod git;
pub mod live;
pub mod matrix;
mod memory;
mod proof;
mod record;
pub mod reflexes;
mod skills;
pub mod store;
mod system;
mod trust;
mod wiring;
mod world;

pub use answer::Host;
pub use config as layers;
pub use config::{Mode, library_rules, rule_place};
pub use ending::MOST_IN_A_ROW;
pub use reflex_rules as rules;
pub use store::appeal::{Appeal, MOST_APPEALS};
pub use store::bound::Bound;
pub use store::signing;
pub use system::clock::{duration, moment, now, timestamp};
pub use system::folders::{Folders, choose_home, chosen_home};
pub use system::person;
pub use wiring::{Change, Wiring};
pub use world::LocalWorld;
