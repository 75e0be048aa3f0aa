//! The index: the tracked paths, and their state when git last saw them.

use crate::files::excerpt::excerpt;
use crate::files::read;
use crate::files::scope::{Scope, is_at_or_below};
use crate::model::fact::{Fact, Unknown};
use gix_index::entry::{Mode, Stage};
use gix_index::{Entry, State};
use std::ops::Range;
use std::path::Path;

const MAXIMUM_ENTRIES: usize = 500_000;
const MAXIMUM_BYTES: u64 = 256 * 1024 * 1024;
const MAXIMUM_DEPTH: usize = 1000;
const MAXIMUM_FOLDERS: usize = 2_000_000;
const MAXIMUM_NAME: usize = 4096;
const MAXIMUM_COUNTS: usize = 64;

const TOO_LARGE: Unknown = Unknown("too many index entries");
const UNREADABLE: Unknown = Unknown("the index cannot be read");

const TOO_MANY_FOLDERS: Unknown = Unknown("too many folders in the index");
const TOO_DEEP: Unknown = Unknown("the folders in the index are nested too deeply");
/// Git reads a sparse index; this reader does not.
pub(crate) const SPARSE: Unknown = Unknown("the index is sparse");
const NOT_IN_ORDER: Unknown = Unknown("the index is not in order");
const NOT_PLAIN: Unknown = Unknown("the index names a path that could not be checked out");

/// Reasons for not reading an index that may hold anything: it is damaged or too large. An index in an unknown format
/// is not among them: git reads it as intended.
pub(crate) const HIDES: [Unknown; 7] =
    [TOO_LARGE, UNREADABLE, read::TOO_LARGE, TOO_MANY_FOLDERS, TOO_DEEP, NOT_IN_ORDER, NOT_PLAIN];

/// A decoded index whose order has been verified, so that binary search is valid.
pub(crate) struct Index(State);

impl std::fmt::Debug for Index {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Index({} entries)", self.0.entries().len())
    }
}

impl Index {
    /// Reads the index of a git folder. A missing index is empty.
    pub(crate) fn load(git_dir: &Path, hash: gix_hash::Kind) -> Fact<Self> {
        let path = git_dir.join("index");
        let Some((content, metadata)) = read::file_with_metadata(&path, MAXIMUM_BYTES)? else {
            return Ok(Index(State::new(hash)));
        };
        let written = filetime::FileTime::from_last_modification_time(&metadata);
        check(&content, hash)?;
        let (mut state, _) = State::from_bytes(&content, written, hash, options()).map_err(|_| UNREADABLE)?;
        if let Some(link) = state.link() {
            let shared = format!("sharedindex.{}", link.shared_index_checksum);
            let shared = read::file(&git_dir.join(shared), MAXIMUM_BYTES)?;
            check(&shared.ok_or(Unknown("the shared index is missing"))?, hash)?;
            let joined = gix_index::File::at(&path, hash, true, options()).map_err(|_| UNREADABLE)?;
            state = joined.into_parts().0;
        }
        checked(state)
    }

    /// Reads the part of the index about one path: the entries at, above and below it, and those of attributes files. `None` if
    /// the index has to be read completely.
    pub(crate) fn about(git_dir: &Path, hash: gix_hash::Kind, path: &[u8]) -> Option<Self> {
        let (file, metadata) = read::opened(&git_dir.join("index"), MAXIMUM_BYTES).ok()??;
        let content = excerpt(file, metadata.len(), hash.len_in_bytes(), path).ok()??;
        let written = filetime::FileTime::from_last_modification_time(&metadata);
        check(&content, hash).ok()?;
        let (state, _) = State::from_bytes(&content, written, hash, options()).ok()?;
        checked(state).ok()
    }

    pub(crate) fn state(&self) -> &State {
        &self.0
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        self.0.entries()
    }

    pub(crate) fn path<'a>(&'a self, entry: &Entry) -> &'a [u8] {
        entry.path_in(self.0.path_backing())
    }

    /// Whether an entry is this path or lies below it.
    pub(crate) fn covers(&self, path: &[u8]) -> bool {
        if path.is_empty() {
            return !self.entries().is_empty();
        }
        self.has_entry(path) || !self.below(path).is_empty()
    }

    /// Whether an entry, in conflict or not, is exactly this path.
    pub(crate) fn has_entry(&self, path: &[u8]) -> bool {
        self.any_stage(path).is_some()
    }

    /// Like [`Index::has_entry`], but searches only `folder`, the range of the entries below the path's folder. Their
    /// first `shared` bytes equal those of the path and are not compared.
    pub(crate) fn has_entry_below(&self, folder: &Range<usize>, shared: usize, path: &[u8]) -> bool {
        let entries = self.entries().get(folder.clone()).unwrap_or_default();
        let wanted = path.get(shared..).unwrap_or_default();
        let order = |entry: &Entry| entry.path_in(self.0.path_backing()).get(shared..).unwrap_or_default().cmp(wanted);
        let position = entries.partition_point(|entry| order(entry).is_lt());
        entries.get(position).is_some_and(|entry| order(entry).is_eq())
    }

    pub(crate) fn is_submodule(&self, path: &[u8]) -> bool {
        self.any_stage(path).is_some_and(|entry| entry.mode == Mode::COMMIT)
    }

    /// Position of the unconflicted entry with exactly this path.
    pub(crate) fn position(&self, path: &[u8]) -> Option<usize> {
        let position = self.first_not_before(path);
        let entry = self.entries().get(position)?;
        (self.path(entry) == path && entry.stage_raw() == Stage::Unconflicted as u32).then_some(position)
    }

    /// The entries in the scope, in order and without duplicates.
    pub(crate) fn within(&self, scope: &Scope) -> impl Iterator<Item = &Entry> {
        let full_range = scope.0.is_empty().then(|| 0..self.entries().len());
        let mut ranges: Vec<Range<usize>> = scope.0.iter().flat_map(|path| [self.at(path), self.below(path)]).collect();
        ranges.sort_by_key(|range| range.start);
        let mut end = 0;
        full_range.into_iter().chain(ranges).flat_map(move |range| {
            let range = range.start.max(end)..range.end.max(end);
            end = range.end;
            self.entries().get(range).unwrap_or_default()
        })
    }

    /// Positions of the entries, in conflict or not, with exactly this path.
    fn at(&self, path: &[u8]) -> Range<usize> {
        let start = self.first_not_before(path);
        let rest = self.entries().get(start..).unwrap_or_default();
        start..start + rest.partition_point(|entry| self.path(entry) == path)
    }

    /// Positions of the entries below a folder.
    pub(crate) fn below(&self, directory: &[u8]) -> Range<usize> {
        if directory.is_empty() {
            return 0..self.entries().len();
        }
        let prefix = [directory, b"/"].concat();
        let start = self.first_not_before(&prefix);
        let rest = self.entries().get(start..).unwrap_or_default();
        start..start + rest.partition_point(|entry| is_at_or_below(self.path(entry), directory))
    }

    fn any_stage(&self, path: &[u8]) -> Option<&Entry> {
        let entry = self.entries().get(self.first_not_before(path))?;
        (self.path(entry) == path).then_some(entry)
    }

    fn first_not_before(&self, path: &[u8]) -> usize {
        self.entries().partition_point(|entry| self.path(entry) < path)
    }
}

/// Checks an index without decoding it: its header, and whether it is long enough for its number of entries.
pub(crate) fn begins_well(path: &Path) -> Fact<()> {
    const HEADER: usize = 12;
    const SMALLEST_ENTRY: u64 = 62;
    let Some((start, length)) = read::beginning(path, MAXIMUM_BYTES, HEADER)? else { return Ok(()) };
    let [b'D', b'I', b'R', b'C', 0, 0, 0, 2..=4, count @ ..] = start.as_slice() else { return Err(UNREADABLE) };
    let count = count.try_into().map(u32::from_be_bytes).map_err(|_| UNREADABLE)?;
    if u64::from(count) * SMALLEST_ENTRY + HEADER as u64 > length {
        return Err(UNREADABLE);
    }
    if count as usize > MAXIMUM_ENTRIES { Err(TOO_LARGE) } else { Ok(()) }
}

/// Single-threaded: an index must not be trusted with its own offsets for threads.
fn options() -> gix_index::decode::Options {
    gix_index::decode::Options {
        thread_limit: Some(1),
        alloc_limit_bytes: usize::try_from(MAXIMUM_BYTES).ok(),
        ..Default::default()
    }
}

fn check(content: &[u8], hash: gix_hash::Kind) -> Fact<()> {
    let count = content.get(8..12).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    if count.ok_or(UNREADABLE)? as usize > MAXIMUM_ENTRIES {
        return Err(TOO_LARGE);
    }
    // The decoder recurses into nested folders, so their depth is checked first.
    let (mut rest, mut left) = (content, MAXIMUM_FOLDERS);
    while let Some(position) = find(rest, b"TREE") {
        rest = rest.get(position + 4..).unwrap_or_default();
        check_depth(rest.get(4..).unwrap_or_default(), hash.len_in_bytes(), &mut left)?;
    }
    Ok(())
}

/// Walks the cached trees until they end or are invalid.
fn check_depth(mut data: &[u8], hash_length: usize, left: &mut usize) -> Fact<()> {
    let mut open: Vec<usize> = Vec::new();
    while let Some((entries, inner, rest)) = remembered_folder(data) {
        data = if entries < 0 { rest } else { rest.get(hash_length..).unwrap_or_default() };
        *left = left.checked_sub(1).ok_or(TOO_MANY_FOLDERS)?;
        if open.len() > MAXIMUM_DEPTH || inner > data.len() {
            return Err(TOO_DEEP);
        }
        open.push(inner);
        while open.last() == Some(&0) {
            open.pop();
        }
        let Some(awaited) = open.last_mut() else { return Ok(()) };
        *awaited = awaited.saturating_sub(1);
    }
    Ok(())
}

/// Parses a cached tree: its numbers of entries and of subfolders, and the rest of the data.
fn remembered_folder(data: &[u8]) -> Option<(i64, usize, &[u8])> {
    let name = data.get(..data.len().min(MAXIMUM_NAME))?;
    let counts = data.get(find(name, b"\0")? + 1..)?;
    let end = find(counts.get(..counts.len().min(MAXIMUM_COUNTS))?, b"\n")?;
    let text = std::str::from_utf8(counts.get(..end)?).ok()?;
    let (entries, inner) = text.split_once(' ')?;
    Some((entries.parse().ok()?, inner.parse().ok()?, counts.get(end + 1..)?))
}

fn find(data: &[u8], wanted: &[u8]) -> Option<usize> {
    gix_object::bstr::ByteSlice::find(data, wanted)
}

fn checked(state: State) -> Fact<Index> {
    let index = Index(state);
    let entries = index.entries();
    if entries.len() > MAXIMUM_ENTRIES {
        return Err(TOO_LARGE);
    }
    if index.0.is_sparse() || entries.iter().any(|entry| entry.mode == Mode::DIR) {
        return Err(SPARSE);
    }
    let mut before: Option<&Entry> = None;
    for entry in entries {
        let path = index.path(entry);
        let (last, stage) = before.map_or((&[][..], None), |last| (index.path(last), Some(last.stage_raw())));
        let shared = shared_length(last, path);
        if before.is_some() && !follows((last, stage), (path, entry.stage_raw()), shared) {
            return Err(NOT_IN_ORDER);
        }
        // The folders that it shares with the previous path have been checked already.
        let folder = path.get(..shared).and_then(|start| start.iter().rposition(|byte| *byte == b'/'));
        if !is_plain(path.get(folder.map_or(0, |slash| slash + 1)..).unwrap_or_default()) {
            return Err(NOT_PLAIN);
        }
        before = Some(entry);
    }
    Ok(index)
}

/// Length of the common prefix of two paths in bytes.
fn shared_length(left: &[u8], right: &[u8]) -> usize {
    let (words, others) = (left.as_chunks::<8>().0, right.as_chunks::<8>().0);
    let words = words.iter().zip(others).take_while(|(left, right)| left == right).count() * 8;
    let (left, right) = (left.get(words..).unwrap_or_default(), right.get(words..).unwrap_or_default());
    words + left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// Whether a path and stage sort after the previous ones, given the length of their common prefix.
fn follows(last: (&[u8], Option<u32>), next: (&[u8], u32), shared: usize) -> bool {
    match (last.0.get(shared), next.0.get(shared)) {
        (None, None) => last.1 < Some(next.1),
        (last, next) => last < next,
    }
}

/// Whether a path stays below the work tree and outside the git folder.
fn is_plain(path: &[u8]) -> bool {
    let mut parts = path.split(|byte| *byte == b'/');
    parts.all(|part| !matches!(part, b"" | b"." | b"..") && !part.eq_ignore_ascii_case(b".git"))
}
