//! The runs that are being watched now, so that a hook below one knows that losses are kept.
//!
//! Each run holds the lock of a file that is named after its process. A hook looks for such a file of a process above it:
//! a name alone, without the lock of a live process above, counts for nothing.

use crate::pipeline::host::Host;
use crate::system::files::{make_folder, private};
use reflex_supervise::parent;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of processes between a hook and the watcher.
const MAX_ABOVE: usize = 256;

/// The mark of a run that is being watched.
#[derive(Debug)]
pub(super) struct RunMark {
    path: PathBuf,
    /// Its lock is held as long as this is open.
    _file: File,
}

impl RunMark {
    /// Marks this process as a watcher.
    pub(super) fn create(state: &Path) -> io::Result<RunMark> {
        let path = place(state, std::process::id());
        path.parent().map_or(Ok(()), make_folder)?;
        let file = private().write(true).create(true).truncate(false).open(&path)?;
        file.lock()?;
        Ok(RunMark { path, _file: file })
    }
}

impl Drop for RunMark {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Host {
    /// Whether this process, or one above it, keeps the files that its tree loses.
    pub(crate) fn is_watched(&self) -> bool {
        let state = &self.folders().state;
        if !state.join(FOLDER).exists() {
            return false;
        }
        let above = |process: &u32| parent(*process).map(|(parent, _)| parent);
        let processes = std::iter::successors(Some(std::process::id()), above);
        processes.take(MAX_ABOVE).any(|process| is_held(&place(state, process)))
    }
}

const FOLDER: &str = "watching";

fn place(state: &Path, process: u32) -> PathBuf {
    state.join(FOLDER).join(process.to_string())
}

fn is_held(path: &Path) -> bool {
    match File::open(path).map(|file| file.try_lock()) {
        Ok(Err(TryLockError::WouldBlock)) => true,
        // Its watcher was killed.
        Ok(Ok(())) => {
            let _ = fs::remove_file(path);
            false
        }
        Ok(Err(TryLockError::Error(_))) | Err(_) => false,
    }
}
