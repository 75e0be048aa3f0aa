//! What is written about a call, and what the log says about a session.

pub(crate) mod record;
pub(crate) mod skills;
