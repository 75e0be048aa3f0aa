//! The names in a commit and in the index: the files that a checkout may write.

use crate::files::read::Budget;
use crate::files::scope::joined;
use crate::history::objects::Objects;
use crate::model::fact::{Fact, Unknown};
use crate::repository::Repository;
use gix_hash::ObjectId;
use gix_object::{CommitRefIter, Kind, TagRefIter, TreeRefIter};

const MAX_DEPTH: usize = 100;
const MAX_TAGS: usize = 8;

impl Repository {
    /// The names in the tree of the commit that `word` names, and those in the index. Fails if they exceed `limit`. If
    /// `word` names no commit, it is a path, and only the index counts. For `COMMIT:FOLDER`, the names below the
    /// folder, relative to it.
    pub fn names_in(&self, word: &str, limit: usize) -> Fact<Vec<String>> {
        let (commit, folder) = word.split_once(':').unwrap_or((word, ""));
        let index = self.index()?;
        let mut names: Vec<Vec<u8>> = index.entries().iter().map(|entry| index.path(entry).to_vec()).collect();
        if let Some(id) = self.named(commit)? {
            let mut objects = Objects::open(self)?;
            let mut listing = Listing { repository: self, names: &mut names, limit, budget: Budget::new() };
            let tree = listing.tree_of(&mut objects, id)?;
            listing.tree(&mut objects, &tree, b"", 0)?;
        }
        if let Some(folder) = Some(folder.trim_matches('/')).filter(|folder| !folder.is_empty()) {
            let below = |name: Vec<u8>| Some(name.strip_prefix(folder.as_bytes())?.strip_prefix(b"/")?.to_vec());
            names = names.into_iter().filter_map(below).collect();
        }
        if names.len() > limit {
            return Err(Unknown("too many names"));
        }
        Ok(names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }
}

impl Repository {
    /// The content of a path in the last commit, relative to the top of the work tree; `None` if it has no file there,
    /// or HEAD names no commit.
    pub fn committed(&self, path: &str) -> Fact<Option<Vec<u8>>> {
        let Some(head) = self.named("HEAD")? else { return Ok(None) };
        let (mut objects, hash) = (Objects::open(self)?, self.object_hash()?);
        let listing = Listing { repository: self, names: &mut Vec::new(), limit: 0, budget: Budget::new() };
        let mut at = listing.tree_of(&mut objects, head)?;
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            let data = objects.find(&at, Kind::Tree)?.to_vec();
            let entries = TreeRefIter::from_bytes(&data, hash).filter_map(Result::ok);
            let mut wanted = entries.filter(|entry| entry.filename == part.as_bytes());
            let Some(entry) = wanted.find(|entry| entry.mode.is_tree() == parts.peek().is_some()) else {
                return Ok(None);
            };
            at = entry.oid.to_owned();
        }
        match objects.find_any(&at)? {
            (Kind::Blob, data) => Ok(Some(data.to_vec())),
            _ => Ok(None),
        }
    }
}

struct Listing<'a> {
    repository: &'a Repository,
    names: &'a mut Vec<Vec<u8>>,
    limit: usize,
    budget: Budget,
}

impl Listing<'_> {
    /// Peels tags, then returns the commit's tree.
    fn tree_of(&self, objects: &mut Objects, mut id: ObjectId) -> Fact<ObjectId> {
        let hash = self.repository.object_hash()?;
        for _ in 0..MAX_TAGS {
            let (kind, data) = objects.find_any(&id)?;
            let next = match kind {
                Kind::Tree => return Ok(id),
                Kind::Commit => CommitRefIter::from_bytes(data, hash).tree_id(),
                Kind::Tag => TagRefIter::from_bytes(data, hash).target_id(),
                Kind::Blob => return Err(Unknown("a file is not a commit")),
            };
            id = next.map_err(|_| Unknown("an object cannot be parsed"))?;
        }
        Err(Unknown("a tag leads too far"))
    }

    fn tree(&mut self, objects: &mut Objects, id: &ObjectId, folder: &[u8], depth: usize) -> Fact<()> {
        if depth > MAX_DEPTH || self.names.len() > self.limit {
            return Err(Unknown("too many names"));
        }
        let data = objects.find(id, Kind::Tree)?.to_vec();
        self.budget.hash(data.len())?;
        for entry in TreeRefIter::from_bytes(&data, self.repository.object_hash()?) {
            self.budget.list()?;
            let entry = entry.map_err(|_| Unknown("a tree cannot be parsed"))?;
            let path = joined(folder, entry.filename);
            if entry.mode.is_tree() {
                self.tree(objects, &entry.oid.to_owned(), &path, depth + 1)?;
            } else {
                self.names.push(path);
            }
        }
        Ok(())
    }
}
