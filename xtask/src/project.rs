//! Where this project and its build products lie, and its cargo.

use std::env;
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
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(arguments).current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        cargo
    }
}
