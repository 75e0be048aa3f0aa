//! What the cases need to know about a client: where it comes from, how it is started, and what is played with it.

use std::path::PathBuf;
use std::process::Command;

use super::cases::Case;
use super::npm::Package;
use super::sandbox::{Mode, Sandbox};

/// One real client.
pub(super) struct Client {
    /// The name that `--agent` takes.
    pub(super) name: &'static str,
    /// Where it comes from.
    pub(super) package: Package,
    /// Sets arguments and environment so that it works through one prompt with the model at this address.
    pub(super) start: fn(&Sandbox, &mut Command, &Mode, model: &str),
    /// The file that `init` writes.
    pub(super) settings: fn(&Sandbox) -> PathBuf,
    /// What is played with it, in this order.
    pub(super) cases: &'static [Case],
}

/// What every client is asked to do; the scripted model decides what really happens.
pub(super) const PROMPT: &str = "Please do the task.";

/// All clients, in the order in which they are played.
pub(super) const CLIENTS: &[Client] = &[
    super::claude::CLIENT,
    super::codex::CLIENT,
    super::copilot::CLIENT,
    super::gemini::CLIENT,
    super::qwen::CLIENT,
    super::opencode::CLIENT,
];
