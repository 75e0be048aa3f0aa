//! The present paths of files by device and inode.

use crate::model::Place;
use crate::os;
use std::path::{Path, PathBuf};

/// Whether this file or folder is at a path.
pub(crate) fn is_at(path: &Path, place: Place) -> bool {
    os::stat(path).is_ok_and(|current| current.place == place)
}

/// The place of a file that was to be moved back when the restore was killed: a temporary name in a folder above.
pub(crate) fn temporary(folder: &Path, id: &str, place: Place) -> PathBuf {
    folder.join(format!(".reflex-undo-{id}-{}", place.1))
}

/// The present path of a file or folder that a call has left at `at`.
pub(crate) fn find(at: &Path, place: Place, id: &str) -> Option<PathBuf> {
    let above = at.ancestors().skip(1).map(|folder| temporary(folder, id, place));
    std::iter::once(at.to_owned()).chain(above).find(|path| is_at(path, place))
}
