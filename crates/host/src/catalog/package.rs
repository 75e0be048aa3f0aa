//! The files of a reflex: from a folder, a single module, an archive or the library.

use super::error::PackageError;
use crate::system::digest::of_parts;
use reflex_script::official;
use reflex_script::{Code, Manifest, Module, OnError, javascript};
use serde_json::{Map, Value};
use std::fs;
use std::io;
use std::path::Path;

/// The manifest of a reflex.
pub const MANIFEST: &str = "reflex.json";

/// Maximum number of files in a reflex.
pub(super) const MAX_FILES: usize = 200;

/// Maximum size of a file in bytes. Bundles include everything that a module imports.
pub(crate) const MAX_BYTES: usize = 5 * 1024 * 1024;

/// Maximum size of all files together in bytes.
const MAX_TOGETHER: usize = 8 * 1024 * 1024;

/// Maximum depth of folders.
const DEEPEST: usize = 8;

/// Extensions of files that belong to a reflex.
const ENDS: [&str; 8] = ["js", "mjs", "cjs", "ts", "mts", "cts", "json", "md"];

/// Extensions of modules.
pub(super) const MODULES: [&str; 6] = ["js", "mjs", "cjs", "ts", "mts", "cts"];

/// Files and folders next to the modules that do not belong to the reflex.
const ASIDE: [&str; 4] = ["node_modules", "package-lock.json", "tsconfig.json", "target"];

/// A reflex that can be shown, stored and compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its files by their path below its folder, sorted.
    pub files: Vec<(String, String)>,
    /// Its manifest, if it has one.
    pub manifest: Option<Map<String, Value>>,
}

impl Package {
    /// Builds a package from its files. `name` applies if the manifest has no name.
    ///
    /// # Errors
    /// It has no module, its manifest is not a JSON object, or its name is invalid.
    pub fn of_files(name: &str, mut files: Vec<(String, String)>) -> Result<Package, PackageError> {
        files.sort();
        files.dedup_by(|one, other| one.0 == other.0);
        if files.iter().map(|(_, text)| text.len()).sum::<usize>() > MAX_TOGETHER {
            return Err(PackageError::TooLarge(MAX_TOGETHER / 1024 / 1024));
        }
        let manifest = match files.iter().find(|(path, _)| path == MANIFEST) {
            Some((_, text)) => Some(object(text)?),
            None => None,
        };
        let declared = manifest.as_ref().and_then(|manifest| manifest.get("name")).and_then(Value::as_str);
        let package = Package { name: declared.unwrap_or(name).to_owned(), files, manifest };
        if !is_name(&package.name) {
            return Err(PackageError::Name(package.name));
        }
        if package.entry().is_none() {
            return Err(package.without_module());
        }
        Ok(package)
    }

    /// Explains the missing module.
    fn without_module(&self) -> PackageError {
        match (&self.manifest, self.text("entry")) {
            (None, _) => PackageError::NoModule,
            (Some(_), "") => PackageError::NoEntry,
            (Some(_), named) => PackageError::EntryMissing(named.to_owned()),
        }
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// It cannot be read, or exceeds the limits of a reflex.
    pub fn of_folder(folder: &Path) -> Result<Package, PackageError> {
        let mut files = Vec::new();
        collect(folder, "", 0, &mut files)?;
        let name = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Package::of_files(&plain(&name), files)
    }

    /// Reads a single module.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of_file(path: &Path) -> Result<Package, PackageError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = name.split('.').next().unwrap_or("").to_owned();
        let files = vec![(name, read(path)?)];
        Package::of_files(&plain(&stem), files)
    }

    /// Renames the package if it has no manifest.
    pub(crate) fn or_named(mut self, name: &str) -> Package {
        let name = plain(name);
        if self.manifest.is_none() && is_name(&name) {
            self.name = name;
        }
        self
    }

    /// The module whose default export is the reflex.
    pub fn entry(&self) -> Option<&str> {
        let named = self.manifest.as_ref().and_then(|manifest| manifest.get("entry")).and_then(Value::as_str);
        let existing = |path: &str| self.code().map(|(name, _)| name).find(|name| *name == path);
        if let Some(named) = named {
            return existing(named.strip_prefix("./").unwrap_or(named));
        }
        if self.manifest.is_some() {
            return None;
        }
        let index = MODULES.iter().find_map(|end| existing(&format!("index.{end}")));
        let mut modules = self.code().map(|(path, _)| path);
        let only = modules.next().filter(|_| modules.next().is_none());
        self.main().and_then(|main| existing(&main)).or(index).or(only)
    }

    /// The module that `package.json` names, resolved as node resolves it.
    fn main(&self) -> Option<String> {
        let described: Value = serde_json::from_str(self.file("package.json")?).ok()?;
        main_of(&described).into_iter().find(|path| self.file(path).is_some())
    }

    /// SHA-256 digest of its paths and contents.
    pub fn digest(&self) -> String {
        let parts = self.files.iter().flat_map(|(path, text)| [path.as_bytes(), text.as_bytes()]);
        format!("sha256:{}", of_parts(parts))
    }

    /// A string of the manifest, empty if missing.
    pub fn text(&self, key: &str) -> &str {
        self.manifest.as_ref().and_then(|manifest| manifest.get(key)).and_then(Value::as_str).unwrap_or("")
    }

    /// A list of strings of the manifest's capabilities, `None` if it is not declared.
    pub fn capability(&self, key: &str) -> Option<Vec<String>> {
        let list = self.manifest.as_ref()?.get("capabilities")?.get(key)?.as_array()?;
        Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Its modules, without type declarations, which only editors use.
    pub fn code(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_code = |path: &str| {
            let aside = [".json", ".md", ".d.ts", ".d.mts", ".d.cts"];
            !aside.iter().any(|end| path.ends_with(end))
        };
        self.files.iter().filter(move |(path, _)| is_code(path)).map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text of a file.
    pub fn file(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|(name, _)| name == path).map(|(_, text)| text.as_str())
    }

    /// The reflex as a module to run, with every capability of its manifest granted.
    ///
    /// # Errors
    /// Its modules cannot be converted to JavaScript.
    pub fn module(&self) -> Result<Module, PackageError> {
        let manifest = self.manifest.as_ref().map(Manifest::from_json);
        let granted = manifest.as_ref().map(|manifest| manifest.capabilities.clone()).unwrap_or_default();
        let ours = official::reflex(&self.name).filter(|ours| ours.digest == self.digest());
        Ok(Module {
            name: self.name.clone(),
            files: if ours.is_some() { Vec::new() } else { self.plain()? },
            entry: self.entry().unwrap_or("").to_owned(),
            manifest,
            options: Value::Null,
            on_error: OnError::Default,
            granted,
            code: ours.map(|ours| Code { files: ours.code, needs: ours.needs }),
            is_ours: ours.is_some(),
            is_to_keep: false,
        })
    }

    /// Its modules as JavaScript, with the JSON files that they may import.
    fn plain(&self) -> Result<Vec<(String, String)>, PackageError> {
        let data = self.files.iter().filter(|(path, _)| path.ends_with(".json"));
        let files = self.code().chain(data.map(|(path, text)| (path.as_str(), text.as_str())));
        files.map(|(path, text)| Ok((path.to_owned(), javascript(path, text)?.into_owned()))).collect()
    }

    /// Writes its files into a folder and removes any other content of the folder.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn put(&self, folder: &Path) -> Result<(), PackageError> {
        let failed = |source: io::Error| PackageError::Io { path: folder.to_owned(), source };
        if folder.symlink_metadata().is_ok() {
            fs::remove_dir_all(folder).map_err(failed)?;
        }
        for (path, text) in &self.files {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().unwrap_or(folder)).map_err(failed)?;
            fs::write(file, text).map_err(failed)?;
        }
        Ok(())
    }
}

/// Candidate paths for the module of a `package.json`, best first. A named path may lack an extension or be a folder.
pub(crate) fn main_of(described: &Value) -> Vec<String> {
    let mut named = Vec::new();
    if let Some(exports) = described.get("exports") {
        exported(exports.get(".").unwrap_or(exports), &mut named);
    }
    named.extend(["module", "main"].iter().filter_map(|key| described.get(key).and_then(Value::as_str)));
    let bare = named.iter().map(|path| path.trim_start_matches("./").trim_end_matches('/'));
    let open = |path: &str| ["", ".js", ".cjs", ".mjs", "/index.js"].map(|end| format!("{path}{end}"));
    bare.filter(|path| !path.split('/').any(|part| part == "..")).flat_map(open).collect()
}

/// Collects the paths under the conditions that apply here, those of newer module systems first.
fn exported<'v>(exports: &'v Value, named: &mut Vec<&'v str>) {
    match exports {
        Value::String(path) => named.push(path),
        Value::Array(several) => several.iter().for_each(|one| exported(one, named)),
        Value::Object(conditions) => {
            let holding =
                ["node", "import", "module", "default", "require"].iter().filter_map(|key| conditions.get(*key));
            holding.for_each(|one| exported(one, named));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a path of a package belongs to the reflex.
pub(super) fn belongs(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let aside = parts.iter().any(|part| part.starts_with('.') || ASIDE.contains(part));
    !aside && path.rsplit_once('.').is_some_and(|(_, end)| ENDS.contains(&end))
}

/// Whether this is a valid name of a reflex.
pub fn is_name(name: &str) -> bool {
    let plain = |ch: char| ch.is_ascii_lowercase() || ch.is_ascii_digit() || ch == '-';
    name.starts_with(|ch: char| ch.is_ascii_lowercase()) && name.chars().all(plain) && name.len() <= 64
}

/// Converts the name of a file or package to the name of a reflex.
pub(super) fn plain(name: &str) -> String {
    let lower = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let dashed = lower.chars().map(|ch| if ch.is_ascii_alphanumeric() { ch } else { '-' });
    dashed.collect::<String>().trim_matches('-').to_owned()
}

fn object(text: &str) -> Result<Map<String, Value>, PackageError> {
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(PackageError::ManifestNotObject),
        Err(error) => Err(PackageError::Manifest(error)),
    }
}

/// Collects regular files only: a symlink may lead anywhere.
fn collect(folder: &Path, above: &str, depth: usize, files: &mut Vec<(String, String)>) -> Result<(), PackageError> {
    if depth > DEEPEST {
        return Err(PackageError::Deep(folder.to_owned()));
    }
    let failed = |source: io::Error| PackageError::Io { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if above.is_empty() { name.clone() } else { format!("{above}/{name}") };
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() && !name.starts_with('.') && !ASIDE.contains(&name.as_str()) {
            collect(&entry.path(), &path, depth + 1, files)?;
        } else if kind.is_file() && belongs(&path) {
            if files.len() >= MAX_FILES {
                return Err(PackageError::TooMany(MAX_FILES));
            }
            files.push((path, read(&entry.path())?));
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, PackageError> {
    let failed = |source: io::Error| PackageError::Io { path: path.to_owned(), source };
    let metadata = fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES as u64 {
        return Err(PackageError::NotSmallFile { file: path.to_owned(), max_kib: MAX_BYTES / 1024 });
    }
    String::from_utf8(fs::read(path).map_err(failed)?).map_err(|_| PackageError::NotText(path.to_owned()))
}
