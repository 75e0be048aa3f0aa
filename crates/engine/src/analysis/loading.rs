//! The files of code that a text loads: which file a name means, and whether it is as its project's history has it.
//!
//! Only files of the project or beside the loading one are followed, so many of them and so much text; what packages
//! bring along is not.

use crate::model::event::Event;
use crate::model::path::{self, parent};
use crate::model::world::World;
use reflex_shell::{Module, ModuleName, work};
use reflex_tables::{Node, Tables};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// More files than these are not loaded by one text.
const MAX_FILES: usize = 96;

/// More text than this is not loaded by one text.
const MAX_TEXT: usize = 512 * 1024;

/// What it costs to look for a file, in units of [`work`].
const LOOK: u64 = 10;

/// Folders of what others wrote and a package manager put there.
const PACKAGES: [&str; 7] =
    ["/node_modules/", "/site-packages/", "/dist-packages/", "/.venv/", "/venv/", "/vendor/bundle/", "/.tox/"];

/// Finds what one text loads.
pub(super) struct Loader<'a> {
    event: &'a Event,
    world: &'a dyn World,
    languages: Node<'static>,
    /// The folder in which the run begins.
    start: &'a str,
    missing: RefCell<BTreeSet<String>>,
    files: Cell<usize>,
    text: Cell<usize>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(event: &'a Event, tables: Tables, world: &'a dyn World, start: &'a str) -> Loader<'a> {
        let languages = tables.get("loads").get("languages");
        let (missing, files, text) = (RefCell::default(), Cell::new(0), Cell::new(0));
        Loader { event, world, languages, start, missing, files, text }
    }

    /// The file that a name means, if it is one of the project's own.
    pub(super) fn load(&self, name: &ModuleName<'_>) -> Option<Module> {
        let entry = self.languages.get(name.language.name()).items().next()?;
        if !entry.get("functions").texts().any(|function| function == name.function) || is_of_package(name.from) {
            return None;
        }
        let folder = if name.from.is_empty() { self.start } else { parent(name.from) };
        if entry.get("relative").is_true() && !name.name.starts_with(['.', '/']) {
            return None;
        }
        let is_dotted = entry.get("dots").is_true() && !name.name.contains('/');
        let above = if is_dotted { name.name.len() - name.name.trim_start_matches('.').len() } else { 0 };
        let plain = name.name.get(above..).unwrap_or("");
        let plain = if is_dotted { plain.replace('.', "/") } else { plain.to_owned() };
        let beside = (1..above).fold(folder, |at, _| parent(at));
        let own = entry.get("folders").texts().map(|below| path::absolute(below, &self.event.workspace));
        let mut places = vec![beside.to_owned()];
        if above == 0 && !plain.starts_with("./") && !plain.starts_with("../") || name.from.is_empty() {
            places.push(self.start.to_owned());
            places.extend(own);
        }
        places.dedup();
        let endings: Vec<&str> = entry.get("endings").texts().collect();
        let place = |place: &String| path::absolute(&plain, place);
        let found = places.iter().map(place).find_map(|base| self.file(&base, &endings))?;
        let is_unchanged = is_unchanged(self.world, &found.0) || self.is_elsewhere(&found.0);
        Some(Module { path: found.0, text: found.1, is_unchanged })
    }

    /// The first of the files that such a name may stand for.
    fn file(&self, base: &str, endings: &[&str]) -> Option<(String, String)> {
        let has_ending = endings.iter().any(|ending| base.ends_with(ending));
        let whole = has_ending.then(|| base.to_owned());
        // `./a.js` of a text that becomes JavaScript means `./a.ts`.
        let stem =
            base.rsplit_once('.').filter(|_| has_ending && !endings.contains(&"")).map_or(base, |(stem, _)| stem);
        let others = endings.iter().map(|ending| format!("{stem}{ending}"));
        whole.into_iter().chain(others).find_map(|path| Some((path.clone(), self.content(&path)?)))
    }

    /// Whether nobody works on the file here: it lies outside of the project, or git is told to ignore it.
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
        // What others wrote is left out without a word, as what it does with unknown things is.
        if is_over && self.world.is_of_session(path) == Some(true) {
            work::cut(|| format!("{path} would be read after {MAX_FILES} others that are loaded"));
        }
        (!is_over).then_some(text)
    }
}

/// Whether git has the file as it is, and nobody has made it in this session.
pub(super) fn is_unchanged(world: &dyn World, path: &str) -> bool {
    world.is_of_session(path) != Some(true)
        && world.is_tracked(path) == Some(true)
        && world.uncommitted(path).is_some_and(|names| !names.any())
}

/// Whether a package manager has put the file there.
pub(super) fn is_of_package(path: &str) -> bool {
    PACKAGES.iter().any(|folder| path.contains(folder))
}
