//! One adapter per coding agent: parses payloads into events and renders verdicts as answers. Adapters make no
//! decisions.
//!
//! An agent is one file in `adapters` with an [`Agent`], and its entry in [`AGENTS`].

mod adapters;
mod delivery;
mod form;
mod json;
pub mod live;
mod model;
mod registry;
pub mod settings;
mod tools;
mod version;

pub use adapters::{
    claude, codex, copilot, cursor, gemini, git, mcp, opencode, qwen, stranger, supervisor, universal, windsurf,
};
pub use delivery::deliver::deliver;
pub use delivery::message::MAX_REASONS;
pub use json::{BadEvent, object};
pub use model::abilities::{self, Ask, HookCapabilities, Line};
pub use model::agent::Agent;
pub use model::delivery::Delivery;
pub use model::enforcement::Enforcement;
pub use model::payload::Payload;
pub use model::reply::Reply;
pub use model::surface::{Extent, Limit, Surface};
pub use registry::{AGENTS, caller, find};
pub use settings::files::{
    CommandFiles, FolderTrust, Judged, Managed, PluginFiles, Settings, SettingsError, SettingsFile, Start, Switch,
};
pub use settings::hook_command::HookCommand;
pub use settings::trust::{Step, Trust};
pub use version::is_older;
