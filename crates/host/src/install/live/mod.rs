//! Runs an agent's real client once, with a scripted model that requests a canary.
//!
//! A proof requires that the hook received this run's canary and that the client passed the refusal to its model. The
//! client works in the current folder with the person's own settings; its endpoint is forced to the model, and no key
//! leaves the machine.

mod driver;
mod plan;
mod proof;

pub use crate::system::network::CANNOT;
pub use driver::{Network, drive, song};
pub use plan::{NoPlan, Plan};
pub use proof::{Outcome, Proof};
