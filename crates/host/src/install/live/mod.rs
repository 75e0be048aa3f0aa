//! The real client of an agent, started once with a scripted model that asks for a canary.
//!
//! It is proven only if the hook saw this run's canary and the client told its model of the refusal. The client works
//! in the folder here with the person's own settings; its endpoint is forced to the model, and nothing of a key leaves.

mod driver;
mod plan;
mod proof;

pub use crate::system::network::CANNOT;
pub use driver::{Network, drive, song};
pub use plan::{NoPlan, Plan};
pub use proof::{Outcome, Proof};
