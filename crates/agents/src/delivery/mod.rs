//! What becomes of a verdict, given what the agent lets a hook say.

pub(crate) mod deliver;
pub(crate) mod message;
mod replaced;
