//! The files of a packed package: gzip and tar, read in memory, within bounds, regular files of text only.

use super::package::{MAX_BYTES, MAX_FILES, belongs};
use crate::world::gzip::inflate;
use std::io::Read;
use std::path::{Component, Path};

/// The files that a reflex may consist of, without the folder in which archives keep everything.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<(String, String)>, String> {
    let tar = inflate(bytes)?;
    let mut files = Vec::new();
    let mut archive = tar::Archive::new(tar.as_slice());
    let broken = |error: std::io::Error| format!("this is no tar archive: {error}");
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
        entry.read_to_string(&mut text).map_err(|_| format!("`{inner}` is no text"))?;
        files.push((inner, text));
    }
    Ok(files)
}

/// The path without its first folder, which npm calls `package`.
fn below_first(path: &Path) -> Result<String, String> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str().ok_or("a name in it is no text")?.to_owned()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                return Err(format!("`{}` leads out of the archive", path.display()));
            }
        }
    }
    Ok(parts.split_off(1.min(parts.len().saturating_sub(1))).join("/"))
}
