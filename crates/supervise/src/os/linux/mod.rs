//! The mechanism: a filter, its listener, and a tracer for the moment of the start.

#[cfg(test)]
mod attacks;
mod filter;
mod image;
mod memory;
mod nesting;
mod notice;
mod probe;
mod socket;
mod supervisor;
mod tracer;

pub use image::{parent, program, since};
pub use nesting::is_below_supervisor;
pub use probe::probe;
pub use supervisor::{Supervision, occupied};
