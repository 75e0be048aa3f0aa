//! Keeps what a watched run would lose, before it is lost.
//!
//! The folder of a keeper holds one file per kept content, with a number as its name, and the list of changes. It is
//! complete at each moment: a content is kept, then its change is listed, then the change happens.
//!
//! Backups of `reflex-keep` are made as a whole for a known list of files, on each system; here each file comes alone, as
//! a descriptor, and its caller waits. So the keeper lives with the supervisor. Its numbered contents and its metadata
//! are those of a backup, which can take them over without another copy.

mod content;
mod journal;
mod lease;
mod state;
#[cfg(test)]
mod tests;

pub use journal::records;

use crate::kept::{Before, KeeperOptions, Missed, Record, Status, Tally, WhenFull};
use crate::loss::{Fate, Loss, Operation, Watch};
use crate::os::linux::image;
use crate::os::linux::turn::pass_turn;
use content::{Contents, Form, Means, is_full, status_of};
use rustix::fs::{FileType, fstatfs};
use state::{Place, State, Version};
use std::ffi::OsString;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum size of the list of changes in bytes. Beyond it the run counts as full.
const MAX_JOURNAL: usize = 512 * 1024 * 1024;

/// Maximum time to wait for a file that another thread is keeping; its caller goes on after the same time.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// File systems that store no files, by `statfs`: `linux/magic.h`.
const NO_STORAGE: [u64; 9] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0xcafe_4a11, // bpf
    0xde5e_81e4, // efivarfs
];

/// Keeps the victims of one run in a folder.
///
/// A file is kept by a further name (hard link) if the folder is on its file system, it has no other name, and no
/// process has it open for writing; otherwise with shared blocks, or as a copy. It is kept once, and again only if it has
/// changed meanwhile. Not kept are files that the run has created itself, packs that git replaces, the folder itself, and what
/// the options skip.
#[derive(Debug)]
pub struct Keeper {
    folder: PathBuf,
    contents: Contents,
    options: KeeperOptions,
    journal: Mutex<Journal>,
    state: Mutex<State>,
    /// Notified when a file ceases to be busy.
    is_free: Condvar,
}

#[derive(Debug)]
struct Journal {
    file: File,
    size: usize,
}

impl Keeper {
    /// Creates the folder of a run, which must not exist yet. It is best on the file system of the project.
    ///
    /// # Errors
    /// The folder or a file in it cannot be created.
    pub fn create(folder: &Path, options: KeeperOptions) -> io::Result<Keeper> {
        DirBuilder::new().mode(0o700).create(folder)?;
        let folder = folder.canonicalize()?;
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(folder.join(journal::NAME))?;
        let contents = Contents::open(&folder)?;
        let (journal, state) = (Mutex::new(Journal { file, size: 0 }), Mutex::new(State::new()));
        Ok(Keeper { folder, contents, options, journal, state, is_free: Condvar::new() })
    }

    /// The numbers so far.
    pub fn tally(&self) -> Tally {
        self.state().tally()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn skips(&self, path: &Path) -> bool {
        path.starts_with(&self.folder) || self.options.skip.as_ref().is_some_and(|skip| skip(path))
    }

    /// The file that a change finds. It is kept once this returns.
    fn keep_victim(&self, loss: &Loss) -> io::Result<Before> {
        let Some(victim) = &loss.victim else { return Ok(Before::Nothing) };
        let data = victim.metadata()?;
        let status = status_of(&data);
        let keeps_content = !matches!(loss.operation, Operation::Attributes | Operation::Exchange);
        Ok(match FileType::from_raw_mode(data.mode()) {
            _ if !keeps_content => Before::Unchanged(status),
            FileType::RegularFile => self.hold(loss, victim, &data),
            FileType::Directory => Before::Folder(status),
            FileType::Symlink => {
                let to = rustix::fs::readlinkat(victim, "", Vec::new())?;
                Before::Link { to: PathBuf::from(OsString::from_vec(to.into_bytes())), status }
            }
            FileType::Fifo => Before::Pipe(status),
            FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Before::Nothing,
        })
    }

    /// Keeps a regular file, unless another thread does so at this moment: then waits for it.
    fn hold(&self, loss: &Loss, victim: &File, data: &Metadata) -> Before {
        let place = (data.dev(), data.ino());
        let is_busy = |state: &mut State| state.busy.contains(&place);
        if is_busy(&mut self.state()) {
            pass_turn();
        }
        let waited = self.is_free.wait_timeout_while(self.state(), MAX_WAIT, is_busy);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.busy.insert(place);
        drop(state);
        let before = self.hold_alone(loss, victim, data);
        self.state().busy.remove(&place);
        self.is_free.notify_all();
        before.unwrap_or_else(|why| Before::Missed(why, status_of(data)))
    }

    fn hold_alone(&self, loss: &Loss, victim: &File, data: &Metadata) -> Result<Before, Missed> {
        let (place, version, status) = ((data.dev(), data.ino()), Version::of(data), status_of(data));
        let link = self.state().links.get(&place).copied();
        if let Some(copy) = link {
            self.use_link(loss.operation, copy, place, &status)?;
            return Ok(Before::File { copy, status });
        }
        let mut state = self.state();
        if state.has_created(&loss.path, data) {
            return Ok(Before::Skipped);
        }
        if let Some((_, copy)) = state.copies.get(&place).filter(|(known, _)| *known == version) {
            return Ok(Before::File { copy: *copy, status });
        }
        let reserved = state.reserve(data, &self.options.limits)?;
        drop(state);
        let means = if loss.operation == Operation::Write { Means::Copy } else { Means::LinkOrCopy };
        let form = self.contents.keep(reserved.copy, victim, &status, means);
        let mut state = self.state();
        match form {
            Ok(Form::Link) => state.remember_link(place, reserved.copy),
            Ok(Form::Copy) => state.remember(place, version, reserved.copy),
            Err(_) => state.release(reserved),
        }
        state.tally.kept += u64::from(form.is_ok());
        form.map(|_| Before::File { copy: reserved.copy, status })
    }

    /// A file that is kept by a further name, because a call that should have removed it has failed, is copied before it
    /// is written.
    fn use_link(&self, operation: Operation, copy: u64, place: Place, status: &Status) -> Result<(), Missed> {
        if operation != Operation::Write {
            return Ok(());
        }
        let unshared = self.contents.unshare(copy, status);
        unshared.map_err(|error| if is_full(&error) { Missed::DiskFull } else { Missed::Failed })?;
        self.state().links.remove(&place);
        Ok(())
    }

    fn record(&self, record: &Record) -> io::Result<()> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if journal.size >= MAX_JOURNAL {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let appended = journal::append(&journal.file, record);
        match &appended {
            Ok(size) => journal.size += size,
            // An incomplete record would make those after it unreadable.
            Err(_) => journal.file.set_len(journal.size as u64)?,
        }
        appended.map(drop)
    }

    fn follow_names(&self, loss: &Loss) {
        match loss.operation {
            Operation::Create => self.state().create(&loss.path),
            Operation::Rename => self.state().rename(&loss.source, &loss.path),
            Operation::Exchange => {
                self.state().rename(&loss.path, Path::new(""));
                self.state().rename(&loss.source, Path::new(""));
            }
            Operation::Delete | Operation::RemoveFolder | Operation::Write | Operation::Attributes => {}
        }
    }

    fn answer(&self, is_full: bool) -> Fate {
        match self.options.when_full {
            WhenFull::Refuse if is_full => Fate::Fail(libc::ENOSPC),
            WhenFull::Refuse | WhenFull::Continue => Fate::Continue,
        }
    }
}

impl Watch for Keeper {
    fn before(&self, loss: &Loss) -> Fate {
        if self.skips(&loss.path) && (loss.source.as_os_str().is_empty() || self.skips(&loss.source)) {
            return Fate::Continue;
        }
        if is_usual_of_git(loss) {
            return Fate::Continue;
        }
        if loss.victim.as_ref().is_some_and(|victim| loses_no_file(victim, loss.operation)) {
            return Fate::Continue;
        }
        let before = match self.keep_victim(loss) {
            Ok(before) => before,
            Err(error) => {
                self.report_unresolved(loss.process, &error);
                return Fate::Continue;
            }
        };
        self.follow_names(loss);
        let is_full = matches!(before, Before::Missed(Missed::DiskFull, _));
        self.state().tally.missed += u64::from(matches!(before, Before::Missed(..)));
        if before == Before::Skipped && loss.operation == Operation::Write {
            return Fate::Continue;
        }
        let record = record_of(loss, before);
        match self.record(&record) {
            Ok(()) => self.answer(is_full),
            Err(error) => {
                self.state().tally.missed += 1;
                self.answer(is_full || content::is_full(&error))
            }
        }
    }

    fn report_unresolved(&self, _process: u32, _why: &io::Error) {
        self.state().tally.unresolved += 1;
    }
}

fn record_of(loss: &Loss, before: Before) -> Record {
    let moved = loss.moved.as_ref().and_then(|file| file.metadata().ok());
    Record {
        process: loss.process,
        operation: loss.operation,
        path: loss.path.clone(),
        source: loss.source.clone(),
        moved: moved.map(|data| status_of(&data)).unwrap_or_default(),
        before,
    }
}

/// Whether a call loses no file that is stored: it opens a terminal for writing, or a file of `/proc`, or one that has no
/// name any more; or it fails, because a folder is not removed like a file.
fn loses_no_file(victim: &File, operation: Operation) -> bool {
    let Ok(data) = victim.metadata() else { return false };
    let is_in_vain = match operation {
        Operation::Write => !data.is_file(),
        Operation::Delete => data.is_dir(),
        Operation::RemoveFolder => !data.is_dir(),
        Operation::Rename | Operation::Exchange | Operation::Create | Operation::Attributes => false,
    };
    is_in_vain || data.nlink() == 0 || is_no_storage(victim)
}

fn is_no_storage(victim: &File) -> bool {
    fstatfs(victim).is_ok_and(|system| NO_STORAGE.contains(&(system.f_type as u64)))
}

/// Whether a change to git's folder of objects loses none: git adds objects and never changes one, and replaces packs by
/// others with the same objects. What any other program removes there is lost, and so is an object that git itself
/// removes.
fn is_usual_of_git(loss: &Loss) -> bool {
    let mut parts = loss.path.components().skip_while(|part| *part != Component::Normal(".git".as_ref()));
    if !parts.any(|part| part == Component::Normal("objects".as_ref())) {
        return false;
    }
    let is_pack = parts.next() == Some(Component::Normal("pack".as_ref()));
    match loss.operation {
        Operation::Delete | Operation::RemoveFolder => is_pack && is_git(loss.process),
        Operation::Rename => loss.victim.is_none() && is_git(loss.process),
        Operation::Exchange => false,
        Operation::Write | Operation::Create | Operation::Attributes => is_git(loss.process),
    }
}

fn is_git(process: u32) -> bool {
    image::program(process).file_name().is_some_and(|name| name == "git")
}
