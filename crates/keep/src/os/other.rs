//! Systems without backups: every request is refused, so a loss leads to a prompt.

use super::model::{Kind, Stat};
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The metadata of a file.
pub(crate) fn stat(_path: &Path) -> io::Result<Stat> {
    unsupported()
}

/// Converts metadata.
pub(crate) fn stat_of(data: &Metadata) -> Stat {
    let kind = Kind::Other;
    let size = data.len();
    Stat { kind, mode: 0, owner: (0, 0), times: [(0, 0); 2], changed: (0, 0), size, place: (0, 0), names: 1 }
}

/// Opens a file for a backup.
pub(crate) fn open_original(_path: &Path) -> io::Result<File> {
    unsupported()
}

/// Opens a file for reading.
pub(crate) fn open_source(_path: &Path) -> io::Result<File> {
    unsupported()
}

/// Opens a file for rewriting its content.
pub(crate) fn open_target(_path: &Path) -> io::Result<File> {
    unsupported()
}

/// Creates a file.
pub(crate) fn create(_path: &Path) -> io::Result<File> {
    unsupported()
}

/// Creates a folder.
pub(crate) fn create_folder(_path: &Path) -> io::Result<()> {
    unsupported()
}

/// Clones a file.
pub(crate) fn share(_to: &File, _from: &File) -> io::Result<()> {
    unsupported()
}

/// The extended attributes of an open file.
pub(crate) fn attributes_of(_file: &File, _path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    unsupported()
}

/// The extended attributes of a file.
pub(crate) fn attributes(_path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    unsupported()
}

/// Sets extended attributes.
pub(crate) fn set_attributes(_path: &Path, _attributes: &[(Vec<u8>, Vec<u8>)]) -> io::Result<()> {
    unsupported()
}

/// Sets the owner.
pub(crate) fn set_owner(_path: &Path, _owner: (u32, u32)) {}

/// Does nothing: modes do not forbid access.
pub(crate) fn make_accessible(_path: &Path) {}

/// Sets the mode.
pub(crate) fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    unsupported()
}

/// Sets access and modification time.
pub(crate) fn set_times(_path: &Path, _times: [(i64, i64); 2]) -> io::Result<()> {
    unsupported()
}

/// Creates a symbolic link.
pub(crate) fn link(_to: &Path, _at: &Path) -> io::Result<()> {
    unsupported()
}

/// Creates a named pipe.
pub(crate) fn pipe(_at: &Path) -> io::Result<()> {
    unsupported()
}

/// The bytes of a path.
pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

/// The path with these bytes.
pub(crate) fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

/// A random number.
pub(crate) fn random() -> io::Result<u64> {
    unsupported()
}
