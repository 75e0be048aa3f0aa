//! Settings files of the agents: the locations of the guard's hook, and edits that add or remove it.

pub(crate) mod files;
pub(crate) mod guard_line;
mod guards;
pub(crate) mod hook_command;
pub(crate) mod hook_file;
pub(crate) mod json_text;
mod mcp_servers;
pub(crate) mod plugin;
pub(crate) mod trust;

pub use files::{FolderTrust, Managed, PluginFiles, Settings, SettingsError, SettingsFile, Start, Switch};
pub use guards::{OLDER_FILES, guard_hooks, is_older_plugin, older_guards, without_older_guards};
pub use mcp_servers::{MCP_CLIENTS, McpClient, McpFormat, ProxyCommand, Reach};
