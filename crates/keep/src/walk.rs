//! Expands a request to all files at and below its paths, and counts them before anything is copied.

use crate::model::{Bounds, Moved, Refused, Request};
use crate::os::{self, Kind, Stat};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// Suffixes of the write-ahead log, shared memory and rollback journal of an SQLite database, without which a copy of
/// the database may be incomplete or inconsistent.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A file, folder or missing file of a request.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// `None` if the path does not exist.
    pub(crate) stat: Option<Stat>,
    /// Whether it is an immutable file.
    pub(crate) unchanging: bool,
}

/// All files of a request. A folder comes before its contents if it was named with them.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) found: Vec<Found>,
    /// Files and folders whose content is not copied.
    pub(crate) moved: Vec<Moved>,
    /// Number of bytes to copy.
    pub(crate) bytes: u64,
    files: usize,
    linked: usize,
    known: HashSet<PathBuf>,
}

/// Expands a request.
pub(crate) fn walk(request: &Request, bounds: &Bounds) -> Result<Walk, Refused> {
    let mut walk = Walk { moved: request.moved.clone(), ..Walk::default() };
    for root in &request.roots {
        if !walk.visit(root, false, bounds)? {
            return Err(Refused::Missing(root.clone()));
        }
    }
    for root in &request.if_present {
        if !walk.visit(root, false, bounds)? && walk.known.insert(root.clone()) {
            walk.found.push(Found { path: root.clone(), stat: None, unchanging: false });
        }
    }
    for folder in &request.folders {
        let stat = os::stat(folder).ok().filter(|stat| stat.kind == Kind::Folder && !walk.known.contains(folder));
        stat.map_or(Ok(()), |stat| walk.add(folder.clone(), stat, false, bounds))?;
    }
    for root in &request.unchanging {
        walk.visit(root, true, bounds)?;
    }
    Ok(walk)
}

impl Walk {
    /// Adds the file or the tree at a path; returns whether it exists.
    fn visit(&mut self, root: &Path, unchanging: bool, bounds: &Bounds) -> Result<bool, Refused> {
        let mut left = vec![root.to_owned()];
        let mut exists = false;
        while let Some(path) = left.pop() {
            let stat = match os::stat(&path) {
                Ok(stat) => stat,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Refused::Failed(path, error)),
            };
            exists |= path == root;
            if self.known.contains(&path) {
                continue;
            }
            if stat.kind == Kind::Folder {
                left.extend(children(&path)?);
            }
            if stat.kind == Kind::File && path == root && !unchanging {
                left.extend(companions(&path));
            }
            self.add(path, stat, unchanging, bounds)?;
        }
        Ok(exists)
    }

    fn add(&mut self, path: PathBuf, stat: Stat, unchanging: bool, bounds: &Bounds) -> Result<(), Refused> {
        if stat.kind == Kind::Other {
            return Err(Refused::Special(path));
        }
        let unchanging = unchanging && stat.kind == Kind::File;
        let (count, limit) = match unchanging {
            true => (&mut self.linked, bounds.linked_files),
            false => (&mut self.files, bounds.files),
        };
        *count += 1;
        if *count > limit {
            return Err(Refused::TooMany(*count));
        }
        if stat.kind == Kind::File && !unchanging {
            self.bytes = self.bytes.saturating_add(stat.size);
            if self.bytes > bounds.shared_bytes.max(bounds.bytes) {
                return Err(Refused::TooLarge(self.bytes));
            }
        }
        self.known.insert(path.clone());
        self.found.push(Found { path, stat: Some(stat), unchanging });
        Ok(())
    }
}

fn children(folder: &Path) -> Result<Vec<PathBuf>, Refused> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| Refused::Failed(folder.to_owned(), error))?;
    Ok(entries.into_iter().map(|entry| entry.path()).collect())
}

/// The existing companions of a database file.
fn companions(path: &Path) -> Vec<PathBuf> {
    let beside = COMPANIONS.iter().map(|end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    });
    beside.filter(|path| os::stat(path).is_ok()).collect()
}
