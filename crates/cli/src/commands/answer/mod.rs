//! Commands with which a person answers calls and declares tasks.

pub(in crate::commands) mod allow;
pub(in crate::commands) mod appeal;
pub(in crate::commands) mod approve;
pub(in crate::commands) mod list;
pub(in crate::commands) mod policy_line;
pub(in crate::commands) mod prompt_counts;
mod proposal;
pub(in crate::commands) mod suggest;
pub(in crate::commands) mod task;
pub(in crate::commands) mod trust;
pub(in crate::commands) mod ui;
