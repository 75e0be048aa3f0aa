//! Lists the files below a folder, breadth first and within bounds.

use super::archive::ENTRY;
use crate::system::os;
use reflex_engine::shell::work;
use reflex_engine::{Survey, Surveyed};
use std::collections::VecDeque;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum number of entries of a folder and all folders below it.
const MAX_ENTRIES: usize = 512;

/// Number of bytes that are read from the beginning of a file.
const OPENING: u64 = 512;

/// A folder to be listed: its name relative to the top, and the remaining depth.
struct Waiting {
    at: PathBuf,
    name: String,
    depth: usize,
}

/// Lists the files at a path and `depth` levels below it. Files created and modified since `begun` are new.
pub(super) fn of(path: &Path, depth: usize, begun: Option<SystemTime>) -> Option<Survey> {
    let top = path.symlink_metadata().ok()?;
    let mut survey = Survey { files: Vec::new(), is_complete: true };
    if !top.is_dir() {
        survey.files.push(entry(String::new(), path, &top, begun));
        return Some(survey);
    }
    let mut left = MAX_ENTRIES;
    let mut waiting = VecDeque::from([Waiting { at: path.to_owned(), name: String::new(), depth }]);
    while let Some(folder) = waiting.pop_front() {
        let Some(depth) = folder.depth.checked_sub(1) else {
            survey.is_complete = false;
            continue;
        };
        for found in fs::read_dir(&folder.at).ok()? {
            let found = found.ok()?;
            if left == 0 || !work::spend(ENTRY) {
                survey.is_complete = false;
                return Some(survey);
            }
            left -= 1;
            let name = format!("{}{}", folder.name, found.file_name().to_string_lossy());
            if found.file_type().ok()?.is_dir() {
                waiting.push_back(Waiting { at: found.path(), name: format!("{name}/"), depth });
            } else {
                survey.files.push(entry(name, &found.path(), &found.metadata().ok()?, begun));
            }
        }
    }
    Some(survey)
}

/// A file without a known creation time is not new.
fn entry(name: String, path: &Path, data: &Metadata, begun: Option<SystemTime>) -> Surveyed {
    let since = |time: Option<SystemTime>| begun.zip(time).is_some_and(|(begun, time)| begun <= time);
    Surveyed { name, size: data.len(), is_new: since(data.modified().ok()) && since(os::created(path)) }
}

/// The first bytes of a regular file.
pub(super) fn opening(path: &Path) -> Option<Vec<u8>> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(OPENING).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;

    #[test]
    fn the_top_comes_first_and_what_is_left_out_is_reported() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        for file in ["a/b/deep", "a/one", "top"] {
            fs::write(root.path().join(file), file).unwrap();
        }
        let names = |depth| {
            let survey = of(root.path(), depth, None).unwrap();
            let mut names: Vec<String> = survey.files.into_iter().map(|file| file.name).collect();
            names.sort();
            (names, survey.is_complete)
        };
        assert_eq!(names(1), (vec!["top".to_owned()], false));
        assert_eq!(names(3), (vec!["a/b/deep".to_owned(), "a/one".to_owned(), "top".to_owned()], true));
        assert_eq!(of(&root.path().join("none"), 1, None), None);
    }

    #[test]
    fn a_file_is_new_if_it_was_made_and_written_since_the_session_began() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a");
        fs::write(&file, "abc").unwrap();
        let is_new = |begun| of(&file, 0, begun).unwrap().files.first().map(|file| (file.size, file.is_new));
        assert_eq!(is_new(None), Some((3, false)));
        assert_eq!(is_new(Some(SystemTime::now() + std::time::Duration::from_secs(60))), Some((3, false)));
    }
}
