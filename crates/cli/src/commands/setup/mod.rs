//! Commands that install the guard, show whether it works, and choose how it judges.

pub(in crate::commands) mod doctor;
pub(in crate::commands) mod emit;
pub(in crate::commands) mod init;
pub(in crate::commands) mod init_mcp;
pub(in crate::commands) mod judge;
pub(in crate::commands) mod mcp;
pub(in crate::commands) mod mode;
mod own_program;
pub(in crate::commands) mod pin;
pub(in crate::commands) mod planned;
pub(in crate::commands) mod run;
pub(in crate::commands) mod selection;
pub(in crate::commands) mod signature;
pub(in crate::commands) mod status;
pub(in crate::commands) mod status_facts;
pub(in crate::commands) mod status_line;
pub(in crate::commands) mod status_summary;
mod supervise;
pub(in crate::commands) mod update;
pub(in crate::commands) mod verify_live;
pub(in crate::commands) mod watch;
