//! Unpacks a package: gzip and tar, in memory, within limits, regular text files only.

use super::error::ArchiveError;
use super::package::{MAX_BYTES, MAX_FILES, belongs};
use crate::world::gzip::inflate;
use std::io::Read;
use std::path::{Component, Path};

/// Returns the files that belong to a reflex, by their path below the archive's top folder.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<(String, String)>, ArchiveError> {
    let tar = inflate(bytes)?;
    let mut files = Vec::new();
    let mut archive = tar::Archive::new(tar.as_slice());
    for entry in archive.entries().map_err(ArchiveError::Tar)? {
        let mut entry = entry.map_err(ArchiveError::Tar)?;
        let path = entry.path().map_err(ArchiveError::Tar)?.into_owned();
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let inner = below_first(&path)?;
        if !belongs(&inner) {
            continue;
        }
        if files.len() >= MAX_FILES || entry.size() > MAX_BYTES as u64 {
            return Err(ArchiveError::TooLarge { max_files: MAX_FILES, max_kib: MAX_BYTES / 1024 });
        }
        let mut text = String::new();
        entry.read_to_string(&mut text).map_err(|_| ArchiveError::NotText(inner.clone()))?;
        files.push((inner, text));
    }
    Ok(files)
}

/// Strips the first folder of a path, which npm calls `package`.
fn below_first(path: &Path) -> Result<String, ArchiveError> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str().ok_or(ArchiveError::Name)?.to_owned()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                return Err(ArchiveError::Outside(path.to_owned()));
            }
        }
    }
    Ok(parts.split_off(1.min(parts.len().saturating_sub(1))).join("/"))
}
