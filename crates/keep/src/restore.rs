//! Restoring a backup: first a plan that shows the conflicts, then its execution.
//!
//! Each file is written under a temporary name in its folder and renamed into place. The current state is backed up
//! first, so a restore can be undone. A restore that was killed can be repeated.

use crate::model::{About, Backup, Item, ItemKind, Refused, Request};
use crate::os;
use crate::pack::{self, Content};
use crate::store::BackupStore;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The steps of a restore.
#[derive(Debug, Clone)]
pub struct Plan {
    /// One step per selected item.
    pub steps: Vec<Step>,
    in_place: bool,
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
}

impl Plan {
    /// Adds the removal of these files to the plan.
    #[must_use]
    pub fn without(mut self, files: impl IntoIterator<Item = PathBuf>) -> Plan {
        for to in files.into_iter().filter(|file| os::stat(file).is_ok() && is_reached_without_links(file)) {
            let (kind, owner, times) = (ItemKind::Absent, (0, 0), [(0, 0); 2]);
            let item = Item { path: to.clone(), kind, mode: 0, owner, times, attributes: Vec::new() };
            self.steps.push(Step { item, to, state: State::Differs });
        }
        self
    }

    /// The steps that overwrite or remove a file.
    pub fn conflicts(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.state == State::Differs && !matches!(step.item.kind, ItemKind::Folder))
    }

    /// The steps that cannot be carried out in place.
    pub fn unreachable(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.state == State::Elsewhere)
    }

    /// Whether all destinations equal the backup already.
    pub fn is_done(&self) -> bool {
        self.steps.iter().all(|step| step.state == State::Same)
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
        let steps: Vec<(&Item, PathBuf)> = items.map(|item| (item, to(item))).collect();
        let folders = steps.iter().filter(|(item, _)| item.kind == ItemKind::Folder);
        let replaced: Vec<&PathBuf> =
            folders.filter(|(item, to)| self.state(item, to) == State::Differs).map(|(_, to)| to).collect();
        let state = |item: &Item, to: &Path| {
            let is_below = replaced.iter().any(|folder| to != *folder && to.starts_with(folder));
            match (is_below, item.kind == ItemKind::Absent) {
                (true, true) => State::Same,
                (true, false) => State::Missing,
                (false, _) => self.state(item, to),
            }
        };
        let step =
            |(item, to): &(&Item, PathBuf)| Step { state: state(item, to), to: to.clone(), item: (*item).clone() };
        Plan { steps: steps.iter().map(step).collect(), in_place: below.is_none() }
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
                ItemKind::Absent => false,
            };
        if !same {
            return State::Differs;
        }
        // The access time changes with every read and does not count.
        let [_, written] = item.times;
        let is_dressed = current.mode == item.mode && current.times.last() == Some(&written)
            || matches!(item.kind, ItemKind::Link { .. });
        let attributes = os::attributes(to).unwrap_or_default();
        if is_dressed && attributes == item.attributes { State::Same } else { State::Dressed }
    }
}

impl Item {
    /// Whether the item is restored in place only: a missing file, or one of a repository's own files.
    pub fn is_only_for_its_place(&self) -> bool {
        let in_git = |part: Component<'_>| part.as_os_str() == ".git";
        let unchanging = matches!(self.kind, ItemKind::File { unchanging: true, .. });
        self.kind == ItemKind::Absent || unchanging || self.path.components().any(in_git)
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

impl BackupStore {
    /// Carries out a plan. In place, the files that it overwrites or removes are backed up first; returns that backup's
    /// id.
    ///
    /// # Errors
    /// The current state could not be backed up, so no file was changed; or an item could not be restored.
    pub fn restore(&self, backup: &Backup, plan: &Plan, about: &About) -> Result<Option<String>, Refused> {
        if let Some(step) = plan.unreachable().next() {
            return Err(Refused::Elsewhere(step.to.clone(), backup.id.clone()));
        }
        if plan.is_done() {
            return Ok(None);
        }
        let undo = match plan.in_place {
            true => Some(self.keep(&before(plan), &About { undoes: backup.id.clone(), ..about.clone() })?),
            false => None,
        };
        Restorer { backup, placed: HashMap::new() }.carry_out(plan)?;
        Ok(undo)
    }
}

/// The backup of everything that a plan changes.
fn before(plan: &Plan) -> Request {
    let is_replaced = |step: &&Step| step.item.kind == ItemKind::Folder && step.state == State::Differs;
    let folders = plan.steps.iter().filter(is_replaced);
    let replaced: Vec<&Path> = folders.clone().map(|step| step.to.as_path()).collect();
    // If a folder replaces a link, the link alone is backed up: the files it leads to are not touched.
    let is_below = |step: &&Step| replaced.iter().any(|folder| step.to != *folder && step.to.starts_with(folder));
    let changes = |step: &&Step| step.state != State::Same && step.item.kind != ItemKind::Folder && !is_below(step);
    let made = plan.steps.iter().filter(|step| step.item.kind == ItemKind::Folder && step.state == State::Missing);
    let made = made.filter(|step| !is_below(step));
    let paths = plan.steps.iter().filter(changes).chain(folders).chain(made);
    Request { if_present: paths.map(|step| step.to.clone()).collect(), ..Request::default() }
}

struct Restorer<'a> {
    backup: &'a Backup,
    /// The first restored path of each copy; further hard links are made to it.
    placed: HashMap<u64, PathBuf>,
}

impl Restorer<'_> {
    fn carry_out(&mut self, plan: &Plan) -> Result<(), Refused> {
        let mut steps: Vec<&Step> = plan.steps.iter().collect();
        steps.sort_by_key(|step| step.to.components().count());
        let absent = steps.iter().rev().filter(|step| step.item.kind == ItemKind::Absent && step.state != State::Same);
        for step in absent {
            let away = remove(&step.to);
            away.map_err(|error| Refused::Failed(step.to.clone(), error))?;
        }
        for step in &steps {
            self.step(step).map_err(|error| Refused::Failed(step.to.clone(), error))?;
        }
        // Last, because writing into a folder changes its times, and its mode may forbid writing.
        for step in steps.iter().rev().filter(|step| step.item.kind == ItemKind::Folder) {
            dress(&step.to, &step.item).map_err(|error| Refused::Failed(step.to.clone(), error))?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> io::Result<()> {
        let Step { item, to, state } = step;
        if let ItemKind::Folder = item.kind {
            return make_folder(to);
        }
        if let (ItemKind::File { copy, .. }, State::Same | State::Dressed) = (&item.kind, state) {
            self.placed.entry(*copy).or_insert_with(|| to.clone());
        }
        match state {
            State::Same | State::Elsewhere => return Ok(()),
            State::Dressed => return dress(to, item),
            State::Missing | State::Differs => {}
        }
        if item.kind == ItemKind::Absent {
            return Ok(());
        }
        if let ItemKind::File { copy, size, place: Some(place), .. } = &item.kind
            && os::stat(to).is_ok_and(|current| current.place == *place && current.kind == os::Kind::File)
        {
            self.rewrite(*copy, *size, to)?;
            self.placed.insert(*copy, to.clone());
            return dress(to, item);
        }
        let above = to.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(above)?;
        let draft = above.join(format!(".reflex-undo-{}", self.backup.id));
        remove(&draft)?;
        self.make(step, &draft)?;
        if os::stat(to).is_ok_and(|current| current.kind == os::Kind::Folder) {
            fs::remove_dir_all(to)?;
        }
        fs::rename(&draft, to)?;
        // `rename` does nothing if both names are links to one file.
        remove(&draft)
    }

    /// Creates an item under a temporary name.
    fn make(&mut self, Step { item, to, .. }: &Step, draft: &Path) -> io::Result<()> {
        match &item.kind {
            ItemKind::File { copy, size, unchanging, .. } => {
                if let Some(first) = self.placed.get(copy).cloned().or_else(|| self.other_name(item, to)) {
                    return fs::hard_link(first, draft);
                }
                self.copy(*copy, *size, draft)?;
                if !unchanging {
                    self.placed.insert(*copy, to.clone());
                }
            }
            ItemKind::Link { to: target } => os::link(target, draft)?,
            ItemKind::Pipe => os::pipe(draft)?,
            ItemKind::Folder | ItemKind::Absent => {}
        }
        dress(draft, item)
    }

    /// Another hard link in the same folder that still has the same content.
    fn other_name(&self, item: &Item, to: &Path) -> Option<PathBuf> {
        let ItemKind::File { copy, place: Some(place), .. } = &item.kind else { return None };
        let beside = fs::read_dir(to.parent()?).ok()?.flatten().map(|entry| entry.path());
        let is_it = |path: &PathBuf| {
            path != to && os::stat(path).is_ok_and(|current| current.place == *place && current.mode == item.mode)
        };
        beside.filter(is_it).find(|path| is_same(&self.backup.copy_of(*copy), path))
    }

    /// Restores the content in place, so that other hard links see it, too.
    fn rewrite(&self, copy: u64, size: u64, to: &Path) -> io::Result<()> {
        // A damaged copy must not destroy the file: read the whole copy before writing.
        let length = io::copy(&mut self.source(copy, size)?, &mut io::sink())?;
        check_complete(length, size)?;
        let mut source = self.source(copy, size)?;
        let mut target = os::open_target(to)?;
        io::copy(&mut source, &mut target)?;
        target.set_len(size)?;
        target.sync_data()
    }

    fn source(&self, copy: u64, size: u64) -> io::Result<Content> {
        let source = pack::open(&self.backup.copy_of(copy))?;
        if let Some(file) = source.plain() {
            check_complete(file.metadata()?.len(), size)?;
        }
        Ok(source)
    }

    fn copy(&self, copy: u64, size: u64, draft: &Path) -> io::Result<()> {
        let mut source = self.source(copy, size)?;
        let mut target: File = os::create(draft)?;
        let is_shared = source.plain().is_some_and(|file| os::share(&target, file).is_ok());
        if !is_shared {
            check_complete(io::copy(&mut source, &mut target)?, size)?;
        }
        target.sync_data()
    }
}

fn check_complete(found: u64, size: u64) -> io::Result<()> {
    if found == size { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidData, "its copy is damaged")) }
}

fn make_folder(to: &Path) -> io::Result<()> {
    if os::stat(to).is_ok_and(|current| current.kind != os::Kind::Folder) {
        fs::remove_file(to)?;
    }
    fs::create_dir_all(to)?;
    let mode = os::stat(to)?.mode;
    // The final mode is set last; until then files are created in it.
    if mode & 0o700 == 0o700 { Ok(()) } else { os::set_mode(to, mode | 0o700) }
}

/// Sets owner, attributes, mode and times. `chown` resets mode bits, and every change sets a time, so the order
/// matters.
fn dress(path: &Path, item: &Item) -> io::Result<()> {
    os::set_owner(path, item.owner);
    os::set_attributes(path, &item.attributes)?;
    if !matches!(item.kind, ItemKind::Link { .. }) {
        os::set_mode(path, item.mode)?;
    }
    os::set_times(path, item.times)
}

fn remove(path: &Path) -> io::Result<()> {
    match os::stat(path) {
        Ok(current) if current.kind == os::Kind::Folder => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
