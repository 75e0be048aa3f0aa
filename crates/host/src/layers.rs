//! Rules and policies that people wrote: found, compiled once, kept in the cache by what the files are.

mod cache;
mod files;
mod people;
pub mod trust;

use crate::clock;
use crate::folders::Folders;
use crate::store::Store;
use cache::Cache;
pub use files::{Found, Place};
pub use people::{Offer, Opened, named, offer, open};
use reflex_engine::{Authority, Layer, Policy};
use reflex_rules::{Compiled, Level, Problem, SourceFile, Variables};
use reflex_tables::Node;
use serde_json::{Value, json};
use std::path::Path;

/// The compiled files of one place, as they count now.
pub struct Loaded {
    /// What the engine is given.
    pub layer: Layer,
    /// Where the files lie.
    pub place: Place,
    /// The digest of all their contents.
    pub digest: String,
    /// Why the layer may only tighten, where it may not loosen.
    pub why_tight: Option<String>,
}

/// Texts that were made from others and can be made again, by the name of their folder in the cache.
pub(crate) fn texts(folders: &Folders, name: &str) -> Cache {
    Cache::named(folders, name)
}

/// Everything that is in force for a workspace, the least authority first.
pub fn load(folders: &Folders, workspace: &Path, store: &Store) -> Vec<Loaded> {
    let places = files::places(folders, workspace);
    if places.is_empty() {
        return Vec::new();
    }
    let cache = Cache::of(folders);
    let mut loaded = Vec::new();
    let mut variables = Variables::new();
    // Who has more to say is read first: the others may use its variables.
    for place in places.into_iter().rev() {
        let further = add(place, &cache, &mut variables, &mut loaded, store);
        for place in further {
            add(place, &cache, &mut variables, &mut loaded, store);
        }
    }
    loaded.reverse();
    loaded
}

/// Loads one place; gives the further folders of rules that its policy names.
fn add(place: Place, cache: &Cache, variables: &mut Variables, loaded: &mut Vec<Loaded>, store: &Store) -> Vec<Place> {
    let found = place.list();
    if found.files.is_empty() && found.problems.is_empty() {
        return Vec::new();
    }
    let node = tree(&found, cache, variables);
    let own = node.get("variables").entries();
    variables.extend(own.map(|(name, values)| (name.to_owned(), values.texts().map(str::to_owned).collect())));
    let digest = node.get("digest").text().to_owned();
    let mut problems: Vec<String> = found.problems.clone();
    problems.extend(node.get("problems").texts().map(str::to_owned));
    let mut why_tight = found.why_tight.clone();
    if place.authority == Authority::Project && !trust::is_trusted(store, &place.workspace, &digest) {
        why_tight = Some("no person has accepted these files with `reflex trust`".into());
    }
    let further = match place.authority {
        Authority::Project => Vec::new(),
        Authority::User | Authority::Managed => {
            node.get("rule_dirs").texts().map(|folder| place.further(folder)).collect()
        }
    };
    let layer = Layer { authority: place.authority, loosens: why_tight.is_none(), node: node.get("tree"), problems };
    loaded.push(Loaded { layer, place, digest, why_tight });
    further
}

/// The compiled tree: from the cache where the files are as they were, else compiled and kept.
fn tree(found: &Found, cache: &Cache, variables: &Variables) -> Node<'static> {
    let key = found.key(variables);
    if let Some(node) = cache.get(&key) {
        return node;
    }
    let files = found.read();
    let (compiled, problems) = compile_with_last_good(&files, cache, variables);
    let tree = json!({
        "tree": compiled.tree,
        "problems": problems,
        "digest": files::digest(&files),
        "rule_dirs": compiled.policy.rule_dirs,
        "variables": compiled.policy.variables,
    });
    cache.put(&key, &tree)
}

/// Compiles; a file that is damaged is replaced by its last good form, if there was one.
fn compile_with_last_good(files: &[SourceFile], cache: &Cache, variables: &Variables) -> (Compiled, Vec<String>) {
    let compiled = compile(files, variables);
    let mut problems: Vec<String> = errors(&compiled.problems);
    if compiled.left_out.is_empty() {
        files.iter().for_each(|file| cache.keep_good(&file.name, &file.text));
        return (compiled, problems);
    }
    let is_bad = |file: &SourceFile| compiled.left_out.contains(&file.name);
    let mut replaced = Vec::new();
    for file in files {
        let text = if is_bad(file) { cache.last_good(&file.name) } else { Some(file.text.clone()) };
        match text {
            Some(text) if is_bad(file) => {
                problems.push(format!("{}: the last good version of this file is in force", file.name));
                replaced.push(SourceFile { text, ..file.clone() });
            }
            Some(_) => {
                cache.keep_good(&file.name, &file.text);
                replaced.push(file.clone());
            }
            None => problems.push(format!("{}: nothing of this file is in force", file.name)),
        }
    }
    (compile(&replaced, variables), problems)
}

/// Compiles files with the names of the library's policies.
pub fn compile(files: &[SourceFile], variables: &Variables) -> Compiled {
    reflex_rules::compile(files, &presets(), variables)
}

fn errors(problems: &[Problem]) -> Vec<String> {
    problems.iter().filter(|problem| problem.level == Level::Error).map(Problem::to_string).collect()
}

/// The names of the policies that a `preset:` can name.
pub fn presets() -> Vec<&'static str> {
    reflex_library::tables().get("policies").entries().map(|(name, _)| name).collect()
}

/// The policy of this name with the layers of a workspace. `insisted` keeps the name whatever the layers prefer.
pub(crate) fn policy(name: &str, insisted: bool, loaded: &[Loaded]) -> Option<Policy> {
    let layers = loaded.iter().map(|one| one.layer.clone()).collect();
    let minute = u32::try_from(clock::now() / 60_000).unwrap_or(u32::MAX);
    Policy::named(reflex_library::tables(), name).map(|policy| policy.with_layers(layers, minute, insisted))
}

/// Which files were in force, for the record.
pub(crate) fn record(loaded: &[Loaded]) -> Value {
    let short = |digest: &str| digest.get(..16).unwrap_or("").to_owned();
    loaded
        .iter()
        .map(|one| json!({"layer": one.layer.authority.name(), "digest": short(&one.digest), "loosens": one.layer.loosens}))
        .collect()
}
