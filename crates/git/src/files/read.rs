//! Bounded reading that cannot hang: only regular files, only up to a limit, all of it counted.

use crate::model::fact::{Fact, Unknown};
use crate::system::{self, Links};
use std::cell::Cell;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::Path;

pub(crate) const MAXIMUM_HASHED: u64 = 64 * 1024 * 1024;
const MAXIMUM_LISTED: usize = 200_000;
const MAXIMUM_LOOKUPS: usize = 1_000_000;
const MAXIMUM_STEPS: u64 = 1_000_000_000;

/// The answer is unknown because a file exceeds the size limit.
pub(crate) const TOO_LARGE: Unknown = Unknown("a file is too large");

/// The remaining work for one question.
pub(crate) struct Budget {
    hashed: Cell<u64>,
    listed: Cell<usize>,
    lookups: Cell<usize>,
    steps: Cell<u64>,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Budget {
            hashed: Cell::new(MAXIMUM_HASHED),
            listed: Cell::new(MAXIMUM_LISTED),
            lookups: Cell::new(MAXIMUM_LOOKUPS),
            steps: Cell::new(MAXIMUM_STEPS),
        }
    }

    pub(crate) fn left_to_hash(&self) -> u64 {
        self.hashed.get()
    }

    pub(crate) fn hash(&self, bytes: usize) -> Fact<()> {
        let left = self.hashed.get().checked_sub(bytes as u64);
        self.hashed.set(left.ok_or(Unknown("too many bytes to compare"))?);
        Ok(())
    }

    pub(crate) fn list(&self) -> Fact<()> {
        spend(&self.listed, "too many directory entries")
    }

    pub(crate) fn match_patterns(&self, steps: u64) -> Fact<()> {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.ok_or(Unknown("too many patterns to match"))?);
        Ok(())
    }

    pub(crate) fn look_up(&self) -> Fact<()> {
        spend(&self.lookups, "too many files to look at")
    }
}

fn spend(counter: &Cell<usize>, reason: &'static str) -> Fact<()> {
    counter.set(counter.get().checked_sub(1).ok_or(Unknown(reason))?);
    Ok(())
}

/// The content of a regular file of at most `limit` bytes. Follows links and never blocks.
pub fn regular_file(path: &Path, limit: usize) -> Option<Vec<u8>> {
    file(path, limit as u64).ok().flatten()
}

/// The content of a regular file, following links; `None` if it does not exist.
pub(crate) fn file(path: &Path, limit: u64) -> Fact<Option<Vec<u8>>> {
    Ok(file_with_metadata(path, limit)?.map(|(content, _)| content))
}

/// As [`file()`], with the metadata of the file that was actually read.
pub(crate) fn file_with_metadata(path: &Path, limit: u64) -> Fact<Option<(Vec<u8>, Metadata)>> {
    match std::fs::metadata(path) {
        Ok(metadata) => open_and_read(path, &metadata, Links::Followed, limit),
        Err(error) if is_missing(&error) => Ok(None),
        Err(_) => Err(Unknown("a file cannot be read")),
    }
}

/// As [`file()`], but a symbolic link counts as missing.
pub(crate) fn file_not_link(path: &Path, limit: u64) -> Fact<Option<Vec<u8>>> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => Ok(None),
        Ok(metadata) => {
            let read = open_and_read(path, &metadata, Links::Refused, limit)?;
            Ok(read.map(|(content, _)| content))
        }
        Err(error) if is_missing(&error) => Ok(None),
        Err(_) => Err(Unknown("a file cannot be read")),
    }
}

/// A regular file to be read in parts, following links; `None` if it does not exist.
pub(crate) fn opened(path: &Path, limit: u64) -> Fact<Option<(File, Metadata)>> {
    match std::fs::metadata(path) {
        Ok(metadata) => open(path, &metadata, Links::Followed, limit).map(Some),
        Err(error) if is_missing(&error) => Ok(None),
        Err(_) => Err(Unknown("a file cannot be read")),
    }
}

/// The first bytes of a regular file, following links, and its length; `None` if it does not exist.
pub(crate) fn beginning(path: &Path, limit: u64, bytes: usize) -> Fact<Option<(Vec<u8>, u64)>> {
    let Some((file, length)) = opened(path, limit)? else { return Ok(None) };
    let mut start = Vec::with_capacity(bytes);
    file.take(bytes as u64).read_to_end(&mut start).map_err(|_| Unknown("a file cannot be read"))?;
    Ok(Some((start, length.len())))
}

pub(crate) fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Checks the file type again after a non-blocking open: a pipe may have replaced the file meanwhile.
fn open(path: &Path, before: &Metadata, links: Links, limit: u64) -> Fact<(File, Metadata)> {
    let unreadable = Unknown("a file cannot be read");
    if !before.is_file() {
        return Err(Unknown("not a regular file"));
    }
    let file = system::open(path, links).map_err(|_| unreadable.clone())?;
    let metadata = file.metadata().map_err(|_| unreadable)?;
    if !metadata.is_file() {
        return Err(Unknown("not a regular file"));
    }
    if metadata.len() > limit { Err(TOO_LARGE) } else { Ok((file, metadata)) }
}

fn open_and_read(path: &Path, before: &Metadata, links: Links, limit: u64) -> Fact<Option<(Vec<u8>, Metadata)>> {
    let (file, metadata) = open(path, before, links, limit)?;
    // One extra byte, so that the read at the end of the file needs no reallocation.
    let mut content = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut content);
    read.map_err(|_| Unknown("a file cannot be read"))?;
    if content.len() as u64 > limit {
        return Err(TOO_LARGE);
    }
    Ok(Some((content, metadata)))
}
