//! Queries of people about their own files: all problems, all rules, and the origin of every key.

use super::compile::compile;
use super::files;
use super::load::load;
use super::loaded::Loaded;
use super::loosening;
use super::offer::Offer;
use super::trust;
use crate::store::Store;
use crate::system::fault::Fault;
use crate::system::folders::Folders;
use reflex_engine::{Authority, Layer, Vouched};
use reflex_rules::{Compiled, MAX_BYTES, Rule, SourceFile, Variables, rule_files};
use reflex_tables::Tables;
use reflex_tables::compile::{EncodeError, encode};
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A layer with its sources.
pub struct Opened {
    /// The layer as it counts now.
    pub loaded: Loaded,
    /// Its files.
    pub files: Vec<SourceFile>,
    /// The compiled content of the files.
    pub compiled: Compiled,
}

/// All layers of a workspace with their sources.
pub fn open(folders: &Folders, workspace: &Path, store: &Store) -> Vec<Opened> {
    let mut variables = Variables::new();
    let mut opened: Vec<Opened> = Vec::new();
    for loaded in load(folders, workspace, store).into_iter().rev() {
        let files = loaded.place.list().read();
        let compiled = compile(&files, &variables);
        variables.extend(compiled.policy.variables.clone());
        opened.push(Opened { loaded, files, compiled });
    }
    opened.reverse();
    opened
}

/// A file or folder that a person names cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum NamedError {
    /// It does not exist, or cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Its path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It is a pipe or a device.
    #[error("{}: it is not a file", .0.display())]
    NotFile(PathBuf),
    /// It is too long.
    #[error("{}: it is larger than {max_kib} KiB", path.display())]
    TooLarge {
        /// Its path.
        path: PathBuf,
        /// Maximum size in KiB.
        max_kib: u64,
    },
    /// The rules do not fit into a table.
    #[error(transparent)]
    Table(#[from] EncodeError),
}

impl NamedError {
    /// The side at fault.
    pub fn fault(&self) -> Fault {
        match self {
            NamedError::Io { source, .. } => Fault::of_named_file(source),
            NamedError::NotFile(_) => Fault::Request,
            NamedError::TooLarge { .. } | NamedError::Table(_) => Fault::State,
        }
    }
}

/// Files and folders that a person names, with the user's authority. A file with the stem `policy` is a policy, all
/// others hold rules.
///
/// # Errors
/// The first path that cannot be read.
pub fn named(paths: &[PathBuf]) -> Result<Opened, NamedError> {
    let mut all: Vec<PathBuf> = Vec::new();
    for path in paths {
        let failed = |source| NamedError::Io { path: path.clone(), source };
        if path.is_dir() {
            let mut names = rule_files(path).map_err(failed)?;
            names.sort_unstable();
            all.extend(names.iter().map(|name| path.join(name)));
        } else {
            all.push(path.clone())
        }
    }
    let mut sources = Vec::new();
    for path in all {
        let failed = |source| NamedError::Io { path: path.clone(), source };
        let metadata = fs::metadata(&path).map_err(failed)?;
        // A pipe or a device may never reach its end.
        if !metadata.is_file() {
            return Err(NamedError::NotFile(path));
        }
        if metadata.len() > MAX_BYTES {
            return Err(NamedError::TooLarge { path, max_kib: MAX_BYTES / 1024 });
        }
        let text = String::from_utf8_lossy(&fs::read(&path).map_err(failed)?).into_owned();
        let is_policy = path.file_stem().is_some_and(|name| name == "policy");
        sources.push(SourceFile { name: path.display().to_string(), text, is_policy, unread: None });
    }
    let compiled = compile(&sources, &Variables::new());
    let blob = encode(&compiled.tree).map_err(NamedError::Table)?;
    let tables = Tables::new(Box::leak(blob.into_boxed_slice()));
    let (authority, loosens) = (Authority::User, Vouched::APPROVED);
    let layer = Layer { authority, loosens, tables: tables.layer(), problems: Vec::new(), folder: String::new() };
    let digest = files::digest(&sources);
    let place = files::Place::user(PathBuf::from("."));
    let loaded = Loaded { layer, place, digest, why_tight: None };
    Ok(Opened { loaded, files: sources, compiled })
}

impl Opened {
    /// The id under which a rule of this layer is reported.
    pub fn id(&self, rule: &Rule) -> String {
        format!("{}/{}", self.loaded.layer.authority.name(), rule.name)
    }

    /// The keys of its policy, each with the place that sets it and its value.
    pub fn origins(&self) -> &[(String, String, Value)] {
        &self.compiled.policy.origins
    }
}

/// Changes that people's files make to core rules, each in a sentence. Only entries of the user and the administrator
/// that have a reason count.
pub fn lowered(loaded: &[Loaded]) -> Vec<String> {
    let mut lines = Vec::new();
    let core: Vec<&str> = reflex_library::tables()
        .library()
        .rules()
        .entries()
        .filter(|(_, rule)| rule.tier() == "core")
        .map(|(id, _)| id)
        .collect();
    let is_core = |id: &str| {
        let name = ["project/", "user/", "managed/"].iter().find_map(|layer| id.strip_prefix(layer)).unwrap_or(id);
        let is_marked = |one: &Loaded| one.layer.tables.rules().get(name).tier() == "core";
        core.contains(&id) || loaded.iter().any(is_marked)
    };
    let may = |one: &&Loaded| one.layer.loosens.holds() && one.layer.authority >= Authority::User;
    for one in loaded.iter().filter(may) {
        let policy = one.layer.tables.policy();
        let (name, reason) = (one.layer.authority.name(), policy.reason());
        if !reason.is_empty() && !policy.preset().is_empty() {
            lines.push(format!("the {name}'s preset `{}` also holds for core rules: {reason}", policy.preset()));
        }
        for (id, change) in policy.overrides().entries() {
            let (at, reason) = (change.at(), change.reason());
            if is_core(id) && !reason.is_empty() {
                lines.push(format!("{at}: the core rule `{id}` is set to `{}`: {reason}", change.action()));
            }
        }
        for entry in policy.allow().iter().filter(|entry| !entry.reason().is_empty()) {
            let (at, reason) = (entry.at(), entry.reason());
            lines.push(format!("{at}: an allowance also holds for core rules: {reason}"));
        }
    }
    lines
}

/// The user's own files, if their loosening parts need approval.
pub fn offer_of_user(folders: &Folders, workspace: &Path, store: &Store) -> Option<Offer> {
    loosening::offer(&load(folders, workspace, store), folders, store)
}

/// The files of a workspace that a person may accept.
pub fn offer(folders: &Folders, workspace: &Path, store: &Store) -> Option<Offer> {
    let loaded = load(folders, workspace, store);
    let project = loaded.into_iter().find(|one| one.layer.authority == Authority::Project)?;
    let mut files = project.place.list().read();
    let policy = compile(&files, &Variables::new()).policy.node;
    let checks = policy.get("verify").and_then(|verify| verify.get("run")?.as_array()).into_iter().flatten();
    let commands = checks.filter_map(|check| check.get("command")?.as_str());
    let scripts = trust::scripts(commands, workspace);
    let digest = trust::with_scripts(files::digest(&files), &scripts);
    files.extend(scripts);
    let before = trust::accepted(store, workspace);
    Some(Offer::new(files, before, digest, trust::repository(workspace)))
}
