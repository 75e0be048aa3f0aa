//! Operations that differ between operating systems: attributes, times, clones.

mod model;
#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use other::*;
#[cfg(unix)]
pub(crate) use unix::*;

pub(crate) use model::{Kind, Stat};

use std::fs;
use std::io;
use std::path::Path;

/// Removes a file, or a folder with its contents, if there is one.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match stat(path) {
        Ok(current) if current.kind == Kind::Folder => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
