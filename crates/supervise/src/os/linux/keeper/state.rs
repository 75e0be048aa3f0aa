//! The state of a run: files that are kept already, files that the run created, and the space used.

use crate::kept::{Limits, Missed, Tally};
use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Maximum number of files that are remembered of each kind. Beyond it a list begins anew; then files are kept that
/// need not be.
const MAX_REMEMBERED: usize = 200_000;

/// Maximum time between the call that creates a file and its birth. A file at the same path that is born later may be
/// someone else's.
const MAX_BIRTH: Duration = Duration::from_secs(1);

/// A file by device and inode.
pub(super) type Place = (u64, u64);

/// The state of a file's content: it changes with each write, whatever times a program sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version {
    size: u64,
    changed: (i64, i64),
    written: (i64, i64),
}

impl Version {
    pub(super) fn of(data: &Metadata) -> Version {
        let (changed, written) = ((data.ctime(), data.ctime_nsec()), (data.mtime(), data.mtime_nsec()));
        Version { size: data.len(), changed, written }
    }
}

/// All of it.
#[derive(Debug)]
pub(super) struct State {
    started: SystemTime,
    /// The number of the copy of each kept file, and the version that it holds.
    pub(super) copies: HashMap<Place, (Version, u64)>,
    /// Files that are kept by a further name.
    pub(super) links: HashMap<Place, u64>,
    /// Files that are being kept.
    pub(super) busy: HashSet<Place>,
    /// Files that the run has created, by their path.
    created: HashMap<PathBuf, SystemTime>,
    next: u64,
    used: u64,
    used_again: u64,
    pub(super) tally: Tally,
}

/// Space that is set aside for a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reserved {
    pub(super) copy: u64,
    bytes: u64,
    is_again: bool,
}

impl State {
    pub(super) fn new() -> State {
        State {
            started: SystemTime::now(),
            copies: HashMap::new(),
            links: HashMap::new(),
            busy: HashSet::new(),
            created: HashMap::new(),
            next: 0,
            used: 0,
            used_again: 0,
            tally: Tally::default(),
        }
    }

    /// Remembers that the run creates a file at a path.
    pub(super) fn create(&mut self, path: &Path) {
        if self.created.len() >= MAX_REMEMBERED {
            self.created.clear();
        }
        self.created.insert(path.to_owned(), SystemTime::now());
    }

    /// Follows a rename of what the run created.
    pub(super) fn rename(&mut self, from: &Path, to: &Path) {
        match self.created.remove(from) {
            Some(time) => drop(self.created.insert(to.to_owned(), time)),
            None => drop(self.created.remove(to)),
        }
    }

    /// Whether the run created this file.
    pub(super) fn has_created(&self, path: &Path, data: &Metadata) -> bool {
        let (Some(time), Ok(born)) = (self.created.get(path), data.created()) else { return false };
        // A file system may use the time of the last tick.
        let apart = born.duration_since(*time).unwrap_or_else(|before| before.duration());
        apart < MAX_BIRTH
    }

    /// Sets space aside for a file.
    pub(super) fn reserve(&mut self, data: &Metadata, limits: &Limits) -> Result<Reserved, Missed> {
        let bytes = data.len().min(data.blocks().saturating_mul(512));
        if bytes > limits.file {
            return Err(Missed::TooLarge);
        }
        let is_young = data.created().is_ok_and(|born| born >= self.started);
        let is_again = is_young || self.copies.contains_key(&(data.dev(), data.ino()));
        let (used, limit) =
            if is_again { (&mut self.used_again, limits.repeated) } else { (&mut self.used, limits.run) };
        let sum = used.saturating_add(bytes);
        if sum > limit {
            return Err(Missed::RunFull);
        }
        *used = sum;
        self.next += 1;
        Ok(Reserved { copy: self.next - 1, bytes, is_again })
    }

    /// Gives space back.
    pub(super) fn release(&mut self, reserved: Reserved) {
        let used = if reserved.is_again { &mut self.used_again } else { &mut self.used };
        *used = used.saturating_sub(reserved.bytes);
    }

    /// Remembers that a file is kept by a further name. That matters only until the name is removed, so old entries go.
    pub(super) fn remember_link(&mut self, place: Place, copy: u64) {
        if self.links.len() >= MAX_REMEMBERED {
            let oldest = self.next.saturating_sub(MAX_REMEMBERED as u64 / 2);
            self.links.retain(|_, copy| *copy >= oldest);
        }
        self.links.insert(place, copy);
    }

    /// Remembers the copy of a file.
    pub(super) fn remember(&mut self, place: Place, version: Version, copy: u64) {
        if self.copies.len() >= MAX_REMEMBERED {
            self.copies.clear();
        }
        self.copies.insert(place, (version, copy));
    }

    pub(super) fn tally(&self) -> Tally {
        Tally { bytes: self.used + self.used_again, ..self.tally }
    }
}
