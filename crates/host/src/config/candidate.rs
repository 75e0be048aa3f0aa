//! The layers of a workspace with another policy in place of the user's.

use super::compile::compile;
use super::files::{self, Place};
use super::loaded::Loaded;
use crate::system::folders::Folders;
use reflex_engine::{Authority, Layer, Vouched};
use reflex_rules::{Level, SourceFile, Variables};
use reflex_tables::Tables;
use reflex_tables::compile::encode;
use serde_json::json;
use std::path::Path;

/// A policy that is not in force, compiled with the user's own rules as if the user had accepted it.
pub struct Candidate {
    place: Place,
    tables: Tables,
    digest: String,
}

impl Candidate {
    /// Compiles a text in place of the user's policy. Folders and bases that it names in `rule_dirs` and `extends`
    /// count only if they are already in force.
    ///
    /// # Errors
    /// The problems of the text, one per line.
    pub fn compile(folders: &Folders, file: &Path, text: &str) -> Result<Candidate, Vec<String>> {
        let place = Place::of_user(folders);
        let mut all: Vec<SourceFile> = place.list().read();
        all.retain(|one| !one.is_policy);
        let name = file.display().to_string();
        all.push(SourceFile { name: name.clone(), text: text.into(), is_policy: true, unread: None });
        let compiled = compile(&all, &Variables::new());
        let is_of_it = |problem: &String| problem.contains(&name);
        let problems = compiled.problems.iter().filter(|problem| problem.level == Level::Error);
        let problems: Vec<String> = problems.map(ToString::to_string).filter(is_of_it).collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        let tree = json!({"tree": compiled.tree});
        let blob = encode(&tree).map_err(|error| vec![format!("{name}: {error}")])?;
        Ok(Candidate { place, tables: Tables::new(Vec::leak(blob)), digest: files::digest(&all) })
    }

    /// These layers, with the candidate in place of the user's own layer.
    pub fn within(&self, loaded: &[Loaded]) -> Vec<Loaded> {
        let is_own = |one: &Loaded| one.layer.authority == Authority::User && one.place.folder == self.place.folder;
        let mut all: Vec<Loaded> = loaded.iter().filter(|one| !is_own(one)).map(Loaded::again).collect();
        let above = |one: &Loaded| one.layer.authority > Authority::User;
        let at = all.iter().position(above).unwrap_or(all.len());
        all.insert(at, self.loaded());
        all
    }

    fn loaded(&self) -> Loaded {
        let layer = Layer {
            authority: Authority::User,
            loosens: Vouched::APPROVED,
            tables: self.tables.part("tree").layer(),
            problems: Vec::new(),
            folder: self.place.folder.display().to_string(),
        };
        Loaded { layer, place: self.place.clone(), digest: self.digest.clone(), why_tight: None }
    }
}
