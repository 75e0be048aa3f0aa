//! The state before a run, worked out from the list of its changes.
//!
//! Each change names a path as it was at that moment. Renames are followed, so that an item has the path that its file
//! had before the run. Of several changes to one file, the first one holds the content from before.

use reflex_keep::{Item, ItemKind, Left, Place};
use reflex_supervise::{Before, Operation, Record, Status};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A time in seconds and nanoseconds since 1970.
pub(super) type Moment = (i64, i64);

/// A path before the run.
#[derive(Debug)]
struct Entry {
    kind: Was,
    status: Status,
}

#[derive(Debug, PartialEq, Eq)]
enum Was {
    /// A file, folder or link that was lost, and can be made anew.
    Lost(ItemKind),
    /// One that was renamed or got other permissions.
    Unchanged,
    /// No file, until the run created it.
    Absent,
}

/// The changes up to one of them.
#[derive(Debug, Default)]
struct Changes {
    begun: Moment,
    entries: BTreeMap<PathBuf, Entry>,
    /// Original paths of renamed files and folders, by their path after the rename.
    moved: BTreeMap<PathBuf, PathBuf>,
    /// Original paths that renames have left.
    vacated: BTreeMap<PathBuf, Place>,
    created: HashSet<PathBuf>,
    /// The first copy of each file with several names.
    copies: HashMap<Place, u64>,
    /// The metadata of each file before the first change. All names of a file share it.
    statuses: HashMap<Place, Status>,
}

/// The items of a backup, from the changes of a run that began at this moment. A file that was born later was not there
/// before.
pub(super) fn items(records: &[Record], begun: Moment) -> Vec<Item> {
    let mut changes = Changes { begun, ..Changes::default() };
    records.iter().for_each(|record| changes.add(record));
    changes.items()
}

impl Changes {
    fn add(&mut self, record: &Record) {
        let Record { operation, path, source, moved, before, .. } = record;
        match operation {
            Operation::Create => self.create(path),
            Operation::Write => self.lose(path, before),
            Operation::Delete | Operation::RemoveFolder => self.remove(path, before),
            Operation::Rename => {
                if *before != Before::Nothing {
                    self.remove(path, before);
                }
                self.rename(source, path, moved);
            }
            Operation::Exchange => self.exchange(source, path, moved, before),
            Operation::Attributes => {
                if let Before::Unchanged(status) = before {
                    self.keep_status(path, status);
                }
            }
        }
    }

    fn is_young(&self, status: &Status) -> bool {
        status.born > self.begun
    }

    /// The path that something had before the run. `None` if it was not there.
    fn origin(&self, path: &Path) -> Option<PathBuf> {
        let nearest = path.ancestors().find_map(|at| Some((at, self.moved.get(at)?)));
        let (root, from) = nearest.map_or((Path::new(""), Path::new("")), |(at, from)| (at, from.as_path()));
        let origin = join(from, path.strip_prefix(root).unwrap_or(path));
        let mut below = origin.ancestors().take_while(|above| *above != from);
        (!below.any(|above| self.vacated.contains_key(above))).then_some(origin)
    }

    /// The same for something that was there when it was lost. If it is older than the run, and its path was left by a
    /// rename before, that rename has failed.
    fn origin_of_lost(&mut self, path: &Path, status: &Status) -> Option<PathBuf> {
        if self.created.contains(path) || self.is_young(status) {
            return None;
        }
        if let Some(origin) = self.origin(path) {
            return Some(origin);
        }
        let from = path.ancestors().find(|above| self.vacated.contains_key(*above))?.to_owned();
        let (at, _) = self.moved.iter().find(|(_, origin)| **origin == from)?;
        let (at, place) = (at.clone(), *self.vacated.get(&from)?);
        if is_at(&at, place) {
            return None;
        }
        self.moved.remove(&at);
        self.vacated.remove(&from);
        self.entries.remove(&from);
        self.origin(path)
    }

    fn create(&mut self, path: &Path) {
        self.created.insert(path.to_owned());
        let is_known = self.entries.contains_key(path) || self.vacated.contains_key(path);
        if !is_known {
            self.entries.insert(path.to_owned(), Entry { kind: Was::Absent, status: Status::default() });
        }
    }

    /// A file is lost that stays, with another content.
    fn lose(&mut self, path: &Path, before: &Before) {
        let (lost, status) = match before {
            Before::File { copy, status } => {
                let place = Some(status.place).filter(|_| status.names > 1 || self.copies.contains_key(&status.place));
                let copy = place.map_or(*copy, |place| *self.copies.entry(place).or_insert(*copy));
                (ItemKind::File { copy, size: 0, unchanging: false, place }, *status)
            }
            Before::Link { to, status } => (ItemKind::Link { to: to.clone() }, *status),
            Before::Folder(status) => (ItemKind::Folder, *status),
            Before::Pipe(status) => (ItemKind::Pipe, *status),
            Before::Missed(why, status) => (ItemKind::Missed { why: why.to_string() }, *status),
            Before::Nothing | Before::Skipped | Before::Unchanged(_) => return,
        };
        let Some(origin) = self.origin_of_lost(path, &status) else { return };
        let status = self.first(status);
        match self.entries.get_mut(&origin) {
            None => drop(self.entries.insert(origin, Entry { kind: Was::Lost(lost), status })),
            Some(known) if known.kind == Was::Unchanged => known.kind = Was::Lost(lost),
            Some(_) => {}
        }
    }

    /// A name goes away.
    fn remove(&mut self, path: &Path, before: &Before) {
        self.lose(path, before);
        self.moved.remove(path);
        if self.created.remove(path) && self.entries.get(path).is_some_and(|entry| entry.kind == Was::Absent) {
            self.entries.remove(path);
        }
    }

    fn rename(&mut self, source: &Path, path: &Path, status: &Status) {
        let was_created = self.created.contains(source);
        let origin = self.origin(source).filter(|_| !was_created && !self.is_young(status));
        self.follow(source, path);
        let Some(origin) = origin else {
            if was_created || self.is_young(status) {
                self.create(path);
            }
            return;
        };
        if origin == path {
            self.vacated.remove(path);
            return;
        }
        self.vacated.insert(origin.clone(), status.place);
        self.moved.insert(path.to_owned(), origin.clone());
        let status = self.first(*status);
        self.entries.entry(origin).or_insert(Entry { kind: Was::Unchanged, status });
    }

    /// The metadata of a file before its first change, if this is not the first one.
    fn first(&mut self, status: Status) -> Status {
        *self.statuses.entry(status.place).or_insert(status)
    }

    /// Gives everything at and below a path its new one.
    fn follow(&mut self, source: &Path, path: &Path) {
        let is_below = |at: &Path| at.starts_with(source);
        let moved: Vec<PathBuf> =
            self.moved.range(source.to_owned()..).map(|(at, _)| at).take_while(|at| is_below(at)).cloned().collect();
        for at in moved {
            if let Some(origin) = self.moved.remove(&at)
                && at != source
            {
                self.moved.insert(relocate(&at, source, path), origin);
            }
        }
        let is_absent = |entry: &Entry| entry.kind == Was::Absent;
        let below = self.entries.range(source.to_owned()..).take_while(|(at, _)| is_below(at));
        let created: Vec<PathBuf> = below.filter(|(_, entry)| is_absent(entry)).map(|(at, _)| at.clone()).collect();
        for at in created {
            self.entries.remove(&at);
            self.created.remove(&at);
            self.create(&relocate(&at, source, path));
        }
        self.created.remove(source);
    }

    fn exchange(&mut self, source: &Path, path: &Path, moved: &Status, before: &Before) {
        let Before::Unchanged(status) = before else { return };
        // No file has a name with a zero byte.
        let between = Path::new("\0");
        self.rename(path, between, status);
        self.rename(source, path, moved);
        self.rename(between, source, status);
    }

    fn keep_status(&mut self, path: &Path, status: &Status) {
        if let Some(origin) = self.origin_of_lost(path, status) {
            let status = self.first(*status);
            self.entries.entry(origin).or_insert(Entry { kind: Was::Unchanged, status });
        }
    }

    fn items(self) -> Vec<Item> {
        let present: BTreeMap<&Path, &Path> =
            self.moved.iter().map(|(at, from)| (from.as_path(), at.as_path())).collect();
        self.entries.iter().filter_map(|(path, entry)| item(path, entry, present_path(path, &present))).collect()
    }
}

/// The path that a file has after the renames, given their old and new paths.
fn present_path(path: &Path, renames: &BTreeMap<&Path, &Path>) -> PathBuf {
    let above = path.ancestors().find_map(|above| Some((above, *renames.get(above)?)));
    above.map_or_else(|| path.to_owned(), |(above, at)| relocate(path, above, at))
}

/// The item of a path, whose file is at another one now. `None` if it is as it was.
fn item(path: &Path, Entry { kind, status }: &Entry, at: PathBuf) -> Option<Item> {
    let place = status.place;
    let kind = match kind {
        Was::Lost(kind) => kind.clone(),
        Was::Absent => ItemKind::Created,
        // A rename that has failed.
        Was::Unchanged if at != path && is_at(path, place) => ItemKind::Unchanged { at: path.to_owned(), place },
        Was::Unchanged => ItemKind::Unchanged { at, place },
    };
    let is_as_it_was = match &kind {
        ItemKind::Created => path.symlink_metadata().is_err(),
        ItemKind::Unchanged { at, .. } => at == path && has_status(path, status),
        // The change was refused, or has failed by itself.
        ItemKind::Missed { .. } => is_at(path, place) && has_status(path, status),
        ItemKind::File { .. } | ItemKind::Folder | ItemKind::Link { .. } | ItemKind::Pipe | ItemKind::Absent => false,
    };
    let Status { mode, owner, times, .. } = *status;
    let item = Item { mode, owner, times, left: Left::of(path), ..Item::bare(path.to_owned(), kind) };
    (!is_as_it_was).then_some(item)
}

fn is_at(path: &Path, place: Place) -> bool {
    matches!(Left::of(path), Left::As { place: present, .. } if present == place)
}

/// Whether a file has these permissions and this time. The time of a folder changes with its entries.
fn has_status(path: &Path, status: &Status) -> bool {
    let Ok(present) = Item::of_unchanged(path.to_owned(), path.to_owned()) else { return false };
    let has_time = path.is_dir() || present.times.last() == status.times.last();
    has_time && present.mode == status.mode && present.owner == status.owner
}

fn relocate(path: &Path, source: &Path, to: &Path) -> PathBuf {
    join(to, path.strip_prefix(source).unwrap_or(path))
}

/// Like [`Path::join`], without a slash at the end if the rest is empty.
fn join(path: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { path.to_owned() } else { path.join(rest) }
}
