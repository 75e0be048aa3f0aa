//! Commands over recorded calls: the log, its explanation, and backups.

pub(in crate::commands) mod audit;
pub(in crate::commands) mod export;
pub(in crate::commands) mod record;
pub(in crate::commands) mod report;
pub(in crate::commands) mod search;
mod starts;
pub(in crate::commands) mod undo;
pub(in crate::commands) mod why;
