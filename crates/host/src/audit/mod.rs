//! Writes the record of a call, and checks a session's records against its skills.

pub(crate) mod record;
pub(crate) mod skills;
