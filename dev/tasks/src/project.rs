//! Location of this project and its build products, and its cargo.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// This checkout.
pub struct Project {
    /// The folder of the workspace's manifest.
    pub root: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
}

impl Project {
    /// The checkout in which `cargo xtask` was called.
    pub fn of_environment() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").context("run this as `cargo xtask`")?;
        let root = Path::new(&manifest).parent().context("xtask lies in no workspace")?.to_owned();
        // A relative target folder is relative to cargo's working directory, which is also ours.
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => std::path::absolute(folder).context("invalid CARGO_TARGET_DIR")?,
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// A cargo command with these arguments, in this checkout and with the same target folder.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut cargo = tool(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(arguments).current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        cargo
    }
}

/// Variable for the home with the files of build tools, used while a suite runs in another home.
pub const TOOLS_HOME: &str = "REFLEX_TOOLS_HOME";

/// Variables that a hostile home sets in addition to `HOME`.
pub const XDG: [&str; 3] = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"];

/// A command for a build tool, with the user's real home, which contains downloads and registry settings.
pub fn tool(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    if let Some(home) = env::var_os(TOOLS_HOME) {
        command.env("HOME", home);
        for variable in XDG {
            command.env_remove(variable);
        }
    }
    command
}
