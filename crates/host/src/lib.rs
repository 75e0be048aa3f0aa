//! This machine: files and git as facts, the folders of the guard, what it remembers of every call.

mod aliases;
mod answer;
mod appeal;
mod archive;
mod case;
pub mod catalog;
mod checks;
mod clean;
mod clock;
pub mod doctor;
mod ending;
mod folders;
pub mod git;
pub mod layers;
pub mod live;
pub mod matrix;
mod memory;
pub mod person;
mod proof;
mod record;
pub mod reflexes;
pub mod signing;
mod skills;
pub mod store;
mod trust;
mod view;
mod wiring;
mod world;

pub use answer::{Host, Mode, library_rules, rule_place};
pub use appeal::{Appeal, MOST_APPEALS};
pub use clock::{duration, moment, now, timestamp};
pub use ending::MOST_IN_A_ROW;
pub use folders::{Folders, choose_home, chosen_home};
pub use reflex_rules as rules;
pub use wiring::{Change, Wiring};
pub use world::LocalWorld;
