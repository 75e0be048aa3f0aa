//! The steps of a restore, with the present state of each destination.

use crate::links;
use crate::model::{Backup, Item, ItemKind, Left, Place};
use crate::os;
use crate::pack;
use crate::place::{find, is_at};
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The steps of a restore.
#[derive(Debug, Clone)]
pub struct Plan {
    /// One step per selected item.
    pub steps: Vec<Step>,
    pub(crate) in_place: bool,
}

/// The restore of one item.
#[derive(Debug, Clone)]
pub struct Step {
    /// The item.
    pub item: Item,
    /// The destination.
    pub to: PathBuf,
    /// The state of the destination.
    pub state: State,
}

/// The current state of a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Equal to the backup.
    Same,
    /// No file there.
    Missing,
    /// Equal content; permissions, times or attributes differ.
    Dressed,
    /// Other content, which the restore overwrites or removes.
    Differs,
    /// A folder above it is a link or a file now, and the plan does not replace it.
    Elsewhere,
    /// The backup holds no content, and the file that had it is not where the call left it.
    Gone,
}

impl Step {
    /// Whether the destination is the file with several names that the item was.
    pub(crate) fn is_in_place(&self) -> bool {
        self.item.place().is_some_and(|place| is_at(&self.to, place))
    }

    /// Whether something has changed the destination since the call. `None` if the state after the call is not known.
    pub fn has_changed_since(&self) -> Option<bool> {
        (self.item.left != Left::Unknown).then(|| self.item.left != Left::of(&self.to))
    }
}

impl Plan {
    /// Adds the removal of these files to the plan.
    #[must_use]
    pub fn without(mut self, files: impl IntoIterator<Item = PathBuf>) -> Plan {
        for to in files.into_iter().filter(|file| os::stat(file).is_ok() && is_reached_without_links(file)) {
            let item = Item::bare(to.clone(), ItemKind::Absent);
            self.steps.push(Step { item, to, state: State::Differs });
        }
        self
    }

    /// Adds the removal of the files that the call created and that are still there.
    #[must_use]
    pub fn without_created(self) -> Plan {
        let created = self.steps.iter().filter(|step| step.item.kind == ItemKind::Created);
        let created: Vec<PathBuf> = created.map(|step| step.to.clone()).collect();
        self.without(created)
    }

    /// The steps that overwrite or remove a file.
    pub fn conflicts(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.state == State::Differs && !matches!(step.item.kind, ItemKind::Folder))
    }

    /// The steps that cannot be carried out in place.
    pub fn unreachable(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.state == State::Elsewhere)
    }

    /// The steps that cannot be carried out at all.
    pub fn impossible(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.state == State::Gone)
    }

    /// Whether all destinations equal the backup already, as far as they can.
    pub fn is_done(&self) -> bool {
        self.steps.iter().all(|step| matches!(step.state, State::Same | State::Gone))
    }
}

impl Backup {
    /// Plans a restore of all items, or of those at or below the paths in `only`; in place, or into the folder `below`.
    pub fn plan(&self, only: &[PathBuf], below: Option<&Path>) -> Plan {
        let base = self.base();
        let is_meant = |item: &&Item| only.is_empty() || only.iter().any(|path| item.path.starts_with(path));
        let to = |item: &Item| match below {
            Some(folder) => folder.join(item.path.strip_prefix(&base).unwrap_or(&item.path)),
            None => item.path.clone(),
        };
        let items = self.items.iter().filter(is_meant);
        // In another folder no file has to be removed, and git's own files would make a second repository.
        let items = items.filter(|item| below.is_none() || !item.is_only_for_its_place());
        let mut steps: Vec<(&Item, PathBuf)> = items.map(|item| (item, to(item))).collect();
        if below.is_none() {
            steps.extend(links::other_names(&steps, Path::new(&self.about.workspace)));
        }
        let split = links::split(&steps);
        let replaced: Vec<&PathBuf> =
            steps.iter().filter(|(item, to)| self.replaces(item, to)).map(|(_, to)| to).collect();
        let state = |item: &Item, to: &Path| {
            let is_below = replaced.iter().any(|folder| to != *folder && to.starts_with(folder));
            match (is_below, item.kind == ItemKind::Absent) {
                (true, true) => State::Same,
                (true, false) if item.has_content() => State::Missing,
                (true | false, _) => match (self.state(item, to), item.place()) {
                    // Equal, but no longer one file with the other names.
                    (State::Same | State::Dressed, Some(place)) if split.contains(&place) && !is_at(to, place) => {
                        State::Differs
                    }
                    (state, _) => state,
                },
            }
        };
        let step =
            |(item, to): &(&Item, PathBuf)| Step { state: state(item, to), to: to.clone(), item: (*item).clone() };
        Plan { steps: steps.iter().map(step).collect(), in_place: below.is_none() }
    }

    /// Whether a folder takes the place of what is there now, with everything below it.
    fn replaces(&self, item: &Item, to: &Path) -> bool {
        let comes = matches!(item.kind, ItemKind::Unchanged { .. });
        let may_replace = comes || item.kind == ItemKind::Folder;
        may_replace && matches!((self.state(item, to), comes), (State::Differs, _) | (State::Missing, true))
    }

    /// The innermost folder that contains all items, without those that are only for their place.
    pub fn base(&self) -> PathBuf {
        let mut base: Option<PathBuf> = None;
        for item in self.items.iter().filter(|item| !item.is_only_for_its_place()) {
            let above = item.path.parent().unwrap_or(Path::new("/"));
            base = Some(match base {
                None => above.to_owned(),
                Some(base) => base.components().zip(above.components()).map_while(same).collect(),
            });
        }
        base.unwrap_or_else(|| "/".into())
    }

    fn state(&self, item: &Item, to: &Path) -> State {
        if !is_reached_without_links(to) {
            return State::Elsewhere;
        }
        if matches!(item.kind, ItemKind::Created | ItemKind::Missed { .. }) {
            return State::Same;
        }
        if let ItemKind::Unchanged { at, place } = &item.kind
            && !is_at(to, *place)
            && find(at, *place, &self.id).is_none()
        {
            return State::Gone;
        }
        let current = match os::stat(to) {
            Ok(current) => current,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return if item.kind == ItemKind::Absent { State::Same } else { State::Missing };
            }
            Err(_) => return State::Differs,
        };
        let same = current.is_a(&item.kind)
            && match &item.kind {
                ItemKind::File { unchanging: true, .. } => return State::Same,
                ItemKind::File { copy, size, .. } => current.size == *size && is_same(&self.copy_of(*copy), to),
                ItemKind::Folder | ItemKind::Pipe => true,
                ItemKind::Link { to: target } => fs::read_link(to).is_ok_and(|now| now == *target),
                ItemKind::Unchanged { .. } => true,
                ItemKind::Absent | ItemKind::Created | ItemKind::Missed { .. } => false,
            };
        if !same {
            return State::Differs;
        }
        // The access time changes with every read and does not count.
        let [_, written] = item.times;
        // So does the modification time of a folder, with every entry.
        let is_folder_itself = current.kind == os::Kind::Folder && matches!(item.kind, ItemKind::Unchanged { .. });
        let is_dressed = current.mode == item.mode && (is_folder_itself || current.times.last() == Some(&written))
            || current.kind == os::Kind::Link && current.times.last() == Some(&written);
        let attributes = os::attributes(to).unwrap_or_default();
        if is_dressed && attributes == item.attributes { State::Same } else { State::Dressed }
    }
}

impl Item {
    /// Whether the item is restored in place only: a missing file, or one of a repository's own files.
    pub fn is_only_for_its_place(&self) -> bool {
        let in_git = |part: Component<'_>| part.as_os_str() == ".git";
        let unchanging = matches!(self.kind, ItemKind::File { unchanging: true, .. });
        !self.has_content() || unchanging || self.path.components().any(in_git)
    }

    /// Device and inode of a file with several hard links, whose content is in the backup.
    pub(crate) fn place(&self) -> Option<Place> {
        match self.kind {
            ItemKind::File { place, .. } => place,
            ItemKind::Folder
            | ItemKind::Link { .. }
            | ItemKind::Pipe
            | ItemKind::Absent
            | ItemKind::Unchanged { .. }
            | ItemKind::Created
            | ItemKind::Missed { .. } => None,
        }
    }

    /// Whether the backup can make the item anew.
    pub(crate) fn has_content(&self) -> bool {
        match self.kind {
            ItemKind::File { .. } | ItemKind::Folder | ItemKind::Link { .. } | ItemKind::Pipe => true,
            ItemKind::Absent | ItemKind::Unchanged { .. } | ItemKind::Created | ItemKind::Missed { .. } => false,
        }
    }
}

fn same<'p>((one, other): (Component<'p>, Component<'p>)) -> Option<Component<'p>> {
    (one == other).then_some(one)
}

/// Whether every existing ancestor of a path is a folder. A link could lead out of the place that was backed up.
fn is_reached_without_links(path: &Path) -> bool {
    let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    let mut above = above.map(|above| above.symlink_metadata());
    above.all(|found| match found {
        Ok(data) => data.is_dir(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    })
}

/// Whether a copy, packed or not, equals the file at a path.
fn is_same(copy: &Path, other: &Path) -> bool {
    let open = |path| os::open_source(path).map(io::BufReader::new);
    let (Ok(mut one), Ok(mut other)) = (pack::open(copy), open(other)) else { return false };
    let (mut left, mut right) = ([0; 8192], [0; 8192]);
    loop {
        let Ok(count) = one.read(&mut left) else { return false };
        let read = other.read_exact(right.get_mut(..count).unwrap_or_default());
        if read.is_err() || left.get(..count) != right.get(..count) {
            return false;
        }
        if count == 0 {
            return other.read(&mut right).is_ok_and(|more| more == 0);
        }
    }
}
