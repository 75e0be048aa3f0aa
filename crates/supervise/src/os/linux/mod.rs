//! The mechanism: a filter, its listener, and a tracer for the moment of the start.

#[cfg(test)]
mod attacks;
mod calls;
mod filter;
mod image;
mod keeper;
mod memory;
mod nesting;
mod notice;
mod place;
mod probe;
mod socket;
mod supervisor;
mod tracer;
mod turn;
mod watcher;

pub use image::{parent, program, since};
pub use keeper::{Keeper, records};
pub use nesting::is_below_supervisor;
pub use probe::probe;
pub use supervisor::{Supervision, occupied};
pub use turn::pass_turn;
