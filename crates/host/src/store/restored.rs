//! Files that `reflex undo` has restored. To the file system they are new files of the session, whose loss would need
//! no backup; to the person they are earlier work.

use super::state::Store;
use crate::system::clock::now;
use crate::system::files::{make_folder, private};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Size in bytes above which the list is cleared. It is only needed by sessions older than a restoration.
const MAX_BYTES: u64 = 1024 * 1024;

/// The time until which each file was restored.
#[derive(Debug, Default)]
pub(crate) struct Restored(HashMap<String, SystemTime>);

impl Restored {
    /// Whether the file created at this time is a restored one, and not a later replacement.
    pub(crate) fn has(&self, path: &str, made: SystemTime) -> bool {
        self.0.get(path).is_some_and(|until| made <= *until)
    }
}

impl Store {
    fn restored_file(&self) -> PathBuf {
        self.state().join("restored.jsonl")
    }

    /// Records that these files have just been restored.
    ///
    /// # Errors
    /// The list cannot be written.
    pub(crate) fn note_restored<'p>(&self, paths: impl Iterator<Item = &'p Path>) -> io::Result<()> {
        let time = now() + 1;
        let line = |path: &Path| format!("{}\n", serde_json::json!([path.to_string_lossy(), time]));
        let lines: String = paths.map(line).collect();
        if lines.is_empty() {
            return Ok(());
        }
        make_folder(self.state())?;
        let path = self.restored_file();
        if path.metadata().is_ok_and(|data| data.len() > MAX_BYTES) {
            fs::remove_file(&path)?;
        }
        private().append(true).create(true).open(path)?.write_all(lines.as_bytes())
    }

    /// The files that were restored recently.
    pub(crate) fn restored(&self) -> Restored {
        let text = fs::read_to_string(self.restored_file()).unwrap_or_default();
        let entry = |line: &str| {
            let (path, time): (String, u64) = serde_json::from_str(line).ok()?;
            Some((path, SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(time))?))
        };
        Restored(text.lines().filter_map(entry).collect())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use crate::store::Store;
    use crate::system::folders::Folders;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_file_that_was_restored_is_known_until_another_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(&Folders::below(folder.path().to_owned()));
        let before = SystemTime::now();
        assert!(!store.restored().has("/a/b\nc", before));
        store.note_restored([Path::new("/a/b\nc"), Path::new("/a/d")].into_iter()).unwrap();
        let known = store.restored();
        assert!(known.has("/a/b\nc", before) && known.has("/a/d", before) && !known.has("/a", before));
        assert!(!known.has("/a/d", before + Duration::from_secs(3600)));
    }
}
