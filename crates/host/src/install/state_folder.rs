//! Checks that the state folder can be read and written: the log, approvals and copies are there.

use super::trouble::Trouble;
use crate::system::files::make_folder;
use crate::system::folders::Folders;
use crate::system::random;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Size of the probe. An empty file would fit on a full disk.
const PROBE: [u8; 4096] = [0; 4096];

/// The problem, if a file cannot be written to the state folder. The probe removes the files and folders that it
/// creates.
pub fn obstacle(folders: &Folders) -> Option<Trouble> {
    let error = probe(folders).err()?;
    let folder = folders.state.display();
    let is = |kinds: &[ErrorKind]| kinds.contains(&error.kind());
    let (what, fix) = if is(&[ErrorKind::PermissionDenied]) {
        (format!("the state folder {folder} is not writable by you"), format!("sudo chown -R \"$USER\" {folder}"))
    } else if is(&[ErrorKind::StorageFull, ErrorKind::QuotaExceeded]) {
        (format!("the disk of the state folder {folder} is full"), "free some space on it".to_owned())
    } else if is(&[ErrorKind::ReadOnlyFilesystem]) {
        let fix = "make that file system writable, or name another home with --home".to_owned();
        (format!("the state folder {folder} is on a read-only file system"), fix)
    } else if is(&[ErrorKind::NotADirectory, ErrorKind::AlreadyExists]) {
        (format!("{folder}, or a folder above it, is a file"), "move that file away".to_owned())
    } else {
        (format!("the state folder {folder} cannot be written: {error}"), format!("ls -ld {folder}"))
    };
    Some(Trouble { what, fix })
}

/// The problem, if records of earlier calls exist that this user cannot read. A folder that does not exist yet has none.
pub fn unreadable(folders: &Folders) -> Option<Trouble> {
    let (path, error) = first_unreadable(&folders.state, DEPTH)?;
    let path = path.display();
    let (what, fix) = if error.kind() == ErrorKind::PermissionDenied {
        (format!("{path} is not readable by you"), format!("sudo chown -R \"$USER\" {}", folders.state.display()))
    } else if error.kind() == ErrorKind::NotADirectory {
        (format!("{path}, or a folder above it, is a file"), "move that file away".to_owned())
    } else {
        (format!("{path} cannot be read: {error}"), format!("ls -ld {path}"))
    };
    Some(Trouble { what, fix })
}

/// Levels below the state folder that are looked at.
const DEPTH: usize = 2;

/// Files of one folder that are opened. What took a file from its owner took its neighbours too, and a folder of the log
/// or of a project's sessions can have hundreds.
const FILES: usize = 8;

/// The folder of the backups. Their copies can be many thousands, and a backup that cannot be read is listed as damaged.
const BACKUPS: &str = "kept";

fn first_unreadable(folder: &Path, depth: usize) -> Option<(PathBuf, io::Error)> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => return Some((folder.to_owned(), error)),
        Ok(entries) => entries,
    };
    let mut files = 0;
    entries.flatten().find_map(|entry| {
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        if kind.is_dir() && depth > 0 {
            return first_unreadable(&path, if entry.file_name() == BACKUPS { 0 } else { depth - 1 });
        }
        files += usize::from(kind.is_file());
        let is_opened = kind.is_file() && files <= FILES;
        let opened = if is_opened { File::open(&path).map(drop) } else { Ok(()) };
        // Another process may have removed it meanwhile.
        opened.err().filter(|error| error.kind() != ErrorKind::NotFound).map(|error| (path, error))
    })
}

fn probe(folders: &Folders) -> io::Result<()> {
    let missing: Vec<&Path> = folders.state.ancestors().take_while(|folder| !folder.exists()).collect();
    let done = make_folder(&folders.state).and_then(|()| written(folders));
    // The person may still reject the diff: the home must be unchanged.
    missing.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    done
}

fn written(folders: &Folders) -> io::Result<()> {
    let file = folders.state.join(format!("probe-{}", random::uuid()));
    let written = fs::write(&file, PROBE);
    let removed = fs::remove_file(&file);
    written.and(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_the_place_of_the_folder_is_named() {
        let home = tempfile::tempdir().expect("a folder");
        let folders = Folders::below(home.path().to_owned());
        assert_eq!(unreadable(&folders), None);
        assert_eq!(obstacle(&folders), None);
        assert_eq!(fs::read_dir(home.path()).expect("a folder").count(), 0, "the probe is removed");
        fs::create_dir_all(folders.state.parent().expect("a folder above")).expect("a folder");
        fs::write(&folders.state, "").expect("a file");
        let trouble = unreadable(&folders).expect("a problem");
        assert!(trouble.what.ends_with("is a file"), "{trouble:?}");
        let trouble = obstacle(&folders).expect("an obstacle");
        assert!(trouble.what.ends_with("is a file") && trouble.fix == "move that file away", "{trouble:?}");
    }
}
