//! Reads objects from the local store. Never fetches, and never reads an object above the limit.

use crate::files::read;
use crate::model::fact::{Fact, Unknown};
use crate::repository::Repository;
use crate::system::native;
use gix_hash::ObjectId;
use gix_object::{Find, Kind};
use std::path::{Path, PathBuf};

const MAXIMUM_OBJECT: usize = 64 * 1024 * 1024;
const MAXIMUM_PACK_FILES: usize = 20_000;
const MAXIMUM_ALTERNATES: u64 = 64 * 1024;
const MAXIMUM_FOLDERS: usize = 16;

/// An opened object store.
pub(crate) struct Objects {
    store: gix_odb::Handle,
    folders: Vec<PathBuf>,
    buffer: Vec<u8>,
}

impl Objects {
    /// Checks every pack first: the store would open a pipe in place of a pack and hang.
    pub(crate) fn open(repository: &Repository) -> Fact<Self> {
        let folder = repository.common_dir.join("objects");
        let mut folders = Vec::new();
        add_with_alternates(folder.clone(), &mut folders)?;
        folders.iter().try_for_each(|folder| only_regular_files(&folder.join("pack")))?;
        let options = gix_odb::store::init::Options {
            alloc_limit_bytes: Some(MAXIMUM_OBJECT),
            current_dir: Some(repository.common_dir.clone()),
            ..Default::default()
        };
        let store = gix_odb::at_opts(folder, repository.object_hash()?, [], options);
        let store = store.map_err(|_| Unknown("the object store cannot be opened"))?;
        Ok(Objects { store, folders, buffer: Vec::new() })
    }

    pub(crate) fn find(&mut self, id: &ObjectId, kind: Kind) -> Fact<&[u8]> {
        let (found, data) = self.find_any(id)?;
        if found == kind { Ok(data) } else { Err(Unknown("an object is not of the expected kind")) }
    }

    pub(crate) fn find_any(&mut self, id: &ObjectId) -> Fact<(Kind, &[u8])> {
        let name = id.to_string();
        let (start, rest) = name.split_at_checked(2).unwrap_or_default();
        for folder in &self.folders {
            match std::fs::metadata(folder.join(start).join(rest)) {
                Ok(found) if !found.is_file() => return Err(Unknown("an object is not a regular file")),
                _ => {}
            }
        }
        let found = self.store.try_find(id, &mut self.buffer).map_err(|_| Unknown("an object cannot be read"))?;
        let found = found.ok_or(Unknown("an object is missing"))?;
        Ok((found.kind, found.data))
    }
}

fn only_regular_files(folder: &Path) -> Fact<()> {
    let Ok(listing) = std::fs::read_dir(folder) else { return Ok(()) };
    for (count, entry) in listing.enumerate() {
        let unreadable = Unknown("the packs cannot be listed");
        let entry = entry.map_err(|_| unreadable.clone())?;
        let kind = entry.file_type().map_err(|_| unreadable.clone())?;
        let regular = kind.is_file() || std::fs::metadata(entry.path()).is_ok_and(|found| found.is_file());
        if !regular && !kind.is_dir() {
            return Err(Unknown("a pack is not a regular file"));
        }
        if count > MAXIMUM_PACK_FILES {
            return Err(Unknown("too many packs"));
        }
    }
    Ok(())
}

fn add_with_alternates(folder: PathBuf, folders: &mut Vec<PathBuf>) -> Fact<()> {
    if folders.contains(&folder) {
        return Ok(());
    }
    if folders.len() >= MAXIMUM_FOLDERS {
        return Err(Unknown("too many alternate object stores"));
    }
    let named = read::file(&folder.join("info/alternates"), MAXIMUM_ALTERNATES)?.unwrap_or_default();
    folders.push(folder.clone());
    let lines = named.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    for line in lines {
        if line.starts_with(b"\"") {
            return Err(Unknown("an alternate object store has a quoted name"));
        }
        add_with_alternates(folder.join(native(line)), folders)?;
    }
    Ok(())
}
