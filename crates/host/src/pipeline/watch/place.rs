//! The folder of a part of a run in the backup store, and its owner.

use super::items::items;
use super::summary::PartChanges;
use crate::pipeline::host::Host;
use reflex_keep::{About, BackupStore, Item, ItemKind, Left};
use reflex_supervise::{Keeper, KeeperOptions, records};
use serde_json::{Value, json};
use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The file that describes the call. Its lock is held as long as the run is watched.
const OWNER: &str = "owner";

/// A folder that this process may make a backup.
pub(super) struct Folder {
    path: PathBuf,
    owner: File,
    about: About,
}

impl Folder {
    /// Creates the folder with its keeper.
    pub(super) fn create(store: &BackupStore, about: About, options: KeeperOptions) -> io::Result<(Folder, Keeper)> {
        let path = store.place_for_copies().map_err(|refused| io::Error::other(refused.to_string()))?;
        let keeper = Keeper::create(&path, options)?;
        let mut owner = File::create_new(path.join(OWNER))?;
        owner.lock()?;
        let About { record, client, session, workspace, what, .. } = &about;
        let text =
            json!({"record": record, "client": client, "session": session, "workspace": workspace, "what": what});
        owner.write_all(text.to_string().as_bytes())?;
        Ok((Folder { path, owner, about }, keeper))
    }

    /// Takes a folder over whose watcher has ended. `None` if it is still being watched.
    fn take_over(path: PathBuf) -> io::Result<Option<Folder>> {
        let mut owner = match File::open(path.join(OWNER)) {
            Ok(owner) => owner,
            // The watcher has ended before anything was kept.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match owner.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let mut text = String::new();
        owner.read_to_string(&mut text)?;
        let about: Value = serde_json::from_str(&text).unwrap_or_default();
        let field = |name: &str| about.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let about = About {
            record: field("record"),
            client: field("client"),
            session: field("session"),
            workspace: field("workspace"),
            what: field("what"),
            ..About::default()
        };
        Ok(Some(Folder { path, owner, about }))
    }
}

impl Host {
    /// Makes backups of the folders that a killed watcher has left. Returns their ids.
    ///
    /// # Errors
    /// A folder cannot be read, or the backup cannot be written. The folder stays.
    pub fn recover_runs(&self) -> io::Result<Vec<String>> {
        let mut ids = Vec::new();
        for path in self.backups().copies_to_adopt() {
            if let Some(folder) = Folder::take_over(path)? {
                ids.extend(self.take_over(folder)?.kept);
            }
        }
        Ok(ids)
    }

    /// Makes a folder a backup, unless nothing in it was lost, and records what has changed.
    pub(super) fn take_over(&self, folder: Folder) -> io::Result<PartChanges> {
        let Folder { path, owner, about } = folder;
        let begun = fs::metadata(path.join(OWNER)).and_then(|data| data.created());
        let begun =
            begun.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or(std::time::Duration::MAX);
        let begun = (i64::try_from(begun.as_secs()).unwrap_or(i64::MAX), i64::from(begun.subsec_nanos()));
        let records = records(&path)?;
        let mut items = items(&records, begun);
        items.retain(|item| !is_untouched(&path, item));
        let mut changes = PartChanges::of(&items, about.clone());
        if items.iter().any(|item| item.kind != ItemKind::Created) {
            let id =
                self.backups().adopt(&path, items, &about).map_err(|refused| io::Error::other(refused.to_string()))?;
            changes.kept = Some(id);
        } else {
            fs::remove_dir_all(&path)?;
        }
        drop(owner);
        self.note_changes(&changes)?;
        Ok(changes)
    }
}

/// Whether a file that was opened for writing has the content and metadata that it had.
fn is_untouched(folder: &Path, item: &Item) -> bool {
    let (ItemKind::File { copy, .. }, Left::As { written, .. }) = (&item.kind, item.left) else { return false };
    if item.times.last() != Some(&written) {
        return false;
    }
    let mode = Item::of_unchanged(item.path.clone(), item.path.clone()).map(|present| present.mode);
    mode.is_ok_and(|mode| mode == item.mode) && is_same(&folder.join(copy.to_string()), &item.path).unwrap_or(false)
}

fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (BufReader::new(one).bytes(), BufReader::new(other).bytes());
    loop {
        match (one.next().transpose()?, other.next().transpose()?) {
            (None, None) => return Ok(true),
            (left, right) if left != right => return Ok(false),
            _ => {}
        }
    }
}
