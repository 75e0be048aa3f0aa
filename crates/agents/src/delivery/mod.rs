//! Delivery of a verdict, within the answers that the agent supports.

pub(crate) mod deliver;
pub(crate) mod message;
mod replaced;
