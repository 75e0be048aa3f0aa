//! Compares the work tree with the index: stat data first, content only in case of doubt.

use crate::files::index::Index;
use crate::files::read::{self, Budget};
use crate::files::scope::Scope;
use crate::model::fact::{Fact, Unknown};
use crate::model::found::Found;
use crate::repository::Repository;
use crate::status::attributes::{Attributes, Conversion};
use crate::system::{bytes, native};
use gix_hash::ObjectId;
use gix_index::Entry;
use gix_index::entry::{Flags, Mode, Stat, stat};
use gix_index::fs::Metadata;
use std::collections::HashMap;
use std::path::Path;

/// Adds tracked files whose content, kind or executable bit differs from the index.
/// `index` is that of the repository, or its part about the scope.
pub(crate) fn differing(repository: &Repository, index: &Index, scope: &Scope, found: &mut Found) -> Fact<()> {
    let search = Comparison::new(repository, index)?.all(scope, found);
    found.break_off(search);
    Ok(())
}

enum State {
    Same,
    Differs,
    Unclear(&'static str),
}

fn same_if(same: bool) -> State {
    if same { State::Same } else { State::Differs }
}

struct Comparison<'a> {
    root: &'a Path,
    home: &'a Path,
    index: &'a Index,
    hash: gix_hash::Kind,
    stat: stat::Options,
    executable_bit: bool,
    symbolic_links: bool,
    attributes: Attributes<'a>,
    budget: Budget,
    /// Folders examined so far, and whether they are real folders rather than links.
    directories: HashMap<Vec<u8>, bool>,
}

impl<'a> Comparison<'a> {
    fn new(repository: &'a Repository, index: &'a Index) -> Fact<Self> {
        let settings = repository.settings()?;
        let is_on = |name| settings.boolean("core", name).unwrap_or(true);
        let stat = stat::Options {
            trust_ctime: is_on("trustctime"),
            check_stat: settings.text("core", None, "checkstat") != Some(b"minimal"),
            use_nsec: false,
            use_stdev: false,
        };
        Ok(Comparison {
            root: repository.checked_out()?,
            home: &repository.home,
            index,
            hash: repository.object_hash()?,
            stat,
            executable_bit: is_on("filemode"),
            symbolic_links: is_on("symlinks"),
            attributes: Attributes::new(repository, index)?,
            budget: Budget::new(),
            directories: HashMap::new(),
        })
    }

    fn all(mut self, scope: &Scope, found: &mut Found) -> Fact<()> {
        for entry in self.index.within(scope) {
            let path = self.index.path(entry);
            match self.state(entry, path)? {
                State::Same => {}
                State::Differs => found.add(path),
                State::Unclear(reason) => found.add_unclear(path, reason),
            }
        }
        Ok(())
    }

    /// Ignores the assume-unchanged bit: `git checkout` and `git reset` overwrite such files. Entries outside a sparse
    /// checkout are compared only if they exist.
    fn state(&mut self, entry: &Entry, path: &[u8]) -> Fact<State> {
        if entry.stage_raw() != 0 || entry.flags.contains(Flags::INTENT_TO_ADD) {
            return Ok(State::Differs);
        }
        self.budget.look_up()?;
        let full = self.root.join(native(path));
        let metadata = match Metadata::from_path_no_follow(&full) {
            Ok(metadata) if self.is_inside(path)? => metadata,
            Ok(_) => return Ok(absent(entry)),
            Err(error) if read::is_missing(&error) => return Ok(absent(entry)),
            Err(_) => return Ok(State::Unclear("a tracked file cannot be looked at")),
        };
        match entry.mode {
            Mode::COMMIT => self.submodule(entry, &full, &metadata),
            Mode::SYMLINK if metadata.is_symlink() => self.link(entry, &full, &metadata),
            Mode::SYMLINK if self.symbolic_links || !metadata.is_file() => Ok(State::Differs),
            _ if !metadata.is_file() => Ok(State::Differs),
            _ => self.file(entry, path, &full, &metadata),
        }
    }

    /// Whether every folder above the path is a real folder, so that the path is in the work tree.
    fn is_inside(&mut self, path: &[u8]) -> Fact<bool> {
        let Some(end) = path.iter().rposition(|byte| *byte == b'/') else { return Ok(true) };
        let directory = path.get(..end).unwrap_or_default();
        if let Some(known) = self.directories.get(directory) {
            return Ok(*known);
        }
        self.budget.look_up()?;
        let full = self.root.join(native(directory));
        let real = std::fs::symlink_metadata(full).is_ok_and(|metadata| metadata.is_dir());
        let real = real && self.is_inside(directory)?;
        self.directories.insert(directory.to_vec(), real);
        Ok(real)
    }

    fn submodule(&self, entry: &Entry, full: &Path, metadata: &Metadata) -> Fact<State> {
        if !metadata.is_dir() {
            return Ok(State::Differs);
        }
        match Repository::at(full, self.home) {
            Ok(Some(inner)) if inner.work_tree.is_some() => match inner.head() {
                Ok(Some(commit)) => Ok(same_if(commit == entry.id)),
                Ok(None) => Ok(State::Same),
                Err(Unknown(reason)) => Ok(State::Unclear(reason)),
            },
            Ok(_) => Ok(State::Same),
            Err(Unknown(reason)) => Ok(State::Unclear(reason)),
        }
    }

    fn link(&self, entry: &Entry, full: &Path, metadata: &Metadata) -> Fact<State> {
        if self.stat_matches(entry, metadata) {
            return Ok(State::Same);
        }
        let Ok(target) = std::fs::read_link(full) else {
            return Ok(State::Unclear("a symbolic link cannot be read"));
        };
        Ok(same_if(self.id_of(&bytes(target.as_os_str()))? == entry.id))
    }

    fn file(&mut self, entry: &Entry, path: &[u8], full: &Path, metadata: &Metadata) -> Fact<State> {
        let should_run = entry.mode == Mode::FILE_EXECUTABLE;
        let is_file = entry.mode != Mode::SYMLINK;
        if self.executable_bit && is_file && metadata.is_executable() != should_run {
            return Ok(State::Differs);
        }
        if self.stat_matches(entry, metadata) {
            return Ok(State::Same);
        }
        let conversion = if is_file { self.attributes.conversion(path, &self.budget)? } else { Conversion::None };
        // Git writes a size of zero if it distrusts the recorded size.
        let resized = entry.stat.size != 0 && u64::from(entry.stat.size) != metadata.len() & 0xffff_ffff;
        if resized && matches!(conversion, Conversion::None) {
            return Ok(State::Differs);
        }
        let content = match read::file_not_link(full, self.budget.left_to_hash()) {
            Ok(Some(content)) => content,
            Ok(None) => return Ok(State::Differs),
            Err(read::TOO_LARGE) => return Err(Unknown("too many bytes to compare")),
            Err(Unknown(reason)) => return Ok(State::Unclear(reason)),
        };
        self.content(entry, &content, conversion)
    }

    fn content(&self, entry: &Entry, content: &[u8], conversion: Conversion) -> Fact<State> {
        if self.id_of(content)? == entry.id {
            return Ok(State::Same);
        }
        match conversion.applied_to(content) {
            Ok(Some(converted)) => Ok(same_if(self.id_of(&converted)? == entry.id)),
            Ok(None) => Ok(State::Differs),
            Err(Unknown(reason)) => Ok(State::Unclear(reason)),
        }
    }

    /// Stat data as new as the index itself proves nothing: the file may have changed right after.
    fn stat_matches(&self, entry: &Entry, metadata: &Metadata) -> bool {
        let Ok(now) = Stat::from_fs(metadata) else { return false };
        let distrusted = entry.stat.size == 0 && !entry.id.is_empty_blob();
        !distrusted
            && entry.stat.matches(&now, self.stat)
            && !entry.stat.is_racy(self.index.state().timestamp(), self.stat)
    }

    fn id_of(&self, content: &[u8]) -> Fact<ObjectId> {
        self.budget.hash(content.len())?;
        let id = gix_object::compute_hash(self.hash, gix_object::Kind::Blob, content);
        id.map_err(|_| Unknown("a file cannot be hashed"))
    }
}

fn absent(entry: &Entry) -> State {
    same_if(entry.flags.contains(Flags::SKIP_WORKTREE))
}
