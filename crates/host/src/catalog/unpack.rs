//! Unpacks a package: gzip and tar, in memory, within limits, regular text files only.

use super::package::{MAX_BYTES, MAX_FILES, belongs};
use crate::world::gzip::inflate;
use std::io::Read;
use std::path::{Component, Path};

/// Returns the files that belong to a reflex, by their path below the archive's top folder.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<(String, String)>, String> {
    let tar = inflate(bytes)?;
    let mut files = Vec::new();
    let mut archive = tar::Archive::new(tar.as_slice());
    let broken = |error: std::io::Error| format!("this is not a tar archive: {error}");
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let path = entry.path().map_err(broken)?.into_owned();
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let inner = below_first(&path)?;
        if !belongs(&inner) {
            continue;
        }
        if files.len() >= MAX_FILES || entry.size() > MAX_BYTES as u64 {
            return Err(format!("a reflex has at most {MAX_FILES} files of {} KiB", MAX_BYTES / 1024));
        }
        let mut text = String::new();
        entry.read_to_string(&mut text).map_err(|_| format!("`{inner}` is not a text file"))?;
        files.push((inner, text));
    }
    Ok(files)
}

/// Strips the first folder of a path, which npm calls `package`.
fn below_first(path: &Path) -> Result<String, String> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => {
                parts.push(name.to_str().ok_or("a file name in it is not valid text")?.to_owned())
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                return Err(format!("`{}` leads out of the archive", path.display()));
            }
        }
    }
    Ok(parts.split_off(1.min(parts.len().saturating_sub(1))).join("/"))
}
