//! Registries of reflexes: the library that ships with Reflex, and lists that anybody can host.

use super::package::{MANIFEST, MODULES, Package, belongs};
use crate::system::http::{self, Bounds, Request};
use reflex_script::official;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file that lists the reflexes of a registry.
const LIST: &str = "registry.json";

/// The format of a packed reflex.
const BUNDLE: &str = "reflex/bundle-v1";

/// Limits for fetching a file of a registry: 30 seconds, 16 MiB, 3 redirects, https only.
const BOUNDS: Bounds =
    Bounds { within: Duration::from_secs(30), bytes: 16 << 20, redirects: 3, is_local: false, is_encrypted: true };

/// The location of a registry: a local folder or file, or an address that a person gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registry {
    /// The folder with the list, or the list file.
    Disk(PathBuf),
    /// The address of the list.
    Web(String),
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// `no-force-push`
    pub name: String,
    /// Title for people.
    pub title: String,
    /// Description in one sentence.
    pub description: String,
    /// Its version.
    pub version: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The decisions that it may return.
    pub decisions: Vec<String>,
    /// Whether it ships with Reflex.
    pub official: bool,
}

/// Lists the reflexes that ship with Reflex.
pub fn official() -> Vec<Listed> {
    let manifests = official::REFLEXES.iter().filter_map(|reflex| reflex.file(MANIFEST));
    manifests.filter_map(|text| serde_json::from_str(text).ok()).map(|value| listed(&value, true)).collect()
}

/// Lists the reflexes of a registry.
///
/// # Errors
/// The registry cannot be read.
pub fn search(registry: &Registry) -> Result<Vec<Listed>, String> {
    // A hosted list cannot mark its reflexes as official.
    Ok(registry.list()?.iter().map(|value| listed(value, false)).collect())
}

impl Listed {
    /// Whether the name, title, description and tags contain every word, ignoring case.
    pub fn fits(&self, words: &[&str]) -> bool {
        let all = format!("{} {} {} {}", self.name, self.title, self.description, self.tags.join(" ")).to_lowercase();
        words.iter().all(|word| all.contains(&word.to_lowercase()))
    }
}

/// Packs every reflex below a folder and writes the list, as files for any static web server.
///
/// # Errors
/// A folder is not a reflex, two reflexes share a name, or a file cannot be written.
pub fn build(folder: &Path, into: &Path) -> Result<usize, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut places: Vec<_> = fs::read_dir(folder).map_err(failed)?.flatten().map(|entry| entry.path()).collect();
    places.retain(|place| place.join(MANIFEST).is_file());
    places.sort();
    let mut packages: Vec<Package> = Vec::new();
    for place in &places {
        let package = Package::of_folder(place).map_err(|problem| format!("{}: {problem}", place.display()))?;
        if packages.iter().any(|other| other.name == package.name) {
            return Err(format!("{}: there is another reflex `{}`", place.display(), package.name));
        }
        packages.push(package);
    }
    if packages.is_empty() {
        return Err(format!("{}: no folder in it has a {MANIFEST}", folder.display()));
    }
    let failed = |error: std::io::Error| format!("{}: {error}", into.display());
    is_ours(into)?;
    fs::create_dir_all(into).map_err(failed)?;
    for package in &packages {
        let files: Map<String, Value> =
            package.files.iter().map(|(path, text)| (path.clone(), text.as_str().into())).collect();
        let bundle = json!({"schema": BUNDLE, "name": package.name, "files": files});
        fs::write(into.join(bundle_name(package)), format!("{bundle:#}\n")).map_err(failed)?;
    }
    let list = json!({"version": 1, "reflexes": packages.iter().map(line).collect::<Vec<_>>()});
    fs::write(into.join(LIST), format!("{list:#}\n")).map_err(failed)?;
    Ok(packages.len())
}

/// Accepts only an empty folder or one with a list: a reflex called `config` must not replace a `config.json`.
fn is_ours(into: &Path) -> Result<(), String> {
    let is_empty = fs::read_dir(into).map_or(true, |mut entries| entries.next().is_none());
    let full = std::path::absolute(into).unwrap_or_else(|_| into.to_owned());
    let parts: Vec<&str> = full.components().filter_map(|part| part.as_os_str().to_str()).collect();
    let above = [".config", "state", ".cache", "etc"];
    let is_own = |pair: &[&str]| matches!(pair, [folder, "reflex"] if above.contains(folder));
    let is_guard = parts.contains(&".reflex") || parts.windows(2).any(is_own);
    if is_guard || !(is_empty || into.join(LIST).is_file()) {
        return Err(format!("{}: this is neither an empty folder nor one with a {LIST}", into.display()));
    }
    Ok(())
}

impl Registry {
    /// Parses a registry from the command line: a path, or an https address.
    ///
    /// # Errors
    /// The address is not https, or has characters that an address may not have.
    pub fn named(word: &str, cwd: &Path) -> Result<Registry, String> {
        if let Some(path) = word.strip_prefix("file://") {
            return Ok(Registry::Disk(PathBuf::from(path)));
        }
        if !word.contains("://") {
            return Ok(Registry::Disk(cwd.join(word)));
        }
        // The list contains the digests of its reflexes: an attacker who can change it in transit can change
        // everything.
        let is_plain = word.chars().all(|ch| ch.is_ascii_graphic() && ch != '#');
        let address = word.strip_prefix("https://").filter(|rest| is_plain && !rest.is_empty());
        let address = address.ok_or_else(|| format!("`{word}` is neither a path nor an address with https"))?;
        let (path, _) = address.split_once('?').unwrap_or((address, ""));
        let end = if path.ends_with(".json") { String::new() } else { format!("/{LIST}") };
        Ok(Registry::Web(format!("https://{}{end}", if end.is_empty() { address } else { path.trim_end_matches('/') })))
    }

    /// Whether reading it takes a network request.
    pub fn is_remote(&self) -> bool {
        matches!(self, Registry::Web(_))
    }

    /// The path or address, as printed and stored.
    pub fn shown(&self) -> String {
        match self {
            Registry::Disk(path) => path.display().to_string(),
            Registry::Web(address) => address.clone(),
        }
    }

    fn list(&self) -> Result<Vec<Value>, String> {
        let failed = |problem: String| format!("{}: {problem}", self.shown());
        let text = match self {
            Registry::Disk(path) if path.is_dir() => read(&path.join(LIST)),
            Registry::Disk(path) => read(path),
            Registry::Web(address) => fetched(address),
        };
        let value: Value = serde_json::from_str(&text?).map_err(|error| failed(error.to_string()))?;
        let list = value.get("reflexes").and_then(Value::as_array);
        list.cloned().ok_or_else(|| failed("it has no `reflexes` list".into()))
    }

    /// Returns the text of a file next to the list.
    fn beside(&self, name: &str) -> Result<String, String> {
        match self {
            Registry::Disk(path) if path.is_dir() => read(&path.join(name)),
            Registry::Disk(path) => read(&path.with_file_name(name)),
            Registry::Web(address) => {
                let path = address.split_once('?').map_or(address.as_str(), |(path, _)| path);
                let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
                fetched(&format!("{folder}/{name}"))
            }
        }
    }

    /// Loads one of its reflexes and checks the digest in the list.
    pub(super) fn take(&self, name: &str) -> Result<Package, String> {
        let lines = self.list()?;
        let line = lines.iter().find(|line| line.get("name").and_then(Value::as_str) == Some(name));
        let line = line.ok_or_else(|| {
            let known: Vec<&str> = lines.iter().filter_map(|line| line.get("name").and_then(Value::as_str)).collect();
            let near =
                reflex_rules::nearest(name, &known).map_or(String::new(), |near| format!(", did you mean `{near}`?"));
            format!("{} lists no reflex `{name}`{near}", self.shown())
        })?;
        let bundle = line.get("bundle").and_then(Value::as_str).unwrap_or("");
        let is_plain = |ch: char| ch.is_ascii_alphanumeric() || "-_.".contains(ch);
        if bundle.is_empty() || bundle.starts_with('.') || !bundle.chars().all(is_plain) {
            return Err(format!("`{bundle}` is not a file next to the list"));
        }
        let failed = |problem: &str| format!("{bundle} of {}: {problem}", self.shown());
        if MODULES.iter().any(|end| bundle.ends_with(&format!(".{end}"))) {
            return self.take_module(name, bundle, line);
        }
        let value: Value = serde_json::from_str(&self.beside(bundle)?).map_err(|error| failed(&error.to_string()))?;
        let files = value.get("files").and_then(Value::as_object).into_iter().flatten();
        let files: Vec<(String, String)> =
            files.filter_map(|(path, text)| Some((path.clone(), text.as_str()?.to_owned()))).collect();
        let is_bundle = value.get("schema").and_then(Value::as_str) == Some(BUNDLE);
        if !is_bundle || !files.iter().all(|(path, _)| is_inside(path)) {
            return Err(failed("this is not a packed reflex"));
        }
        let package = Package::of_files(name, files)?;
        if line.get("digest").and_then(Value::as_str) != Some(package.digest().as_str()) {
            return Err(failed(&format!("it is not what {LIST} promises: the digest differs")));
        }
        if package.name != name {
            return Err(failed(&format!("it is called `{}`", package.name)));
        }
        Ok(package)
    }
}

impl Registry {
    /// Loads a reflex that is a single module, as in the lists of agentreflex. These contain no digests; the lock file
    /// still records the digest of the fetched module.
    fn take_module(&self, name: &str, bundle: &str, line: &Value) -> Result<Package, String> {
        let package = Package::of_files(name, vec![(bundle.to_owned(), self.beside(bundle)?)])?;
        match line.get("digest").and_then(Value::as_str) {
            Some(promised) if promised != package.digest() => {
                Err(format!("{bundle} of {}: it is not what {LIST} promises: the digest differs", self.shown()))
            }
            Some(_) | None => Ok(package),
        }
    }
}

/// Fetches the text at an address that a person gave.
pub(super) fn read_address(address: &str) -> Result<String, String> {
    fetched(address)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Called only for a command that a person typed.
fn fetched(address: &str) -> Result<String, String> {
    let failed = |problem: String| format!("{address}: {problem}");
    let request = Request { method: "GET", url: address, headers: &[], body: None };
    let answer = http::send(request, BOUNDS).map_err(failed)?;
    match answer.status {
        200..=299 => Ok(answer.text),
        status => Err(failed(format!("the server answers with status {status}"))),
    }
}

fn is_inside(path: &str) -> bool {
    belongs(path) && !path.contains('\\') && path.split('/').all(|part| !part.is_empty() && part != "..")
}

fn bundle_name(package: &Package) -> String {
    format!("{}.json", package.name)
}

fn line(package: &Package) -> Value {
    let field = |key: &str| package.manifest.as_ref().and_then(|manifest| manifest.get(key)).cloned();
    json!({
        "name": package.name, "title": field("title"), "description": field("description"), "version": field("version"),
        "tags": field("tags"), "capabilities": field("capabilities"), "bundle": bundle_name(package),
        "digest": package.digest(),
    })
}

fn listed(value: &Value, official: bool) -> Listed {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let texts = |value: Option<&Value>| {
        let list = value.and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Listed {
        name: text("name"),
        title: text("title"),
        description: text("description"),
        version: text("version"),
        tags: texts(value.get("tags")),
        decisions: texts(value.pointer("/capabilities/decisions")),
        official,
    }
}
