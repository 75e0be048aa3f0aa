//! Small files: read with one call, created once, replaced atomically, locked with a bounded wait.

use super::os::{self, Purpose};
use super::random;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A size above that of any file that [`once_made`] creates, in bytes.
const MAX_SHORT: usize = 128;

/// Options that create a file that no other user can read.
pub(crate) fn private() -> OpenOptions {
    os::options_with_mode(0o600)
}

/// The text of a file that is usually shorter than `usual` bytes. One read is enough then, because a short read of a
/// file means its end.
pub(crate) fn text_of(path: &Path, usual: usize) -> io::Result<String> {
    let mut file = os::open(path, Purpose::Read)?;
    let mut bytes = vec![0; usual];
    let read = file.read(&mut bytes)?;
    bytes.truncate(read);
    if read == usual {
        file.read_to_end(&mut bytes)?;
    }
    String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// The text of a file, which is created if it does not exist. If several processes create it at once, the first wins.
pub(crate) fn once_made(path: &Path, make: impl FnOnce() -> String) -> io::Result<String> {
    match text_of(path, MAX_SHORT) {
        Ok(text) if !text.is_empty() => return Ok(text),
        _ => {}
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    make_folder(folder)?;
    let text = make();
    let draft = draft(folder, &text)?;
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::read_to_string(path),
        Err(error) => Err(error),
        Ok(()) => Ok(text),
    }
}

/// Replaces a small file atomically.
pub(crate) fn put_as_it_is(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    make_folder(folder)?;
    let draft = draft(folder, text)?;
    fs::rename(draft, path)
}

/// Writes a file next to its target, to be linked or renamed. On an error, such as a full disk, it is removed.
fn draft(folder: &Path, text: &str) -> io::Result<PathBuf> {
    let draft = folder.join(format!(".{}", random::uuid()));
    let mut file = private().write(true).create_new(true).open(&draft)?;
    match file.write_all(text.as_bytes()) {
        Ok(()) => Ok(draft),
        Err(error) => fs::remove_file(&draft).and(Err(error)),
    }
}

/// Creates a folder that only its owner can read.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    os::make_private_folder(folder)
}

/// Locks a file with a bounded wait, because a process that was stopped while holding the lock must not stop every
/// agent.
pub(crate) fn wait_for(file: &File, limit: Duration) -> io::Result<()> {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(50);
    loop {
        let is_over = begun.elapsed() >= limit;
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) if is_over || error.kind() != io::ErrorKind::Interrupted => {
                return Err(error);
            }
            Err(TryLockError::WouldBlock) if is_over => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds the lock"));
            }
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(4));
            }
        }
    }
}
