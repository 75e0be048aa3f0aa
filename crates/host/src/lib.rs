//! This machine: files and git as facts, the folders of the guard, the record of every decision.

mod answer;
pub mod git;
mod record;
mod wiring;
mod world;

pub use answer::{Host, Mode};
pub use record::Folders;
pub use wiring::{Change, Wiring};
pub use world::LocalWorld;
