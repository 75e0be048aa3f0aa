//! Where this project and its build products lie, and its cargo.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// This checkout.
pub(crate) struct Project {
    /// The folder of the workspace's manifest.
    pub(crate) root: PathBuf,
    /// Cargo's target folder.
    pub(crate) target: PathBuf,
}

impl Project {
    /// The checkout that `cargo xtask` was called in.
    pub(crate) fn of_environment() -> Result<Self, String> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").ok_or("run this as `cargo xtask`")?;
        let root = Path::new(&manifest).parent().ok_or("xtask lies in no workspace")?.to_owned();
        // A relative target folder is meant from where cargo was called, which is also our working directory.
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => std::path::absolute(folder).map_err(|error| format!("CARGO_TARGET_DIR: {error}"))?,
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// Cargo with these arguments, in this checkout and with the same target folder.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut cargo = tool(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(arguments).current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        cargo
    }
}

/// Names the home in which build tools keep their files, where a suite is played in another one.
pub(crate) const TOOLS_HOME: &str = "REFLEX_TOOLS_HOME";

/// Variables that a hostile home sets beside `HOME`.
pub(crate) const XDG: [&str; 3] = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"];

/// A build tool, with the home of whoever runs this: downloads and settings of the registry are there.
pub(crate) fn tool(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    if let Some(home) = env::var_os(TOOLS_HOME) {
        command.env("HOME", home);
        for variable in XDG {
            command.env_remove(variable);
        }
    }
    command
}
