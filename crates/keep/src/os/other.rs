//! Systems on which nothing is kept yet: every request is refused, so that what may be lost is asked about.

use super::model::{Kind, Stat};
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What stands at a path; of a link the link itself.
pub(crate) fn stat(_path: &Path) -> io::Result<Stat> {
    unsupported()
}

/// What the system has said already.
pub(crate) fn stat_of(data: &Metadata) -> Stat {
    let kind = Kind::Other;
    let size = data.len();
    Stat { kind, mode: 0, owner: (0, 0), times: [(0, 0); 2], changed: (0, 0), size, place: (0, 0), names: 1 }
}

/// Opens a file that is to be kept.
pub(crate) fn open_original(_path: &Path) -> io::Result<File> {
    unsupported()
}

/// Opens a file for copying.
pub(crate) fn open_source(_path: &Path) -> io::Result<File> {
    unsupported()
}

/// Opens a file whose content is written anew.
pub(crate) fn open_target(_path: &Path) -> io::Result<File> {
    unsupported()
}

/// A new file that only its owner can read.
pub(crate) fn create(_path: &Path) -> io::Result<File> {
    unsupported()
}

/// A new folder that only its owner can look into.
pub(crate) fn create_folder(_path: &Path) -> io::Result<()> {
    unsupported()
}

/// Makes a copy that shares its bytes with the source.
pub(crate) fn share(_to: &File, _from: &File) -> io::Result<()> {
    unsupported()
}

/// The extended attributes of an open file.
pub(crate) fn attributes_of(_file: &File, _path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    unsupported()
}

/// The extended attributes of what stands at a path.
pub(crate) fn attributes(_path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    unsupported()
}

/// Gives a file its attributes.
pub(crate) fn set_attributes(_path: &Path, _attributes: &[(Vec<u8>, Vec<u8>)]) -> io::Result<()> {
    unsupported()
}

/// Gives a file to its owner.
pub(crate) fn set_owner(_path: &Path, _owner: (u32, u32)) {}

/// Sets who may do what with a file.
pub(crate) fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    unsupported()
}

/// Sets when a file was read and written.
pub(crate) fn set_times(_path: &Path, _times: [(i64, i64); 2]) -> io::Result<()> {
    unsupported()
}

/// Makes a symbolic link.
pub(crate) fn link(_to: &Path, _at: &Path) -> io::Result<()> {
    unsupported()
}

/// Makes a named pipe.
pub(crate) fn pipe(_at: &Path) -> io::Result<()> {
    unsupported()
}

/// A path as the bytes that it is made of.
pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

/// The path that these bytes are.
pub(crate) fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

/// A number that nobody can guess.
pub(crate) fn random() -> io::Result<u64> {
    unsupported()
}
