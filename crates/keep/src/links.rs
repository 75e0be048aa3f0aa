//! The further names (hard links) of files: a call that writes through one of them changes what all of them show.

use crate::model::{Item, ItemKind, Place};
use crate::os::{self, Kind};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of entries that are searched for names.
const MAX_SEARCHED: usize = 50_000;

/// The present names of files in a restore whose content no step of it restores: those beside the lost names, in the project, and
/// beside the project.
pub(crate) fn other_names<'a>(steps: &[(&'a Item, PathBuf)], workspace: &Path) -> Vec<(&'a Item, PathBuf)> {
    let mut wanted: HashMap<Place, &'a Item> = HashMap::new();
    for (item, _) in steps {
        if let Some(place) = item.place() {
            wanted.entry(place).or_insert(item);
        }
    }
    if wanted.is_empty() {
        return Vec::new();
    }
    let files = steps.iter().filter(|(item, _)| matches!(item.kind, ItemKind::File { .. }));
    let known: HashSet<&Path> = files.map(|(_, to)| to.as_path()).collect();
    let beside: HashSet<&Path> = wanted.values().filter_map(|item| item.path.parent()).collect();
    let mut search = Search { seen: HashSet::new(), entries: 0, found: Vec::new(), wanted: &wanted };
    // A link in the place of a folder leads to names that are found where they are, or that the restore removes.
    let folders = beside.into_iter().filter(|folder| os::stat(folder).is_ok_and(|stat| stat.kind == Kind::Folder));
    folders.for_each(|folder| search.look_into(folder.to_owned(), false));
    let project = Some(workspace).filter(|folder| folder.is_absolute());
    for folder in project.into_iter().chain(project.and_then(Path::parent)) {
        search.look_into(folder.to_owned(), true);
    }
    let Search { found, .. } = search;
    found.into_iter().filter(|(_, path)| !known.contains(path.as_path())).collect()
}

/// The files of which some names have become files of their own.
pub(crate) fn split(steps: &[(&Item, PathBuf)]) -> HashSet<Place> {
    let mut present: HashMap<Place, Option<Place>> = HashMap::new();
    let mut split = HashSet::new();
    for (item, to) in steps {
        let Some(place) = item.place() else { continue };
        let now = os::stat(to).ok().map(|stat| stat.place);
        if *present.entry(place).or_insert(now) != now {
            split.insert(place);
        }
    }
    split
}

struct Search<'a, 's> {
    seen: HashSet<PathBuf>,
    entries: usize,
    found: Vec<(&'a Item, PathBuf)>,
    wanted: &'s HashMap<Place, &'a Item>,
}

impl Search<'_, '_> {
    fn look_into(&mut self, folder: PathBuf, is_deep: bool) {
        let mut left = vec![folder];
        while let Some(folder) = left.pop().filter(|_| self.entries < MAX_SEARCHED) {
            for path in fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
                self.entries += 1;
                match os::stat(&path) {
                    Ok(stat) if stat.kind == Kind::Folder && is_deep => left.push(path),
                    Ok(stat) if stat.kind == Kind::File => self.note(path, stat.place),
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }

    fn note(&mut self, path: PathBuf, place: Place) {
        if let Some(item) = self.wanted.get(&place)
            && self.seen.insert(path.clone())
        {
            self.found.push((item, path));
        }
    }
}
