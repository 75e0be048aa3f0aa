//! Restoring a backup: first a plan that shows the conflicts, then its execution.
//!
//! Each file is written under a temporary name in its folder and renamed into place. The current state is backed up
//! first, so a restore can be undone. A restore that was killed can be repeated.

use crate::links;
use crate::model::{About, Backup, Item, ItemKind, Left, Moved, Place, Refused, Request};
use crate::moves::{self, Return};
use crate::os;
use crate::pack::{self, Content};
use crate::store::BackupStore;
use std::collections::{BTreeSet, HashMap};
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
    /// The backup holds no content, and the file that had it is not where the call left it.
    Gone,
}

impl Step {
    /// Sets the metadata of a folder, and of what was not made anew.
    fn dress_last(&self) -> io::Result<()> {
        match self.item.kind {
            ItemKind::Folder => dress(&self.to, &self.item),
            ItemKind::Unchanged { place, .. } if self.state != State::Same && moves::is_at(&self.to, place) => {
                dress_unchanged(&self.to, &self.item)
            }
            ItemKind::File { .. }
            | ItemKind::Link { .. }
            | ItemKind::Pipe
            | ItemKind::Absent
            | ItemKind::Unchanged { .. }
            | ItemKind::Created
            | ItemKind::Missed { .. } => Ok(()),
        }
    }

    /// Whether the destination is the file with several names that the item was.
    fn is_in_place(&self) -> bool {
        self.item.place().is_some_and(|place| moves::is_at(&self.to, place))
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
                    (State::Same | State::Dressed, Some(place))
                        if split.contains(&place) && !moves::is_at(to, place) =>
                    {
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
            && !moves::is_at(to, *place)
            && moves::find(at, *place, &self.id).is_none()
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
    fn has_content(&self) -> bool {
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
        let returns = moves::returns(plan, &backup.id);
        // A mode that forbids even the owner to read or write is replaced by the restore.
        plan.conflicts().filter(|_| plan.in_place).for_each(|step| os::make_accessible(&step.to));
        let undo = match plan.in_place {
            true => Some(self.keep(&before(plan, &returns), &About { undoes: backup.id.clone(), ..about.clone() })?),
            false => None,
        };
        Restorer { backup, placed: HashMap::new() }.carry_out(plan, returns)?;
        Ok(undo)
    }
}

/// The backup of everything that a plan changes.
fn before(plan: &Plan, returns: &[Return]) -> Request {
    let is_replaced = |step: &&Step| step.item.kind == ItemKind::Folder && step.state == State::Differs;
    let folders = plan.steps.iter().filter(is_replaced);
    let replaced: Vec<&Path> = folders.clone().map(|step| step.to.as_path()).collect();
    // If a folder replaces a link, the link alone is backed up: the files it leads to are not touched.
    let is_below = |step: &&Step| replaced.iter().any(|folder| step.to != *folder && step.to.starts_with(folder));
    let is_kept = |step: &&Step| !matches!(step.item.kind, ItemKind::Folder | ItemKind::Unchanged { .. });
    let changes = |step: &&Step| step.state != State::Same && is_kept(step) && !is_below(step);
    let made = plan.steps.iter().filter(|step| step.item.kind == ItemKind::Folder && step.state == State::Missing);
    let made = made.filter(|step| !is_below(step));
    let paths = plan.steps.iter().filter(changes).chain(folders).chain(made);
    let mut if_present: Vec<PathBuf> = paths.map(|step| moves::present(&step.to, returns)).collect();
    let unchanged = plan.steps.iter().filter(|step| matches!(step.item.kind, ItemKind::Unchanged { .. }));
    let taken = unchanged.clone().filter(|step| step.state == State::Differs && !moves::leaves(&step.to, returns));
    if_present.extend(taken.map(|step| step.to.clone()));
    let dressed = unchanged.filter(|step| step.state == State::Dressed);
    let dressed = dressed.map(|step| Moved { from: step.to.clone(), to: step.to.clone() });
    let moved = moves::reverse(returns).chain(dressed).collect();
    Request { if_present, moved, ..Request::default() }
}

struct Restorer<'a> {
    backup: &'a Backup,
    /// The first restored path of each copy; further hard links are made to it.
    placed: HashMap<u64, PathBuf>,
}

impl Restorer<'_> {
    fn carry_out(&mut self, plan: &Plan, returns: Vec<Return>) -> Result<(), Refused> {
        let mut steps: Vec<&Step> = plan.steps.iter().collect();
        steps.sort_by_key(|step| step.to.components().count());
        let locked = unlock(&steps, &returns);
        let absent = steps.iter().rev().filter(|step| step.item.kind == ItemKind::Absent && step.state != State::Same);
        for step in absent {
            let away = remove(&step.to);
            away.map_err(|error| Refused::Failed(step.to.clone(), error))?;
        }
        let first = returns.first().map(|_| self.backup.base()).unwrap_or_default();
        moves::carry_out(returns, &self.backup.id).map_err(|error| Refused::Failed(first, error))?;
        // A file that still has a name gets its content there, and its other names are links to that.
        steps.sort_by_key(|step| !step.is_in_place());
        for step in &steps {
            self.step(step).map_err(|error| Refused::Failed(step.to.clone(), error))?;
        }
        // Last, because writing into a folder changes its times, and its mode may forbid writing.
        for (folder, mode) in locked {
            let _ = os::set_mode(&folder, mode);
        }
        steps.sort_by_key(|step| step.to.components().count());
        for step in steps.iter().rev() {
            step.dress_last().map_err(|error| Refused::Failed(step.to.clone(), error))?;
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
            State::Same | State::Elsewhere | State::Gone => return Ok(()),
            State::Dressed if item.has_content() => return dress(to, item),
            State::Dressed => return Ok(()),
            State::Missing | State::Differs => {}
        }
        if !item.has_content() {
            return Ok(());
        }
        if let ItemKind::File { copy, size, .. } = &item.kind
            && step.is_in_place()
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
                if let Some(first) = self.placed.get(copy) {
                    return fs::hard_link(first, draft);
                }
                self.copy(*copy, *size, draft)?;
                if !unchanging {
                    self.placed.insert(*copy, to.clone());
                }
            }
            ItemKind::Link { to: target } => os::link(target, draft)?,
            ItemKind::Pipe => os::pipe(draft)?,
            ItemKind::Folder
            | ItemKind::Absent
            | ItemKind::Unchanged { .. }
            | ItemKind::Created
            | ItemKind::Missed { .. } => {}
        }
        dress(draft, item)
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

/// Makes the folders writable in which names change. Returns those with their modes.
fn unlock(steps: &[&Step], returns: &[Return]) -> Vec<(PathBuf, u32)> {
    let changed = steps.iter().filter(|step| step.state != State::Same).map(|step| step.to.as_path());
    let folders: BTreeSet<&Path> =
        changed.chain(returns.iter().flat_map(Return::paths)).filter_map(Path::parent).collect();
    let mut locked = Vec::new();
    for folder in folders {
        if let Ok(stat) = os::stat(folder)
            && stat.kind == os::Kind::Folder
            && stat.mode & 0o300 != 0o300
            && os::set_mode(folder, stat.mode | 0o300).is_ok()
        {
            locked.push((folder.to_owned(), stat.mode));
        }
    }
    locked
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

/// Sets the metadata of a file or folder that is back in its place. A folder's times change with every entry.
fn dress_unchanged(path: &Path, item: &Item) -> io::Result<()> {
    match os::stat(path)?.kind {
        os::Kind::Folder => {
            os::set_owner(path, item.owner);
            os::set_mode(path, item.mode)
        }
        os::Kind::Link => os::set_times(path, item.times),
        os::Kind::File | os::Kind::Pipe | os::Kind::Other => dress(path, item),
    }
}

pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match os::stat(path) {
        Ok(current) if current.kind == os::Kind::Folder => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
