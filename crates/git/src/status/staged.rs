//! Compares the index with the tree of HEAD.

use crate::files::index::Index;
use crate::files::read::Budget;
use crate::files::scope::{Scope, joined};
use crate::history::objects::Objects;
use crate::model::fact::{Fact, Unknown};
use crate::model::found::Found;
use crate::repository::Repository;
use gix_hash::ObjectId;
use gix_index::entry::{Flags, Mode};
use gix_index::extension::Tree;
use gix_object::tree::{EntryKind, EntryMode};
use gix_object::{CommitRefIter, Kind, TreeRefIter};

const MAXIMUM_DEPTH: usize = 500;

/// Adds the paths whose index entry differs from HEAD; a rename counts as two.
pub(crate) fn differing(repository: &Repository, scope: &Scope, found: &mut Found) -> Fact<()> {
    let index = repository.index()?;
    let seen = vec![false; index.entries().len()];
    let mut comparison = Comparison { repository, index, scope, objects: None, budget: Budget::new(), seen, found };
    if let Some(commit) = repository.head()? {
        let hash = repository.object_hash()?;
        let data = comparison.object(&commit, Kind::Commit)?;
        let tree = CommitRefIter::from_bytes(&data, hash).tree_id();
        let tree = tree.map_err(|_| Unknown("a commit cannot be parsed"))?;
        let search = comparison.tree(&tree, b"", index.state().tree(), 0);
        if search.is_err() {
            // The rest of HEAD is unknown, so no entry can be reported as new.
            comparison.found.break_off(search);
            return Ok(());
        }
    }
    comparison.add_unseen();
    Ok(())
}

struct Comparison<'a> {
    repository: &'a Repository,
    index: &'a Index,
    scope: &'a Scope,
    objects: Option<Objects>,
    budget: Budget,
    /// Whether HEAD has each index entry, too.
    seen: Vec<bool>,
    found: &'a mut Found,
}

impl Comparison<'_> {
    fn tree(&mut self, id: &ObjectId, directory: &[u8], cached: Option<&Tree>, depth: usize) -> Fact<()> {
        if !self.scope.reaches(directory) {
            return Ok(());
        }
        let range = self.index.below(directory);
        if cached.is_some_and(|cached| is_same(cached, id, range.len())) {
            self.seen.get_mut(range).unwrap_or_default().fill(true);
            return Ok(());
        }
        if depth > MAXIMUM_DEPTH {
            return Err(Unknown("the folders are nested too deeply"));
        }
        let data = self.object(id, Kind::Tree)?;
        for entry in TreeRefIter::from_bytes(&data, self.repository.object_hash()?) {
            self.budget.list()?;
            let entry = entry.map_err(|_| Unknown("a tree cannot be parsed"))?;
            let path = joined(directory, entry.filename);
            if entry.mode.is_tree() {
                let inner = cached.and_then(|cached| child(cached, entry.filename));
                self.tree(&entry.oid.to_owned(), &path, inner, depth + 1)?;
            } else if self.scope.includes(&path) {
                self.leaf(&path, entry.mode, &entry.oid.to_owned());
            }
        }
        Ok(())
    }

    fn leaf(&mut self, path: &[u8], mode: EntryMode, id: &ObjectId) {
        let position = self.index.position(path);
        let entry = position.and_then(|position| self.index.entries().get(position));
        let same = entry.is_some_and(|entry| {
            let intended = entry.flags.contains(Flags::INTENT_TO_ADD);
            !intended && entry.id == *id && entry.mode == index_mode(mode)
        });
        if !same {
            self.found.add(path);
        }
        if let Some(seen) = position.and_then(|position| self.seen.get_mut(position)) {
            *seen = true;
        }
    }

    fn add_unseen(&mut self) {
        for (entry, seen) in self.index.entries().iter().zip(&self.seen) {
            let path = self.index.path(entry);
            if !seen && self.scope.includes(path) {
                self.found.add(path);
            }
        }
    }

    fn object(&mut self, id: &ObjectId, kind: Kind) -> Fact<Vec<u8>> {
        let objects = match self.objects.as_mut() {
            Some(objects) => objects,
            None => self.objects.insert(Objects::open(self.repository)?),
        };
        let data = objects.find(id, kind)?;
        self.budget.hash(data.len())?;
        Ok(data.to_vec())
    }
}

/// Whether a folder equals that of HEAD: the tree that the index caches for it has the same id and number of entries.
fn is_same(cached: &Tree, id: &ObjectId, entries: usize) -> bool {
    cached.id == *id && cached.num_entries.is_some_and(|count| count as usize == entries)
}

fn child<'a>(cached: &'a Tree, name: &[u8]) -> Option<&'a Tree> {
    cached.children.iter().find(|child| child.name.as_slice() == name)
}

fn index_mode(mode: EntryMode) -> Mode {
    match mode.kind() {
        EntryKind::Tree => Mode::DIR,
        EntryKind::Blob => Mode::FILE,
        EntryKind::BlobExecutable => Mode::FILE_EXECUTABLE,
        EntryKind::Link => Mode::SYMLINK,
        EntryKind::Commit => Mode::COMMIT,
    }
}
