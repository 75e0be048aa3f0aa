//! Finds the lists of reflexes, loads their modules, and decides which of them may run.

use super::dependencies::{self, imported};
use super::error::{BrokenList, ListedError, LoadError};
use super::kept::Kept;
use crate::catalog::{
    Home, MANIFEST, MAX_BYTES as MAX_FILE, PACK, PackError, Package, PackageError, main_of, name_of, pack,
};
use crate::config::{Cache, Offer, PresentFolders, loosening, trust};
use crate::store::Store;
use crate::system::digest::of_parts;
use crate::system::folders::Folders;
use crate::system::hex;
use crate::system::os::{self, Purpose};
use reflex_engine::{Authority, plain_path, quoted_from_stranger};
use reflex_rules::SourceFile;
use reflex_script::official::{self, Packaged};
use reflex_script::{Capabilities, Code, ENTRY, Manifest, Module, OnError, javascript, schema};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The name of the list of reflexes in a folder.
const CONFIG: &str = "config.json";

/// Maximum size of a list, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// Maximum size of an imported file, in bytes.
const MAX_BYTES_OF_FILE: u64 = MAX_FILE as u64;

/// Maximum number of reflexes in a list.
const MAX_ENTRIES: usize = 64;

/// A folder with a list of reflexes.
pub struct ReflexFolder {
    /// The owner of the folder.
    pub authority: Authority,
    /// The folder that contains the list.
    pub folder: PathBuf,
    /// The reflexes that may run, in the order of the list, each with its digest.
    pub modules: Vec<(Module, String)>,
    /// The reflexes that cannot be loaded.
    pub missing: Vec<Missing>,
    /// The reason why the list cannot be read.
    pub broken: Option<BrokenList>,
    /// The reason why the code in the folder does not run.
    pub untrusted: Option<Untrusted>,
    /// Whether no person has accepted the list: its words are then quoted as a stranger's.
    pub strange: bool,
    /// Names of the reflexes that run without the machine capabilities their manifests ask for.
    pub ungranted: Vec<String>,
    /// Whether the environment names another home than the password database; nothing in the folder is then granted.
    pub moved: bool,
    /// All files that a person has to review.
    files: Vec<SourceFile>,
}

/// A listed reflex that cannot be loaded.
pub struct Missing {
    /// The name in the list.
    pub name: String,
    /// The reason why it cannot be loaded.
    pub problem: LoadError,
    /// The list's setting for a failure.
    pub on_error: OnError,
    /// Whether it is missing or unreadable; else its manifest or its options are invalid.
    pub is_absent: bool,
}

/// The reason why code of a workspace does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untrusted {
    /// It was never accepted.
    Never,
    /// It changed after it was accepted.
    Changed,
}

/// All folders with reflexes for a call.
pub struct Reflexes {
    /// The user's folder first, then those of the workspace from its root down to the call's working directory.
    pub reflex_folders: Vec<ReflexFolder>,
    /// The cache of compiled modules.
    pub(super) kept: Option<Kept>,
}

impl ReflexFolder {
    /// The problem and the remedy for a person, if the list is not in force or lacks a grant that it asks for.
    pub fn problem(&self) -> Option<(String, String)> {
        let list = self.folder.join(CONFIG);
        let accept = "a person looks at them and accepts them with `reflex trust`";
        let shown = plain_path(&list.display().to_string());
        let not_in_force = |why: &str| format!("The reflexes of {shown} are not in force: {why}.");
        match self.untrusted {
            Some(Untrusted::Never) => return Some((not_in_force("no person has accepted them"), accept.into())),
            Some(Untrusted::Changed) => {
                return Some((not_in_force("they changed after a person had accepted them"), accept.into()));
            }
            None => {}
        }
        if let Some(problem) = &self.broken {
            let problem = self.attributed("The list", &problem.to_string());
            return Some((format!("Reflexes are not in force: {problem}."), format!("fix {shown}")));
        }
        let names: Vec<String> = self.ungranted.iter().map(|name| format!("`{name}`")).collect();
        let why = match self.moved {
            _ if names.is_empty() => return None,
            true => "only the environment names this home",
            false => "no person has granted it",
        };
        let what = format!("What {} may touch was not granted in {shown}: {why}.", names.join(", "));
        let remedy = match (self.authority, self.moved) {
            (Authority::Project, _) => accept.into(),
            (Authority::User | Authority::Managed, true) => "name the home with `--home`".into(),
            (Authority::User | Authority::Managed, false) => {
                format!(
                    "ask the user to grant it with `reflex reflexes add --user {}`",
                    self.ungranted.first().map_or("", String::as_str)
                )
            }
        };
        Some((what, remedy))
    }
}

impl ReflexFolder {
    /// The problem and the remedy for each listed reflex that cannot be loaded.
    pub fn missing_problems(&self) -> Vec<(String, String)> {
        let list = plain_path(&self.folder.join(CONFIG).display().to_string());
        let of = |Missing { name, problem, .. }: &Missing| {
            let problem = self.attributed("The list", &problem.to_string());
            let name = plain_path(name.trim_start_matches('.'));
            (
                format!("The reflex `{name}` of {list} is not in force: {problem}."),
                format!("install it, or take it out of {list}"),
            )
        };
        self.missing.iter().map(of).collect()
    }

    /// Words from the list, or derived from it; quoted if no person has accepted the list.
    pub(super) fn attributed(&self, who: &str, words: &str) -> String {
        if self.strange {
            quoted_from_stranger(who, &self.folder.display().to_string(), words)
        } else {
            words.to_owned()
        }
    }
}

impl Reflexes {
    /// Loads the reflexes for a call in `cwd`; `None` if no folder lists any.
    pub(crate) fn load(
        folders: &Folders,
        (workspace, cwd): (&Path, &Path),
        present: PresentFolders,
        store: &Store,
    ) -> Option<Reflexes> {
        let (mut reflex_folders, mut kept) = (Vec::new(), None);
        let root = workspace.join(".reflex");
        for (authority, folder) in places(folders, workspace, cwd) {
            let exists = if authority == Authority::Project { present.project || folder != root } else { present.user };
            if !exists {
                continue;
            }
            let Some(text) = listed(&folder) else { continue };
            let kept = kept.get_or_insert_with(|| Kept::open(folders));
            let reader = Reader { folders, workspace, store, authority, folder: &folder, kept };
            reflex_folders.push(reader.reflex_folders(text));
        }
        (!reflex_folders.is_empty()).then_some(Reflexes { reflex_folders, kept: kept.flatten() })
    }
}

/// The folders that may contain a list.
fn places(folders: &Folders, workspace: &Path, cwd: &Path) -> Vec<(Authority, PathBuf)> {
    let above: Vec<&Path> = cwd.ancestors().take_while(|above| above.starts_with(workspace)).collect();
    let mut project: Vec<PathBuf> = above.iter().rev().map(|above| above.join(".reflex")).collect();
    if above.is_empty() {
        project.push(workspace.join(".reflex"));
    }
    project.retain(|folder| *folder != folders.config);
    let user = (Authority::User, folders.config.clone());
    [user].into_iter().chain(project.into_iter().map(|folder| (Authority::Project, folder))).collect()
}

/// The text of a folder's list; `None` if the folder has no list.
fn listed(folder: &Path) -> Option<Result<String, BrokenList>> {
    let file = folder.join(CONFIG);
    let failed = |source| BrokenList::Io { file: file.clone(), source };
    // A FIFO in the place of the file would block until a writer opens it.
    match os::open(&file, Purpose::Poll) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
        Err(error) => Some(Err(failed(error))),
        Ok(mut opened) => {
            let is_small = opened.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES);
            if !is_small {
                return Some(Err(BrokenList::NotSmallFile { file, max_kib: MAX_BYTES / 1024 }));
            }
            let mut text = String::new();
            Some(std::io::Read::read_to_string(&mut opened, &mut text).map(|_| text).map_err(failed))
        }
    }
}

/// One entry of a list.
struct Entry {
    source: String,
    with: Value,
    on_error: OnError,
}

struct Reader<'a> {
    folders: &'a Folders,
    workspace: &'a Path,
    store: &'a Store,
    authority: Authority,
    folder: &'a Path,
    kept: &'a Option<Kept>,
}

impl Reader<'_> {
    fn reflex_folders(&self, text: Result<String, BrokenList>) -> ReflexFolder {
        let mut reflex_folders = ReflexFolder {
            authority: self.authority,
            folder: self.folder.to_owned(),
            modules: Vec::new(),
            missing: Vec::new(),
            broken: None,
            untrusted: None,
            strange: self.authority == Authority::Project,
            ungranted: Vec::new(),
            moved: self.authority != Authority::Project && self.folders.may_only_tighten(),
            files: Vec::new(),
        };
        let entries = text.and_then(|text| {
            reflex_folders.files.push(file(CONFIG.into(), text.clone()));
            let failed = |source| BrokenList::Text { file: self.folder.join(CONFIG), source };
            let (mut entries, packs) = entries(&text).map_err(failed)?;
            for name in packs {
                self.add_pack(&name, (&mut entries, &mut reflex_folders.files))?;
            }
            Ok(entries)
        });
        let entries = match entries {
            Ok(entries) => entries,
            Err(problem) => {
                reflex_folders.broken = Some(problem);
                return reflex_folders;
            }
        };
        let taken: Vec<(Entry, Result<Taken, LoadError>)> = entries
            .into_iter()
            .map(|entry| (self.take(&entry.source), entry))
            .map(|(taken, entry)| (entry, taken))
            .collect();
        let brought = |(_, taken): &'_ (Entry, Result<Taken, LoadError>)| match taken {
            Ok(Taken::Brought(package)) => Some(package.clone()),
            Ok(Taken::Ours(_)) | Err(_) => None,
        };
        for package in taken.iter().filter_map(brought) {
            let named = |(path, text): &(String, String)| file(format!("{}/{path}", package.name), text.clone());
            reflex_folders.files.extend(package.files.iter().map(named));
        }
        let untrusted = if self.authority == Authority::Project { self.untrusted(&reflex_folders.files) } else { None };
        let brings_code = taken.iter().any(|(_, taken)| matches!(taken, Ok(Taken::Brought(_))));
        reflex_folders.untrusted = untrusted.filter(|_| brings_code);
        reflex_folders.strange = untrusted.is_some();
        for (entry, taken) in taken {
            self.place(&entry, taken, (&mut reflex_folders, untrusted));
        }
        reflex_folders
    }

    /// Adds the reflexes of an installed pack, except those that the list names itself. The pack's manifest is among
    /// the files that a person accepts.
    fn add_pack(&self, name: &str, (entries, files): (&mut Vec<Entry>, &mut Vec<SourceFile>)) -> Result<(), PackError> {
        let is_plain = |ch: char| ch.is_ascii_alphanumeric() || ch == '-';
        if name.is_empty() || !name.chars().all(is_plain) {
            return Ok(());
        }
        let Some(pack) = pack(&self.folder.join("packs").join(name))? else { return Ok(()) };
        files.push(file(format!("packs/{name}/{PACK}"), pack.text));
        for (path, with) in pack.reflexes {
            let source = format!("./packs/{name}/{path}");
            if entries.len() < MAX_ENTRIES && entries.iter().all(|entry| entry.source != source) {
                entries.push(Entry { source, with: with.unwrap_or(Value::Null), on_error: OnError::Default });
            }
        }
        Ok(())
    }

    fn untrusted(&self, files: &[SourceFile]) -> Option<Untrusted> {
        match trust::accepted_as(self.store, &subject(self.workspace, self.folder)) {
            Some(trust) if trust.digest == digest(files) => None,
            Some(_) => Some(Untrusted::Changed),
            None => Some(Untrusted::Never),
        }
    }

    fn place(
        &self,
        entry: &Entry,
        taken: Result<Taken, LoadError>,
        (reflex_folders, untrusted): (&mut ReflexFolder, Option<Untrusted>),
    ) {
        let is_absent = taken.is_err();
        let module = taken.and_then(|taken| match taken {
            Taken::Ours(packaged) => self.ours(packaged, entry, untrusted).map(Some),
            Taken::Brought(_) if untrusted.is_some() => Ok(None),
            Taken::Brought(package) => {
                let digest = package.digest();
                self.module(&package, entry, (&digest, untrusted)).map(|module| Some((module, digest)))
            }
        });
        match module {
            Ok(None) => {}
            Ok(Some((module, digest))) => {
                let lacks = module.manifest.as_ref().is_some_and(|manifest| {
                    manifest.capabilities.asks_of_the_machine() && !module.granted.asks_of_the_machine()
                });
                reflex_folders.ungranted.extend(lacks.then(|| module.name.clone()));
                reflex_folders.modules.push((module, digest));
            }
            Err(problem) => {
                let (name, on_error) = (name_of(&entry.source).to_owned(), entry.on_error);
                reflex_folders.missing.push(Missing { name, problem, on_error, is_absent });
            }
        }
    }

    /// The capabilities that are granted, of those the reflex asks for. In a workspace, accepting the files grants
    /// them; in the user's folder, `reflexes add` records the grant with the digest of exactly these files.
    fn granted(&self, asked: Capabilities, (digest, untrusted): (&str, Option<Untrusted>)) -> Capabilities {
        let is_granted = || match self.authority {
            Authority::Project => untrusted.is_none(),
            Authority::User | Authority::Managed => {
                let home = Home::of_user(self.folders);
                let listed = || home.locked().iter().any(|locked| locked.digest == digest);
                !self.folders.may_only_tighten() && listed() && loosening::reflex_counts(self.store, digest)
            }
        };
        if asked.asks_of_the_machine() && is_granted() { asked } else { asked.without_the_machine() }
    }

    /// Loads a built-in reflex. Its manifest is validated against the schema when Reflex is built.
    fn ours(
        &self,
        packaged: &'static Packaged,
        entry: &Entry,
        untrusted: Option<Untrusted>,
    ) -> Result<(Module, String), LoadError> {
        let (raw, module) = shipped(packaged)?;
        check_options(&raw, &entry.with)?;
        let asked = module.manifest.as_ref().map(|manifest| manifest.capabilities.clone()).unwrap_or_default();
        let granted = self.granted(asked, (packaged.digest, untrusted));
        let module = Module { granted, options: entry.with.clone(), on_error: entry.on_error, ..module };
        Ok((module, packaged.digest.to_owned()))
    }

    fn module(&self, package: &Package, entry: &Entry, known: (&str, Option<Untrusted>)) -> Result<Module, LoadError> {
        let manifest = package.manifest.as_ref();
        if let Some(manifest) = manifest {
            if let Some(problem) = schema::problems(manifest).into_iter().next() {
                return Err(LoadError::Misfit(problem));
            }
            check_options(manifest, &entry.with)?;
        }
        let manifest = manifest.map(Manifest::from_json);
        let asked = manifest.as_ref().map(|manifest| manifest.capabilities.clone()).unwrap_or_default();
        let code = self.kept.as_ref().and_then(|kept| kept.code(known.0));
        // Packages are resolved by entry files that contain no code.
        let is_composed = package.files.iter().any(|(path, _)| path.ends_with(ENTRY));
        let is_code = |path: &str| ![".md", ".d.ts", ".d.mts", ".d.cts"].iter().any(|end| path.ends_with(end));
        let files = package.files.iter().filter(|(path, _)| code.is_none() && is_code(path));
        let files: Result<Vec<_>, PackageError> =
            files.map(|(path, text)| Ok((path.clone(), self.plain(path, text)?))).collect();
        Ok(Module {
            name: package.name.clone(),
            files: files?,
            code,
            is_ours: false,
            is_to_keep: code.is_none() && self.kept.is_some() && !is_composed,
            entry: entry_of(package).ok_or(LoadError::NoModule)?,
            manifest,
            options: entry.with.clone(),
            on_error: entry.on_error,
            granted: self.granted(asked, known),
        })
    }

    /// The JavaScript of a file. TypeScript without its types comes from the cache if it was converted before.
    fn plain(&self, path: &str, text: &str) -> Result<String, PackageError> {
        let typed = [".ts", ".mts", ".cts"].iter().any(|end| path.ends_with(end));
        if !typed {
            return Ok(text.to_owned());
        }
        let cache = Cache::at(self.folders.cache.join("scripts"));
        let mut key = Sha256::new();
        key.update(concat!("types-3 ", env!("CARGO_PKG_VERSION"), " "));
        key.update(text);
        let key = hex::encode(&key.finalize());
        if let Some(known) = cache.bytes(&key).and_then(|known| String::from_utf8(known).ok()) {
            return Ok(known);
        }
        let plain = javascript(path, text).map_err(PackageError::Types)?.into_owned();
        cache.put_bytes(&key, plain.as_bytes());
        Ok(plain)
    }

    /// The files of an entry: a built-in reflex, a path, or an installed package.
    fn take(&self, source: &str) -> Result<Taken, LoadError> {
        if source.starts_with(['.', '/']) {
            return self.at(&self.folder.join(source));
        }
        let bare = source.strip_prefix("official/").unwrap_or(source);
        if let Some(official) = official::reflex(bare) {
            return Ok(Taken::Ours(official));
        }
        if source.split('/').any(|part| part == ".." || part.is_empty()) {
            return Err(LoadError::Name(source.to_owned()));
        }
        let beside = [self.folder.join("reflexes"), self.folder.join("node_modules")];
        let above = self.folder.ancestors().skip(1).take_while(|above| above.starts_with(self.workspace));
        let places = beside.into_iter().chain(above.map(|above| above.join("node_modules")));
        let place = places.map(|place| place.join(source)).find(|place| place.is_dir());
        self.at(&place.ok_or_else(|| LoadError::Missing(source.to_owned()))?)
    }

    fn at(&self, path: &Path) -> Result<Taken, LoadError> {
        let mut package = if path.is_dir() { folder(path)? } else { single(path)? };
        dependencies::add(&mut package, if path.is_dir() { path } else { path.parent().unwrap_or(path) });
        Ok(Taken::Brought(package))
    }
}

/// A reflex with its origin.
enum Taken {
    /// Built into Reflex.
    Ours(&'static Packaged),
    /// Loaded from disk.
    Brought(Package),
}

/// A built-in reflex with its unchanged manifest, without grants and options.
fn shipped(packaged: &Packaged) -> Result<(Map<String, Value>, Module), LoadError> {
    let raw = packaged.file(MANIFEST).ok_or(LoadError::NoManifest)?;
    let raw: Map<String, Value> = serde_json::from_str(raw)?;
    let manifest = Manifest::from_json(&raw);
    let module = Module {
        name: manifest.name.clone(),
        files: Vec::new(),
        entry: manifest.entry.clone(),
        manifest: Some(manifest),
        options: Value::Null,
        on_error: OnError::Default,
        granted: Capabilities::default(),
        code: Some(Code { files: packaged.code, needs: packaged.needs }),
        is_ours: true,
        is_to_keep: false,
    };
    Ok((raw, module))
}

/// Checks an entry's options against the manifest.
fn check_options(manifest: &Map<String, Value>, with: &Value) -> Result<(), LoadError> {
    let none = json!({});
    let with = if with.is_null() { &none } else { with };
    schema::misfits(manifest, with).into_iter().next().map_or(Ok(()), |problem| Err(LoadError::Misfit(problem)))
}

/// Loads a folder. Without a manifest, `package.json` names the module.
fn folder(path: &Path) -> Result<Package, PackageError> {
    Package::of_folder(path).or_else(|problem| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(single(&main_module(path).ok_or(problem)?)?.or_named(&name))
    })
}

/// The existing module that the `package.json` of a folder names.
fn main_module(folder: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(folder.join("package.json")).ok()?;
    let described: Value = serde_json::from_str(&text).ok()?;
    main_of(&described).into_iter().map(|main| folder.join(main)).find(|main| main.is_file())
}

/// Loads one module and the files of its folder that it imports.
fn single(path: &Path) -> Result<Package, PackageError> {
    let mut package = Package::of_file(path)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut at = 0;
    while let Some((name, text)) = package.files.get(at).cloned() {
        at += 1;
        for import in imported(&name, &text) {
            let known = package.files.iter().any(|(other, _)| *other == import);
            let file = folder.join(&import);
            let is_file =
                file.symlink_metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES_OF_FILE);
            if !known && is_file && package.files.len() < MAX_ENTRIES {
                let text = fs::read_to_string(&file).map_err(|source| PackageError::Io { path: file, source })?;
                package.files.push((import, text));
            }
        }
    }
    Ok(package)
}

fn entry_of(package: &Package) -> Option<String> {
    let first = || package.files.first().map(|(path, _)| path.clone());
    package.entry().map(str::to_owned).or_else(first)
}

/// The entries of a list, and the names of its packs.
fn entries(text: &str) -> Result<(Vec<Entry>, Vec<String>), ListedError> {
    let config: Map<String, Value> = serde_json::from_str(text)?;
    let packs = config.get("packs").and_then(Value::as_array).into_iter().flatten().take(MAX_ENTRIES);
    let packs = packs.filter_map(|pack| Some(pack.get("name")?.as_str()?.to_owned())).collect();
    let Some(list) = config.get("reflexes") else { return Ok((Vec::new(), packs)) };
    let list = list.as_array().ok_or(ListedError::NotList)?;
    if list.len() > MAX_ENTRIES {
        return Err(ListedError::TooMany(MAX_ENTRIES));
    }
    Ok((list.iter().map(entry).collect::<Result<_, ListedError>>()?, packs))
}

fn entry(value: &Value) -> Result<Entry, ListedError> {
    let source = value.as_str().or_else(|| value.get("source").and_then(Value::as_str));
    let source = source.filter(|source| !source.is_empty());
    let source = source.ok_or_else(|| ListedError::NoSource(value.clone()))?;
    let on_error = match value.get("on_error") {
        None => OnError::Default,
        Some(word) => word.as_str().and_then(OnError::named).ok_or(ListedError::OnError)?,
    };
    let with = value.get("with").cloned().unwrap_or(Value::Null);
    Ok(Entry { source: source.to_owned(), with, on_error })
}

fn file(name: String, text: String) -> SourceFile {
    SourceFile { name, text, is_policy: false, unread: None }
}

/// The digest of exactly these files.
fn digest(files: &[SourceFile]) -> String {
    of_parts(files.iter().flat_map(|file| [file.name.as_bytes(), file.text.as_bytes()]))
}

/// The subject of a person's approval: the repository and the folder in it.
fn subject(workspace: &Path, folder: &Path) -> String {
    let below = folder.strip_prefix(workspace).unwrap_or(folder);
    format!("{}#reflexes#{}", trust::repository(workspace), below.display())
}

/// Every folder that lists reflexes for calls in `cwd`, with the state of each.
pub fn reflex_folders(folders: &Folders, (workspace, cwd): (&Path, &Path), store: &Store) -> Vec<ReflexFolder> {
    let present = PresentFolders { project: true, user: true };
    Reflexes::load(folders, (workspace, cwd), present, store).map_or_else(Vec::new, |reflexes| reflexes.reflex_folders)
}

/// The reflexes of a workspace that a person may accept, by folder.
pub fn offers(folders: &Folders, (workspace, cwd): (&Path, &Path), store: &Store) -> Vec<Offer> {
    let all = reflex_folders(folders, (workspace, cwd), store);
    let project = all
        .into_iter()
        .filter(|reflex_folders| reflex_folders.authority == Authority::Project && reflex_folders.broken.is_none());
    project
        .map(|reflex_folders| {
            let subject = subject(workspace, &reflex_folders.folder);
            let (digest, before) = (digest(&reflex_folders.files), trust::accepted_as(store, &subject));
            Offer::new(reflex_folders.files, before, digest, subject)
        })
        .collect()
}
