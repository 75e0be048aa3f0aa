//! This machine: facts from files and git, the guard's folders, and its records of every call.
//!
//! The modules from the ground up; each imports only those above it in this list:
//!
//! - `system` asks the operating system: time, folders, terminal, small files, processes.
//! - [`store`] keeps the audit log, sessions, approvals and signatures, and redacts what is kept.
//! - `world` answers the engine's questions about this machine.
//! - [`config`] loads the rules and policies that people wrote.
//! - [`catalog`] handles reflexes as packages.
//! - `install` writes hook entries into agents' settings and checks that they work.
//! - [`git_hooks`] is the guard as a git hook.
//! - [`mcp`] is the guard as a proxy in front of an MCP server.
//! - [`reflexes`] runs the reflexes in force as one detector.
//! - [`auto_pilot`] asks a model whether a call may run.
//! - `audit` writes the record of a call.
//! - `pipeline` turns the payload of a call into the answer.

mod audit;
pub mod auto_pilot;
pub mod catalog;
pub mod config;
pub mod git_hooks;
mod install;
pub mod mcp;
mod pipeline;
pub mod reflexes;
pub mod store;
mod system;
mod world;

pub use config as layers;
pub use config::{Mode, SESSION_MODE, library_rules, rationale, rule_place};
pub use install::{
    Change, HookError, Rekeying, TrustError, Wiring, WiringError, assurance, client, doctor, lasting, live, matrix,
    mcp_servers, namesakes, notices, older, state_folder, switches,
};
pub use pipeline::{
    ChangedFiles, Counts, Host, Instead, MAX_IN_A_ROW, NotConsulted, NotInstead, Replied, RunChanges, Starts,
    UnseenLine, WatchedRun,
};
pub use reflex_keep as keep;
pub use reflex_library::{DIGEST as LIBRARY_DIGEST, JUDGE_CASES};
pub use reflex_rules as rules;
pub use store::appeal::{Appeal, MAX_APPEALS};
pub use store::approvals::answers;
pub use store::bound::Bound;
pub use store::signing;
pub use system::browser::open_browser;
pub use system::clock::{duration, local, moment, now, timestamp};
pub use system::context::{Context, RelativeHome};
pub use system::environment::Environment;
pub use system::fault::Fault;
pub use system::folders::{Folders, PurgeError};
pub use system::hidden::is_hidden;
pub use system::http;
pub use system::os::{in_new_process_group, options_with_mode, terminal};
pub use system::person;
pub use system::random::token;
pub use world::LocalWorld;
