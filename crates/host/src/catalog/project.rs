//! The reflexes of a project or user: `config.json` lists them, `reflexes.lock.json` pins their exact files.

use super::error::{ListError, OriginError};
use super::origin::Origin;
use super::package::{Package, is_name};
use crate::system::files::put_as_it_is;
use crate::system::folders::Folders;
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The list of reflexes.
const CONFIG: &str = "config.json";

/// The lock file: the digest of each added reflex.
const LOCK: &str = "reflexes.lock.json";

/// The folder with the copies of added reflexes.
const COPIES: &str = "reflexes";

/// Maximum size of either file in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The folder of a project's or user's reflexes.
#[derive(Debug, Clone)]
pub struct Home {
    /// `.reflex` or `~/.config/reflex`.
    pub folder: PathBuf,
    /// The folder that no write may leave through a symlink.
    within: PathBuf,
}

/// One entry of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The reflex as the list names it.
    pub source: String,
    /// Its options.
    pub with: Option<Value>,
}

/// A reflex in the lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// The name.
    pub name: String,
    /// Its source in the list.
    pub entry: String,
    /// Its origin.
    pub from: String,
    /// Its version, if it has one.
    pub version: String,
    /// Digest of its files.
    pub digest: String,
}

impl Home {
    /// The project's folder.
    pub fn of_workspace(workspace: &Path) -> Home {
        Home { folder: workspace.join(".reflex"), within: workspace.to_owned() }
    }

    /// The home in a folder of the project.
    pub fn below(workspace: &Path, folder: &Path) -> Home {
        Home { folder: folder.to_owned(), within: workspace.to_owned() }
    }

    /// The user's folder.
    pub fn of_user(folders: &Folders) -> Home {
        Home { folder: folders.config.clone(), within: folders.home.clone() }
    }

    /// Returns the list. It is empty if the file is missing.
    ///
    /// # Errors
    /// The file cannot be read or parsed.
    pub fn entries(&self) -> Result<Vec<Entry>, ListError> {
        let list = self.config()?;
        let list = list.get("reflexes").and_then(Value::as_array).cloned().unwrap_or_default();
        list.iter().map(|entry| self.entry(entry)).collect()
    }

    fn entry(&self, value: &Value) -> Result<Entry, ListError> {
        let source = value.as_str().or_else(|| value.get("source").and_then(Value::as_str));
        let missing = || ListError::NoSource { file: self.file(CONFIG), entry: value.clone() };
        let source = source.ok_or_else(missing)?;
        Ok(Entry { source: source.to_owned(), with: value.get("with").cloned() })
    }

    /// Appends a reflex to the list, or replaces its entry.
    ///
    /// # Errors
    /// The list cannot be read or written.
    pub fn set(&self, entry: &Entry) -> Result<(), ListError> {
        let value = match &entry.with {
            Some(with) => json!({"source": entry.source, "with": with}),
            None => Value::from(entry.source.as_str()),
        };
        self.change(|list| match list.iter_mut().find(|old| names(old, &entry.source)) {
            // Other keys that a person wrote into the entry are kept.
            Some(Value::Object(old)) => {
                if let Some(with) = &entry.with {
                    old.insert("with".into(), with.clone());
                }
            }
            Some(old) => *old = value,
            None => list.push(value),
        })
    }

    /// Removes a reflex from the list and the lock file, and deletes its copy if it came from elsewhere.
    ///
    /// # Errors
    /// The list cannot be read or written.
    pub fn remove(&self, source: &str, name: &str) -> Result<(), ListError> {
        // A reflex written here by hand belongs to its author and is kept.
        let is_copied = self.locked().iter().any(|locked| locked.name == name && locked.from != source);
        self.change(|list| list.retain(|old| !names(old, source)))?;
        self.change_lock(|locked| {
            locked.remove(name);
        })?;
        let copy = self.copy(name);
        if is_copied && source == copy_source(name) && copy.is_dir() {
            self.stays_inside(&copy)?;
            fs::remove_dir_all(&copy).map_err(at(&copy))?;
        }
        Ok(())
    }

    /// The reflexes in the lock file.
    pub fn locked(&self) -> Vec<Locked> {
        let lock = self.lock().unwrap_or_default();
        let all = lock.get("reflexes").and_then(Value::as_object).into_iter().flatten();
        all.map(|(name, value)| {
            let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
            let (entry, from) = (text("entry"), text("from"));
            Locked { name: name.clone(), entry, from, version: text("version"), digest: text("digest") }
        })
        .collect()
    }

    /// Records a reflex in the lock file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, locked: &Locked, package: &Package) -> Result<(), ListError> {
        let capabilities = package.manifest.as_ref().and_then(|manifest| manifest.get("capabilities")).cloned();
        let value = json!({
            "entry": locked.entry, "from": locked.from, "version": locked.version, "digest": locked.digest,
            "capabilities": capabilities,
        });
        self.change_lock(|all| {
            all.insert(locked.name.clone(), value);
            all.sort_keys();
        })
    }

    /// Copies a reflex next to the list and returns the copy's source for the list.
    ///
    /// # Errors
    /// The copy cannot be written, or a symlink leads out of the project.
    pub fn take(&self, package: &Package) -> Result<String, ListError> {
        let copy = self.copy(&package.name);
        self.stays_inside(&copy)?;
        package.put(&copy)?;
        Ok(copy_source(&package.name))
    }

    /// Writes a new, unlisted reflex and returns its folder.
    ///
    /// # Errors
    /// A reflex of this name exists, or the new one cannot be written.
    pub fn begin(&self, package: &Package, beside: &[(&str, &str)]) -> Result<PathBuf, ListError> {
        let folder = self.copy(&package.name);
        if folder.symlink_metadata().is_ok() {
            return Err(ListError::Exists(folder));
        }
        self.stays_inside(&folder)?;
        package.put(&folder)?;
        for (name, text) in beside {
            fs::write(folder.join(name), text).map_err(at(&folder))?;
        }
        Ok(folder)
    }

    /// The folder of a reflex of this name next to the list, listed or not.
    pub fn begun(&self, name: &str) -> Option<PathBuf> {
        let folder = self.copy(name);
        (is_name(name) && folder.is_dir()).then_some(folder)
    }

    /// Whether the source names our own copy of this reflex.
    pub fn is_copy(&self, source: &str, name: &str) -> bool {
        source == copy_source(name)
    }

    /// The file or folder of an entry that names a path.
    pub fn path(&self, source: &str) -> Option<PathBuf> {
        source.starts_with(['.', '/']).then(|| self.folder.join(source))
    }

    /// Loads the reflex of an entry from the local disk. A package is looked up next to the list, then in the
    /// `node_modules` folders above it.
    ///
    /// # Errors
    /// It is not on the local disk, or is not a reflex.
    pub fn installed(&self, source: &str) -> Result<Package, OriginError> {
        let origin = Origin::named(source, &self.folder);
        let is_plain =
            !source.starts_with(['.', '/']) && source.split('/').all(|part| !part.is_empty() && part != "..");
        if is_plain && !matches!(origin, Ok(Origin::Official(_))) {
            let above = self.folder.ancestors().skip(1).take_while(|above| above.starts_with(&self.within));
            let beside = [self.folder.join(COPIES), self.folder.join("node_modules")].into_iter();
            let mut places = beside.chain(above.map(|above| above.join("node_modules")));
            if let Some(place) = places.by_ref().map(|place| place.join(source)).find(|place| place.is_dir()) {
                return Ok(Package::of_folder(&place)?);
            }
        }
        origin?.here()
    }

    /// Finds the entry of this name.
    ///
    /// # Errors
    /// The list cannot be read, or has no such entry.
    pub fn named(&self, name: &str) -> Result<Entry, ListError> {
        let entries = self.entries()?;
        let bare = name.strip_prefix("official/").unwrap_or(name);
        let found = entries.iter().find(|entry| entry.source == name || name_of(&entry.source) == bare);
        found.cloned().ok_or_else(|| {
            let known: Vec<&str> = entries.iter().map(|entry| name_of(&entry.source)).collect();
            let near = reflex_rules::nearest(bare, &known).map(str::to_owned);
            ListError::Unlisted { name: name.to_owned(), file: self.file(CONFIG), near }
        })
    }

    fn copy(&self, name: &str) -> PathBuf {
        self.folder.join(COPIES).join(name)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Refuses a path that a symlink leads out of the project: a cloned repository may have one in place of our
    /// folders.
    fn stays_inside(&self, path: &Path) -> Result<(), ListError> {
        let mut above = path;
        while above.symlink_metadata().is_err() {
            above = above.parent().unwrap_or(Path::new("/"));
        }
        let real = |path: &Path| path.canonicalize().map_err(at(path));
        if real(above)?.starts_with(real(&self.within)?) && !path.is_symlink() {
            return Ok(());
        }
        Err(ListError::Outside { path: path.to_owned(), within: self.within.clone() })
    }

    fn config(&self) -> Result<Map<String, Value>, ListError> {
        read(&self.file(CONFIG))
    }

    fn lock(&self) -> Result<Map<String, Value>, ListError> {
        read(&self.file(LOCK))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Value>)) -> Result<(), ListError> {
        let mut config = self.config()?;
        let list = config.entry("reflexes").or_insert_with(|| json!([]));
        let file = self.file(CONFIG);
        change(list.as_array_mut().ok_or_else(|| ListError::NotList(file.clone()))?);
        self.write(&file, config)
    }

    fn change_lock(&self, change: impl FnOnce(&mut Map<String, Value>)) -> Result<(), ListError> {
        let mut lock = self.lock()?;
        lock.insert("version".into(), 1.into());
        let all = lock.entry("reflexes").or_insert_with(|| json!({}));
        let file = self.file(LOCK);
        change(all.as_object_mut().ok_or_else(|| ListError::NotMap(file.clone()))?);
        self.write(&file, lock)
    }

    fn write(&self, file: &Path, value: Map<String, Value>) -> Result<(), ListError> {
        self.stays_inside(file)?;
        fs::create_dir_all(&self.folder).map_err(at(file))?;
        put_as_it_is(file, &format!("{:#}\n", Value::Object(value))).map_err(at(file))
    }
}

/// The name of the reflex with this source in the list.
pub fn name_of(source: &str) -> &str {
    let source = source.strip_suffix('/').unwrap_or(source);
    let last = source.rsplit('/').next().unwrap_or(source);
    let stem = if source.starts_with(['.', '/']) { last.split('.').next().unwrap_or(last) } else { last };
    match (stem, source.rsplit('/').nth(1)) {
        ("index", Some(folder)) => folder,
        _ => stem,
    }
}

/// The error of an operation on this path.
fn at(path: &Path) -> impl Fn(io::Error) -> ListError {
    move |source| ListError::Io { path: path.to_owned(), source }
}

fn copy_source(name: &str) -> String {
    format!("./{COPIES}/{name}")
}

fn names(entry: &Value, source: &str) -> bool {
    entry.as_str() == Some(source) || entry.get("source").and_then(Value::as_str) == Some(source)
}

/// Reads a JSON object. A damaged file is an error and is never overwritten: a person wrote it.
fn read(file: &Path) -> Result<Map<String, Value>, ListError> {
    // In a cloned repository this may be a link to an endless device or a pipe.
    let is_small = |data: fs::Metadata| data.is_file() && data.len() <= MAX_BYTES;
    if !fs::metadata(file).map_or(true, is_small) {
        return Err(ListError::NotSmallFile { file: file.to_owned(), max_kib: MAX_BYTES / 1024 });
    }
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => return Err(at(file)(error)),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(ListError::NotObject(file.to_owned())),
        Err(source) => Err(ListError::Json { file: file.to_owned(), source }),
    }
}
