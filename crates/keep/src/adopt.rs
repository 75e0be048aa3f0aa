//! Backups whose copies another has made while a program ran: a folder of numbered files becomes a backup.

use crate::manifest;
use crate::model::{About, Backup, Item, ItemKind, Left, Moved, Refused};
use crate::os::{self, Kind};
use crate::store::{BackupStore, WATCHING, mark, now};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

impl BackupStore {
    /// A path in the store for a folder of numbered copies, which [`BackupStore::adopt`] makes a backup. The folder is
    /// not created. Until it is adopted, it is neither listed nor removed.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn place_for_copies(&self) -> Result<PathBuf, Refused> {
        Ok(self.folder().join(format!("{WATCHING}{}", self.fresh_id()?)))
    }

    /// The folders of copies that are not adopted yet.
    pub fn copies_to_adopt(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_one = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(WATCHING));
        entries.filter(is_one).collect()
    }

    /// Makes a folder of copies a backup: those that `items` name by number, without the other files in the folder.
    /// Sizes and extended attributes of files are taken from their copies. Returns the backup's id.
    ///
    /// # Errors
    /// A copy cannot be read, or the manifest cannot be written. The folder stays, and can be adopted again.
    pub fn adopt(&self, folder: &Path, items: Vec<Item>, about: &About) -> Result<String, Refused> {
        let failed = |error| Refused::Failed(folder.to_owned(), error);
        let id = folder.file_name().map(|name| name.to_string_lossy().replace(WATCHING, "")).unwrap_or_default();
        let mut sizes = BTreeMap::new();
        let mut items = items;
        for item in &mut items {
            fill(folder, item, &mut sizes).map_err(failed)?;
        }
        let bytes = sizes.values().sum();
        // The copies stay even beyond the size that one session may keep.
        let _ = self.make_room(bytes, &mark(&about.session));
        let time = now();
        let backup = Backup { id, time, bytes, about: about.clone(), items, folder: folder.to_owned() };
        match fs::remove_file(folder.join(manifest::NAME)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => manifest::write_through(&backup).map_err(failed)?,
        }
        let Backup { id, .. } = backup;
        let place = self.folder().join(format!("{id}-{time}-{bytes}-{}", mark(&about.session)));
        fs::rename(folder, &place).map_err(failed)?;
        remove_unnamed(&place, &sizes);
        Ok(id)
    }
}

/// Completes an item of a file from its copy.
fn fill(folder: &Path, item: &mut Item, sizes: &mut BTreeMap<u64, u64>) -> io::Result<()> {
    let ItemKind::File { copy, size, .. } = &mut item.kind else { return Ok(()) };
    let path = folder.join(copy.to_string());
    let mut stat = os::stat(&path)?;
    if stat.kind != Kind::File {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // The original may still have the mode of one that its owner must not read, or that runs with other rights.
    if stat.names == 1 && stat.mode & 0o7600 != 0o600 {
        let _ = os::set_mode(&path, 0o600);
    } else if stat.names > 1 {
        unshare(&path)?;
        stat = os::stat(&path)?;
    }
    sizes.insert(*copy, stat.size);
    *size = stat.size;
    item.attributes = os::attributes(&path)?;
    Ok(())
}

/// Replaces a further name of a file that lives on by a copy.
fn unshare(path: &Path) -> io::Result<()> {
    let making = path.with_extension("making");
    let _ = fs::remove_file(&making);
    let (source, target) = (os::open_source(path)?, os::create(&making)?);
    if os::share(&target, &source).is_err() {
        io::copy(&mut &source, &mut &target)?;
    }
    os::set_attributes(&making, &os::attributes(path)?)?;
    fs::rename(&making, path)
}

/// Removes the files of a backup that none of its items needs.
fn remove_unnamed(folder: &Path, copies: &BTreeMap<u64, u64>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_named = name.parse().is_ok_and(|copy| copies.contains_key(&copy));
        if !is_named && name != manifest::NAME {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Item {
    /// An item without metadata.
    pub fn bare(path: PathBuf, kind: ItemKind) -> Item {
        let (mode, owner, times) = (0, (0, 0), [(0, 0); 2]);
        Item { path, kind, mode, owner, times, attributes: Vec::new(), left: Left::Unknown }
    }

    /// An item for the file or folder at a path, which was at `path` before.
    ///
    /// # Errors
    /// It cannot be looked up.
    pub fn of_unchanged(path: PathBuf, at: PathBuf) -> io::Result<Item> {
        let stat = os::stat(&at)?;
        let attributes = os::attributes(&at).unwrap_or_default();
        let (kind, left) = (ItemKind::Unchanged { at, place: stat.place }, Left::Unknown);
        Ok(Item { path, kind, mode: stat.mode, owner: stat.owner, times: stat.times, attributes, left })
    }
}

impl Left {
    /// The present state of a path.
    pub fn of(path: &Path) -> Left {
        match os::stat(path) {
            Ok(stat) => Left::As { place: stat.place, size: stat.size, written: stat.times[1] },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Left::Gone,
            Err(_) => Left::Unknown,
        }
    }
}

impl Moved {
    /// The item of what is at the old path, which is looked for at the new one later.
    pub(crate) fn item(&self) -> Result<Item, Refused> {
        let item = Item::of_unchanged(self.from.clone(), self.from.clone());
        let mut item = item.map_err(|error| Refused::Failed(self.from.clone(), error))?;
        if let ItemKind::Unchanged { at, .. } = &mut item.kind {
            at.clone_from(&self.to);
        }
        Ok(item)
    }
}
