//! Systems without a mechanism that holds without an installation by root.

use crate::error::ProbeError;
use crate::kept::{KeeperOptions, Record, Tally};
use crate::loss::{Fate, Loss, Watch};
use crate::scope::Scope;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// A supervised process tree, which this system lacks.
#[derive(Debug)]
pub struct Supervision(());

impl Supervision {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn start(_command: &mut Command, _scope: Scope) -> io::Result<(Supervision, Child)> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Never called, as `start` always fails.
    ///
    /// # Errors
    /// Always.
    pub fn wait(&self, _child: &mut Child) -> io::Result<std::process::ExitStatus> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Never called, as `start` always fails.
    pub fn tree_ends_within(&self, _time: Duration) -> bool {
        true
    }
}

/// Keeps what a watched run loses, which this system cannot watch.
#[derive(Debug)]
pub struct Keeper(());

impl Keeper {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn create(_folder: &Path, _options: KeeperOptions) -> io::Result<Keeper> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Nothing.
    pub fn tally(&self) -> Tally {
        Tally::default()
    }
}

impl Watch for Keeper {
    fn before(&self, _loss: &Loss) -> Fate {
        Fate::Continue
    }

    fn report_unresolved(&self, _process: u32, _why: &io::Error) {}
}

/// Fails.
///
/// # Errors
/// Always.
pub fn records(_folder: &Path) -> io::Result<Vec<Record>> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// The reason why this system cannot supervise.
///
/// # Errors
/// Always.
pub fn probe() -> Result<(), ProbeError> {
    Err(ProbeError::System)
}

/// Whether a supervisor runs above this process: never.
pub fn is_below_supervisor() -> bool {
    false
}

/// Does nothing.
pub fn occupied() {}

/// Has no effect.
pub fn pass_turn() {}

/// The file of the program that a process runs; not looked up on this system.
pub fn program(_process: u32) -> PathBuf {
    PathBuf::new()
}

/// The time at which a process began; not looked up on this system.
pub fn since(_process: u32) -> u64 {
    0
}

/// The parent of a process and the time at which it began; not looked up on this system.
pub fn parent(_process: u32) -> Option<(u32, u64)> {
    None
}
