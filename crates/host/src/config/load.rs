//! Loads the rules and policies that apply to a workspace, from the cache if the files are unchanged.

use super::bases;
use super::cache::Cache;
use super::compile::compile;
use super::files::{self, Found, Place};
use super::loaded::{Loaded, PresentFolders};
use super::loosening;
use super::trust;
use crate::store::Store;
use crate::system::folders::Folders;
use reflex_engine::{Authority, Layer, Vouched};
use reflex_rules::{Compiled, Level, Problem, SourceFile, Variables};
use reflex_tables::views::LayerTables;
use reflex_tables::{List, Map, Texts, view};
use serde_json::json;
use std::path::Path;

/// All layers in force for a workspace, in ascending order of authority.
pub fn load(folders: &Folders, workspace: &Path, store: &Store) -> Vec<Loaded> {
    load_with_presence(folders, workspace, store).0
}

/// The same, and which of the folders exist.
pub(crate) fn load_with_presence(folders: &Folders, workspace: &Path, store: &Store) -> (Vec<Loaded>, PresentFolders) {
    let places = files::places(folders, workspace);
    let has = |authority| places.iter().any(|place| place.authority == authority);
    let present = PresentFolders { project: has(Authority::Project), user: has(Authority::User) };
    if places.is_empty() {
        return (Vec::new(), present);
    }
    let (cache, home) = (Cache::new(folders), folders.home.as_path());
    let mut loader = Loader { cache, home, variables: Variables::new(), loaded: Vec::new(), store };
    // Descending order of authority: a layer may use the variables of those above it.
    for place in places.into_iter().rev() {
        let begin = bases::Step::begin(&place);
        loader.add(place, &[begin]);
    }
    loader.loaded.reverse();
    loosening::vouch(&mut loader.loaded, folders, store);
    (loader.loaded, present)
}

struct Loader<'s> {
    cache: Cache,
    /// What `~` stands for.
    home: &'s Path,
    variables: Variables,
    loaded: Vec<Loaded>,
    store: &'s Store,
}

impl Loader<'_> {
    /// Loads one place, then the further folders of rules that its policy names, and its bases. `trail` holds the
    /// places that led here.
    fn add(&mut self, place: Place, trail: &[bases::Step]) {
        // A place that is named twice is loaded once.
        let is_same = |one: &Loaded| one.place.folder == place.folder && one.place.authority == place.authority;
        let found = place.list();
        if self.loaded.iter().any(is_same) {
            return;
        }
        if found.files.is_empty() && found.problems.is_empty() && found.shipped.is_none() {
            return;
        }
        let compiled = tree(&found, &self.cache, &self.variables);
        let new = compiled.variables().entries();
        self.variables.extend(new.map(|(name, values)| (name.to_owned(), values.iter().map(str::to_owned).collect())));
        let mut digest = compiled.digest().to_owned();
        if place.authority == Authority::Project {
            let checks = compiled.tree().policy().verify().run();
            let scripts = trust::scripts(checks.iter().map(|check| check.command()), &place.workspace);
            digest = trust::with_scripts(digest, &scripts);
        }
        let mut problems: Vec<String> = found.problems.clone();
        problems.extend(compiled.problems().iter().map(str::to_owned));
        let mut why_tight = found.why_tight.clone();
        let accepted = self.accepted(&place, &digest);
        if !accepted.so_far() {
            why_tight = Some("no person has accepted these files with `reflex trust`".into());
        }
        let loosens = if why_tight.is_none() { accepted } else { Vouched::NO };
        let folders: Vec<Place> = match (place.authority, bases::pinned(trail)) {
            (Authority::Project, _) => Vec::new(),
            (Authority::User | Authority::Managed, None) => {
                compiled.rule_dirs().iter().map(|folder| place.further(folder, self.home)).collect()
            }
            (Authority::User | Authority::Managed, Some(step)) => {
                let left_out =
                    |folder| format!("{}: `rule_dirs: {folder}` is not pinned, so it does not count", step.at);
                problems.extend(compiled.rule_dirs().iter().map(left_out));
                Vec::new()
            }
        };
        let mut further: Vec<(Place, bases::Step)> = Vec::new();
        for base in compiled.extends().iter() {
            match bases::resolve(base, &place, self.home, trail) {
                Ok(base) => further.push(base),
                Err(problem) => problems.push(problem.to_string()),
            }
        }
        further.retain(|(place, step)| match self.is_pinned(place, step) {
            Ok(()) => true,
            Err(problem) => {
                problems.push(problem.to_string());
                false
            }
        });
        let (authority, folder) = (place.authority, place.folder.display().to_string());
        let layer = Layer { authority, loosens, tables: compiled.tree(), problems, folder };
        self.loaded.push(Loaded { layer, place, digest, why_tight });
        folders.into_iter().for_each(|place| self.add(place, trail));
        for (place, step) in further {
            let trail: Vec<bases::Step> = trail.iter().cloned().chain([step]).collect();
            self.add(place, &trail);
        }
    }

    /// Whether a person accepts the files of a place. The user's own files are checked after all are loaded.
    fn accepted(&self, place: &Place, digest: &str) -> Vouched {
        match place.authority {
            Authority::Project => trust::standing(self.store, &trust::repository(&place.workspace), digest),
            Authority::User | Authority::Managed => Vouched::APPROVED,
        }
    }

    /// Checks that a pinned place has the content to which it is pinned.
    fn is_pinned(&self, place: &Place, step: &bases::Step) -> Result<(), bases::BaseError> {
        if step.digest.is_empty() {
            return Ok(());
        }
        let digest = tree(&place.list(), &self.cache, &self.variables).digest().to_owned();
        if digest == step.digest {
            return Ok(());
        }
        Err(step.error(bases::BaseProblem::OtherDigest { folder: place.folder.clone(), digest }))
    }
}

view! {
    /// The compiled files of a place.
    struct CompiledPlace<'a> {
        /// Its rules and its policy.
        tree: LayerTables<'a>,
        /// Errors in its files.
        problems: Texts<'a>,
        /// The digest of its files.
        digest: &'a str,
        /// Additional folders of rules.
        rule_dirs: Texts<'a>,
        /// The policies that it extends.
        extends: List<'a, bases::CompiledBase<'a>>,
        /// Values for names in rules.
        variables: Map<'a, Texts<'a>>,
    }
}

/// The compiled tree: from the cache if the files are unchanged, else compiled and stored.
fn tree(found: &Found, cache: &Cache, variables: &Variables) -> CompiledPlace<'static> {
    let identity = found.identity(variables);
    if let Some(tables) = cache.get(&identity) {
        return tables.view();
    }
    let files = found.read();
    let (compiled, problems, files) = compile_with_last_good(files, cache, variables);
    let tree = json!({
        "tree": compiled.tree,
        "problems": problems,
        "digest": files::digest(&files),
        "rule_dirs": compiled.policy.rule_dirs,
        "extends": compiled.policy.extends.iter().map(bases::json).collect::<Vec<_>>(),
        "variables": compiled.policy.variables,
    });
    cache.put(&identity, &tree).view()
}

/// Compiles files, replacing each damaged one by its last good version if it has one. Returns the files in force,
/// because a person accepts these and not the damaged files on disk.
fn compile_with_last_good(
    files: Vec<SourceFile>,
    cache: &Cache,
    variables: &Variables,
) -> (Compiled, Vec<String>, Vec<SourceFile>) {
    let compiled = compile(&files, variables);
    let mut problems: Vec<String> = errors(&compiled.problems);
    if compiled.left_out.is_empty() {
        files.iter().for_each(|file| cache.keep_good(&file.name, &file.text));
        return (compiled, problems, files);
    }
    let is_bad = |file: &SourceFile| compiled.left_out.contains(&file.name);
    let mut replaced = Vec::new();
    for file in &files {
        let text = if is_bad(file) { cache.last_good(&file.name) } else { Some(file.text.clone()) };
        match text {
            Some(text) if is_bad(file) => {
                problems.push(format!("{}{LAST_GOOD_IN_FORCE}", file.name));
                replaced.push(SourceFile { text, unread: None, ..file.clone() });
            }
            Some(_) => {
                cache.keep_good(&file.name, &file.text);
                replaced.push(file.clone());
            }
            None => problems.push(format!("{}{NOT_IN_FORCE}", file.name)),
        }
    }
    (compile(&replaced, variables), problems, replaced)
}

/// The end of a problem: the last good version of an invalid file is used.
pub const LAST_GOOD_IN_FORCE: &str = ": the last good version of this file is in force";

/// The end of a problem: an invalid file without a good version has no effect.
pub const NOT_IN_FORCE: &str = ": the file has no effect";

fn errors(problems: &[Problem]) -> Vec<String> {
    problems.iter().filter(|problem| problem.level == Level::Error).map(Problem::to_string).collect()
}
