//! Restoring a backup: first a plan that shows the conflicts, then its execution.
//!
//! Each file is written under a temporary name in its folder and renamed into place. The current state is backed up
//! first, so a restore can be undone. A restore that was killed can be repeated.

use crate::model::{About, Backup, Item, ItemKind, Moved, Refused, Request};
use crate::moves::{self, Return};
use crate::os;
use crate::pack::{self, Content};
use crate::place::is_at;
use crate::plan::{Plan, State, Step};
use crate::store::BackupStore;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

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
            let away = os::remove(&step.to);
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
            dress_last(step).map_err(|error| Refused::Failed(step.to.clone(), error))?;
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
        os::remove(&draft)?;
        self.make(step, &draft)?;
        if os::stat(to).is_ok_and(|current| current.kind == os::Kind::Folder) {
            fs::remove_dir_all(to)?;
        }
        fs::rename(&draft, to)?;
        // `rename` does nothing if both names are links to one file.
        os::remove(&draft)
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

/// Sets the metadata of a folder, and of what was not made anew.
fn dress_last(step: &Step) -> io::Result<()> {
    match step.item.kind {
        ItemKind::Folder => dress(&step.to, &step.item),
        ItemKind::Unchanged { place, .. } if step.state != State::Same && is_at(&step.to, place) => {
            dress_unchanged(&step.to, &step.item)
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
