//! The properties of a client that the cases need: its package, its start, and its cases.

use std::path::PathBuf;
use std::process::Command;

use super::cases::Case;
use super::npm::Package;
use super::sandbox::{Mode, Sandbox};

/// One real client.
pub(super) struct Client {
    /// The name for `--agent`.
    pub(super) name: &'static str,
    /// Its npm package.
    pub(super) package: Package,
    /// Sets arguments and environment so that the client handles one prompt with the model at this address.
    pub(super) start: fn(&Sandbox, &mut Command, &Mode, model: &str),
    /// The settings file that `init` writes.
    pub(super) settings: fn(&Sandbox) -> PathBuf,
    /// Its cases, in order.
    pub(super) cases: &'static [Case],
}

/// All clients, in the order in which they are run.
pub(super) const CLIENTS: &[Client] = &[
    super::claude::CLIENT,
    super::codex::CLIENT,
    super::copilot::CLIENT,
    super::gemini::CLIENT,
    super::qwen::CLIENT,
    super::opencode::CLIENT,
];
