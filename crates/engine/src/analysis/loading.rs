//! Code files that a text loads: the file of a module name, and whether it is unchanged from its project's history.
//!
//! Only files of the project or next to the loading file are followed, up to a maximum number and length. Files of
//! packages are not followed.

use crate::model::event::Event;
use crate::model::path::{self, parent};
use crate::model::world::World;
use reflex_shell::{Module, ModuleName, work};
use reflex_tables::views::Load;
use reflex_tables::{List, Map, Tables};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// Maximum number of files loaded by one text.
const MAX_FILES: usize = 96;

/// Maximum total length of the files loaded by one text, in bytes.
const MAX_TEXT: usize = 512 * 1024;

/// Cost of looking for a file, in units of [`work`].
const LOOK: u64 = 10;

/// Folders of third-party code installed by a package manager.
const PACKAGES: [&str; 7] =
    ["/node_modules/", "/site-packages/", "/dist-packages/", "/.venv/", "/venv/", "/vendor/bundle/", "/.tox/"];

/// Finds the files that one text loads.
pub(super) struct Loader<'a> {
    event: &'a Event,
    world: &'a dyn World,
    languages: Map<'static, List<'static, Load<'static>>>,
    /// The folder in which the run starts.
    start: &'a str,
    missing: RefCell<BTreeSet<String>>,
    files: Cell<usize>,
    text: Cell<usize>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(event: &'a Event, tables: Tables, world: &'a dyn World, start: &'a str) -> Loader<'a> {
        let languages = tables.library().loads().languages();
        let (missing, files, text) = (RefCell::default(), Cell::new(0), Cell::new(0));
        Loader { event, world, languages, start, missing, files, text }
    }

    /// Returns the file of a module name, if it is one of the project's own.
    pub(super) fn load(&self, name: &ModuleName<'_>) -> Option<Module> {
        let entry = self.languages.get(name.language.name()).iter().next()?;
        if !entry.functions().iter().any(|function| function == name.function) || is_of_package(name.from) {
            return None;
        }
        let folder = if name.from.is_empty() { self.start } else { parent(name.from) };
        if entry.relative() && !name.name.starts_with(['.', '/']) {
            return None;
        }
        let is_dotted = entry.dots() && !name.name.contains('/');
        let above = if is_dotted { name.name.len() - name.name.trim_start_matches('.').len() } else { 0 };
        let plain = name.name.get(above..).unwrap_or("");
        let plain = if is_dotted { plain.replace('.', "/") } else { plain.to_owned() };
        let beside = (1..above).fold(folder, |at, _| parent(at));
        let module_folders = entry.folders().iter().map(|below| path::absolute(below, &self.event.workspace));
        let mut places = vec![beside.to_owned()];
        if above == 0 && !plain.starts_with("./") && !plain.starts_with("../") || name.from.is_empty() {
            places.push(self.start.to_owned());
            places.extend(module_folders);
        }
        places.dedup();
        let endings: Vec<&str> = entry.endings().iter().collect();
        let place = |place: &String| path::absolute(&plain, place);
        let found = places.iter().map(place).find_map(|base| self.file(&base, &endings))?;
        let is_unchanged = is_unchanged(self.world, &found.0) || self.is_elsewhere(&found.0);
        Some(Module { path: found.0, text: found.1, is_unchanged })
    }

    /// Returns the first existing file of a module name.
    fn file(&self, base: &str, endings: &[&str]) -> Option<(String, String)> {
        let has_ending = endings.iter().any(|ending| base.ends_with(ending));
        let exact = has_ending.then(|| base.to_owned());
        // In a text that is compiled to JavaScript, `./a.js` refers to `./a.ts`.
        let stem =
            base.rsplit_once('.').filter(|_| has_ending && !endings.contains(&"")).map_or(base, |(stem, _)| stem);
        let others = endings.iter().map(|ending| format!("{stem}{ending}"));
        exact.into_iter().chain(others).find_map(|path| Some((path.clone(), self.content(&path)?)))
    }

    /// Returns whether the file is not part of the work here: it is outside the project, or git ignores it.
    fn is_elsewhere(&self, path: &str) -> bool {
        self.world.is_of_session(path) != Some(true)
            && (!path::is_within(path, &self.event.workspace) || self.world.is_ignored(path) == Some(true))
    }

    fn content(&self, path: &str) -> Option<String> {
        if is_of_package(path) || self.missing.borrow().contains(path) || !work::spend(LOOK) {
            return None;
        }
        let text = self.world.content(path);
        let Some(text) = text else {
            self.missing.borrow_mut().insert(path.to_owned());
            return None;
        };
        self.files.set(self.files.get() + 1);
        self.text.set(self.text.get() + text.len());
        let is_over = self.files.get() > MAX_FILES || self.text.get() > MAX_TEXT;
        // Files not made in this session are left out silently, like their effects on unknown targets.
        if is_over && self.world.is_of_session(path) == Some(true) {
            work::cut(|| format!("{path} would be read after {MAX_FILES} others that are loaded"));
        }
        (!is_over).then_some(text)
    }
}

/// Returns whether the file is identical to its committed version and was not made in this session.
pub(super) fn is_unchanged(world: &dyn World, path: &str) -> bool {
    world.is_of_session(path) != Some(true)
        && world.is_tracked(path) == Some(true)
        && world.uncommitted(path).is_nothing()
}

/// Returns whether a package manager installed the file.
pub(super) fn is_of_package(path: &str) -> bool {
    PACKAGES.iter().any(|folder| path.contains(folder))
}
