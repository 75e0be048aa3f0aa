//! Answers the engine's questions from the real machine. Git is never started; a question without an answer within its
//! bounds is unknown.

use super::aliases;
use super::archive;
use super::entries::Entries;
use super::survey;
use crate::store::Store;
use crate::store::restored::Restored;
use crate::store::session::{History, SessionKey};
use crate::system::context::Context;
use crate::system::os;
use reflex_engine::loopbreaker::Step;
use reflex_engine::shell::work;
use reflex_engine::{
    Affected, Age, Environment, Event, Files, Git, GuardFiles, Known, Look, MAX_CONTENT, MAX_LISTED, Moment, Names,
    NamesOf, ResolvedPath, Session, SessionUsage, Survey, Taint, Tick, Unreadable, Untracked, fits, is_within, parent,
};
use reflex_git::{self, Fact, Ignored, Repository, Unknown};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::time::{Instant, SystemTime};

/// Maximum number of names that are listed; further ones are only counted.
const MAX_NAMES: usize = 1000;

/// Maximum number of submodules that are inspected.
const MAX_SUBMODULES: usize = 64;

/// Folders for temporary files. `TMPDIR` is ignored: an agent that can set it could declare a home directory temporary.
pub(crate) const TEMPORARY: [&str; 6] =
    ["/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm"];

/// The machine that this process runs on.
pub struct LocalWorld<'s> {
    workspace: String,
    guard: Vec<String>,
    binary: OnceCell<Option<String>>,
    /// The guard that asks: its user's home has the settings of git, of the shell and of the agents.
    context: &'s Context,
    entries: OnceCell<Entries>,
    /// The session's store and key; read only by calls that need them.
    session: Option<(&'s Store, SessionKey<'s>)>,
    history: OnceCell<History>,
    /// Start of the session, cached because every path is compared with it and it is stored in a file.
    session_begun: OnceCell<SystemTime>,
    /// Restored files, read when the first file created since the session's start is checked.
    restored: OnceCell<Restored>,
    /// Whether the call has run, so that the files it writes already exist.
    ran: bool,
    /// The usage of the session's budget; `None` if this event does not count as a call.
    spent: Option<OnceCell<SessionUsage>>,
    repositories: RefCell<HashMap<String, RepositoryLookup>>,
    is_plain: OnceCell<bool>,
    /// Resolved folders: many targets share the same few.
    folders: RefCell<HashMap<String, String>>,
    /// Variables of the process that makes the call, where they differ from those of the guard.
    environment: HashMap<String, String>,
    begun: Instant,
    answering: Cell<u64>,
}

/// The repository of a folder, and the damage that prevents a nearer one from being used.
#[derive(Clone)]
struct RepositoryLookup {
    repository: Option<Rc<Repository>>,
    damaged: Option<Unknown>,
}

impl<'s> LocalWorld<'s> {
    /// A world for a project and the user of a guard; `guard` lists the guard's own folders, to which its binary is added. No
    /// session is attached.
    pub fn new(context: &'s Context, workspace: &str, guard: Vec<String>) -> LocalWorld<'s> {
        LocalWorld {
            workspace: workspace.into(),
            guard,
            binary: OnceCell::new(),
            context,
            entries: OnceCell::new(),
            session: None,
            history: OnceCell::new(),
            session_begun: OnceCell::new(),
            restored: OnceCell::new(),
            ran: false,
            spent: None,
            repositories: RefCell::default(),
            is_plain: OnceCell::new(),
            folders: RefCell::default(),
            environment: HashMap::new(),
            begun: Instant::now(),
            answering: Cell::new(0),
        }
    }

    /// The user's home.
    pub(crate) fn home(&self) -> &Path {
        &self.context.folders().home
    }

    /// The hook entries of the home. They are read only if a call may reach one, which is rare.
    fn entries(&self) -> &Entries {
        self.entries.get_or_init(|| Entries::read(self.home()))
    }

    /// Whether this is one of the guard's own folders.
    pub(crate) fn is_own_folder(&self, path: &Path) -> bool {
        self.guard.iter().any(|own| Path::new(own) == path)
    }

    /// Attaches a session.
    pub(crate) fn in_session(self, store: &'s Store, key: SessionKey<'s>) -> LocalWorld<'s> {
        LocalWorld { session: Some((store, key)), ..self }
    }

    /// The session's calls before this one; read once.
    pub(crate) fn history(&self) -> &History {
        self.history.get_or_init(|| self.session.map(|(store, key)| store.history(key)).unwrap_or_default())
    }

    /// Marks the call as run.
    pub(crate) fn that_ran(self) -> LocalWorld<'s> {
        LocalWorld { ran: true, ..self }
    }

    /// Adapts the world to an event: a finished call is marked as run, an event before a tool counts against the budget,
    /// and the start of a program belongs to no session.
    pub(crate) fn at(self, event: &Event) -> LocalWorld<'s> {
        let world = match &event.started {
            Some(started) => {
                LocalWorld { environment: started.environment.iter().cloned().collect(), session: None, ..self }
            }
            None => self,
        };
        match event.is_done {
            true => world.that_ran(),
            false if event.moment == Moment::BeforeTool => LocalWorld { spent: Some(OnceCell::new()), ..world },
            false => world,
        }
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Answers one question and adds its duration to the total.
    fn timed<T>(&self, answer: impl FnOnce(&LocalWorld<'s>) -> T) -> T {
        /// Cost of a question to the system, usually the resolution of a path.
        const QUESTION: u64 = 2;
        work::spend(QUESTION);
        let (before, answered) = (self.nanos(), self.answering.get());
        let answer = answer(self);
        // A nested question is included in the duration of the outer one.
        self.answering.set(answered + self.nanos().saturating_sub(before));
        answer
    }

    /// The executable of this process. Looked up when a path may belong to the guard, which is rare.
    fn binary(&self) -> Option<&String> {
        let shown = || Some(std::env::current_exe().ok()?.to_string_lossy().into_owned());
        self.binary.get_or_init(shown).as_ref()
    }

    /// The repository whose work tree contains the path, or could contain it.
    fn repository(&self, path: &str) -> Option<Rc<Repository>> {
        self.lookup(self.folder_of(path)).repository
    }

    fn folder_of<'p>(&self, path: &'p str) -> &'p str {
        let is_root = path == self.workspace || !is_within(path, &self.workspace);
        if is_root { path } else { parent(path) }
    }

    fn repository_at(&self, folder: &str) -> Option<Rc<Repository>> {
        self.lookup(folder).repository
    }

    /// The repository that a command in this folder works on. Most folders belong to the workspace's repository; a
    /// nested repository is recognized by its `.git` entry.
    fn lookup(&self, folder: &str) -> RepositoryLookup {
        if let Some(known) = self.repositories.borrow().get(folder) {
            return known.clone();
        }
        let (start, workspace) = (Path::new(folder), Path::new(&self.workspace));
        let is_below = start != workspace && start.starts_with(workspace);
        let mut below = start.ancestors().take_while(|above| is_below && *above != workspace);
        let is_bare = |folder: &Path| folder.join("HEAD").is_file() && folder.join("objects").is_dir();
        let marked = below.find(|above| above.join(".git").symlink_metadata().is_ok());
        let marked = marked.or_else(|| Some(start).filter(|start| is_below && is_bare(start)));
        let found = match marked {
            None if is_below => self.lookup(&self.workspace),
            Some(_) | None => self.search(start),
        };
        self.repositories.borrow_mut().insert(folder.to_owned(), found.clone());
        found
    }

    /// Whether a file belongs to the workspace's own repository and that repository is known to be undamaged.
    fn is_plainly_the_workspaces(&self, path: &str) -> bool {
        let workspace = Path::new(&self.workspace);
        let mut between = Path::new(path).ancestors().skip(1).take_while(|above| *above != workspace);
        let is_own = Path::new(path) != workspace && Path::new(path).starts_with(workspace);
        is_own
            && !between.any(|above| above.join(".git").symlink_metadata().is_ok())
            && *self.is_plain.get_or_init(|| reflex_git::is_plain(workspace, self.home()))
    }

    /// Damage above the workspace is ignored.
    fn search(&self, start: &Path) -> RepositoryLookup {
        let found = Repository::search(start, self.home());
        let damaged = found.damaged.filter(|(folder, _)| folder.starts_with(&self.workspace));
        RepositoryLookup { repository: found.repository.map(Rc::new), damaged: damaged.map(|(_, reason)| reason) }
    }

    fn ask_at<T>(&self, folder: &str, question: impl FnOnce(&Repository) -> Fact<T>) -> Known<T> {
        self.timed(|world| question(&*world.repository_at(folder)?).ok())
    }

    /// Start of the session.
    fn begun_at(&self) -> Option<SystemTime> {
        let (store, key) = self.session?;
        Some(*self.session_begun.get_or_init(|| store.begun(key)))
    }

    /// Whether a file was created after the session began, and not by a restoration.
    fn is_made_since(&self, path: &str, made: SystemTime) -> Known<bool> {
        let (store, _) = self.session?;
        let begun = self.begun_at()?;
        Some(begun <= made && !self.restored.get_or_init(|| store.restored()).has(path, made))
    }

    /// Whether a repository contains the path.
    pub(crate) fn is_managed(&self, path: &str) -> bool {
        self.timed(|world| world.repository(path).is_some())
    }

    fn really(&self, path: &str, follow: bool) -> ResolvedPath {
        let written = Path::new(path);
        let found = written.symlink_metadata();
        let exists = match &found {
            Ok(_) => Some(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(false),
            Err(_) => None,
        };
        if exists == Some(false) && !path.ends_with(['/', '.']) {
            return ResolvedPath { path: self.resolved_above(path), exists, is_folder: None };
        }
        // `link/`, `link/.` and `link/..` resolve through the link.
        let is_link = found.as_ref().map_or(true, std::fs::Metadata::is_symlink) || path.ends_with(['/', '.']);
        if follow && is_link {
            let real = resolved(written);
            let is_folder = real.metadata().ok().map(|metadata| metadata.is_dir());
            return ResolvedPath { path: real.to_string_lossy().into_owned(), exists, is_folder };
        }
        let is_folder = found.ok().map(|metadata| metadata.is_dir());
        ResolvedPath { path: self.resolved_above(path), exists, is_folder }
    }

    /// Resolves the parent of a path. Thousands of paths may share a folder, so this splits at the last slash instead
    /// of iterating over components.
    fn resolved_above(&self, path: &str) -> String {
        let plain = path.trim_end_matches('/');
        let Some((above, name)) = plain.rsplit_once('/').filter(|(_, name)| !matches!(*name, "" | "." | "..")) else {
            return resolved_one_above(Path::new(path)).to_string_lossy().into_owned();
        };
        let above = if above.is_empty() { "/" } else { above };
        let mut folders = self.folders.borrow_mut();
        let real = match folders.get(above) {
            Some(real) => real,
            None => folders
                .entry(above.to_owned())
                .or_insert_with(|| resolved(Path::new(above)).to_string_lossy().into_owned()),
        };
        format!("{}/{name}", real.trim_end_matches('/'))
    }

    fn names(
        &self,
        path: &str,
        question: impl FnOnce(&Repository, &[PathBuf]) -> Fact<reflex_git::Names>,
    ) -> Affected<Names> {
        let found = self.timed(|world| {
            let repository = world.repository(path)?;
            let found = match question(&repository, &[PathBuf::from(path)]) {
                Err(reason) if reason.is_elsewhere() => return None,
                // If the repository's own files cannot be read, the answer may be incomplete.
                Err(_) => reflex_git::Names { names: Vec::new(), count: 0, complete: false },
                Ok(found) => found,
            };
            Some((repository.work_tree()?.to_owned(), found))
        });
        let Some((root, found)) = found else { return Affected::Unknown };
        let shown = |name: &PathBuf| {
            let full = root.join(name);
            let relative = full.strip_prefix(&self.workspace).map(Path::to_owned);
            relative.unwrap_or(full).to_string_lossy().into_owned()
        };
        Names { names: found.names.iter().map(shown).collect(), count: found.count, more: !found.complete }.into()
    }
}

impl LocalWorld<'_> {
    /// The content of a file in the last commit; `None` if the commit does not contain it or cannot be read.
    pub(crate) fn committed(&self, path: &str) -> Option<Vec<u8>> {
        let repository = self.repository(path)?;
        let below = Path::new(path).strip_prefix(repository.work_tree()?).ok()?.to_str()?;
        repository.committed(below).ok().flatten()
    }
}

impl Files for LocalWorld<'_> {
    fn real(&self, path: &str, follow: bool) -> ResolvedPath {
        self.timed(|world| world.really(path, follow))
    }

    fn expand(&self, pattern: &str) -> Affected<Vec<String>> {
        self.timed(|_| expanded(pattern)).into()
    }

    fn folds_case(&self) -> bool {
        os::FOLDS_CASE
    }

    fn names_of(&self, source: NamesOf<'_>) -> Affected<Vec<String>> {
        let names = self.timed(|world| match source {
            NamesOf::Folder(folder) => archive::names_in_folder(Path::new(folder)),
            NamesOf::Archive(path) => archive::names_in_archive(Path::new(path)),
            NamesOf::Commit { at, word } => world.repository_at(at)?.names_in(word, MAX_LISTED).ok(),
        });
        names.into()
    }

    fn survey(&self, path: &str, depth: usize) -> Known<Survey> {
        let begun = self.begun_at();
        self.timed(|_| survey::of(Path::new(path), depth, begun))
    }

    fn opening(&self, path: &str) -> Option<Vec<u8>> {
        self.timed(|_| survey::opening(Path::new(path)))
    }

    fn content(&self, path: &str) -> Option<String> {
        let bytes = self.timed(|_| reflex_git::regular_file(Path::new(path), MAX_CONTENT))?;
        work::spend_bytes(bytes.len(), 2);
        String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
    }

    fn is_too_large(&self, path: &str) -> bool {
        self.timed(|_| {
            let is_large = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > MAX_CONTENT as u64);
            is_large && begins_with_text(Path::new(path))
        })
    }

    fn content_before(&self, path: &str) -> Option<String> {
        if self.ran { None } else { self.content(path) }
    }

    fn has_one_of(&self, folder: &str, names: &[&str]) -> Known<bool> {
        self.timed(|_| Some(names.iter().any(|name| Path::new(folder).join(name).symlink_metadata().is_ok())))
    }
}

impl Git for LocalWorld<'_> {
    fn work_tree(&self, path: &str) -> Option<String> {
        self.timed(|world| Some(world.repository_at(path)?.work_tree()?.to_string_lossy().into_owned()))
    }

    fn unreadable(&self, path: &str, look: Look) -> Option<Unreadable> {
        let look = match look {
            Look::Quick => reflex_git::Look::Quick,
            Look::Full => reflex_git::Look::Full,
        };
        self.timed(|world| {
            if look == reflex_git::Look::Quick && world.is_plainly_the_workspaces(path) {
                return None;
            }
            let found = world.lookup(world.folder_of(path));
            let trouble =
                found.damaged.and_then(reflex_git::told).or_else(|| found.repository?.trouble(look).cloned())?;
            Some(Unreadable { reason: trouble.reason, mend: trouble.mend.into() })
        })
    }

    fn is_tracked(&self, path: &str) -> Known<bool> {
        self.timed(|world| match world.repository(path) {
            Some(repository) => repository.is_tracked(Path::new(path)).ok(),
            None => Some(false),
        })
    }

    fn is_ignored(&self, path: &str) -> Known<bool> {
        self.timed(|world| match world.repository(path)?.is_ignored(Path::new(path)) {
            Ok(is_ignored) => Some(is_ignored),
            Err(reason) if reason.is_elsewhere() => None,
            // Unreadable rules ignore nothing.
            Err(_) => Some(false),
        })
    }

    fn uncommitted(&self, path: &str) -> Affected<Names> {
        if !self.is_managed(path) {
            return Affected::Nothing;
        }
        self.names(path, |repository, scope| repository.uncommitted(scope, MAX_NAMES))
    }

    fn unstaged(&self, path: &str) -> Affected<Names> {
        if !self.is_managed(path) {
            return Affected::Nothing;
        }
        self.names(path, |repository, scope| repository.unstaged(scope, MAX_NAMES))
    }

    fn untracked(&self, path: &str, which: Untracked) -> Affected<Names> {
        if !self.is_managed(path) {
            return if which == Untracked::Ignored { Affected::Nothing } else { unversioned(path).into() };
        }
        let which = match which {
            Untracked::Ordinary => Ignored::Without,
            Untracked::Ignored => Ignored::Only,
            Untracked::All => Ignored::With,
        };
        self.names(path, |repository, scope| repository.untracked(scope, which, MAX_NAMES))
    }

    fn submodules(&self, path: &str) -> Vec<String> {
        let found = self.timed(|world| world.repository(path)?.submodules(Path::new(path), MAX_SUBMODULES).ok());
        found.unwrap_or_default().iter().map(|folder| folder.to_string_lossy().into_owned()).collect()
    }

    fn branch(&self, path: &str) -> Known<Option<String>> {
        self.ask_at(path, |repository| repository.branch())
    }

    fn names_commit(&self, path: &str, word: &str) -> Known<bool> {
        self.ask_at(path, |repository| repository.names_commit(word))
    }

    fn orphaned(&self, path: &str, reference: &str, onto: &str) -> Known<usize> {
        self.ask_at(path, |repository| repository.orphaned(reference, onto))
    }

    fn stashes(&self, path: &str) -> Known<usize> {
        self.ask_at(path, |repository| repository.stash_entries()).map(|stashes| stashes.len())
    }

    fn protected(&self, path: &str) -> Vec<String> {
        self.timed(|world| world.repository_at(path)?.default_branch("origin")).into_iter().collect()
    }
}

impl Session for LocalWorld<'_> {
    fn past(&self, now: &Step) -> Vec<Step> {
        self.history().concerning(now)
    }

    fn remnants(&self) -> Vec<Taint> {
        self.session.map(|(store, key)| store.remnants(key)).unwrap_or_default()
    }

    fn waiting(&self) -> Vec<String> {
        self.timed(|world| world.session.map(|(store, _)| store.waiting()).unwrap_or_default())
    }

    fn spent(&self, event: &Event, started: &mut dyn Iterator<Item = &str>) -> SessionUsage {
        let Some((spent, (store, key))) = self.spent.as_ref().zip(self.session) else {
            return SessionUsage::default();
        };
        // A call that is judged again counts once.
        *spent.get_or_init(|| store.spend(key, event, started))
    }

    fn written(&self) -> BTreeSet<String> {
        let Some((store, key)) = self.session else { return BTreeSet::new() };
        store.history(key).calls().flat_map(|call| call.files).map(|(path, _)| path).collect()
    }

    fn is_of_session(&self, path: &str) -> Known<bool> {
        self.is_made_since(path, os::created(Path::new(path))?)
    }

    fn age(&self, path: &str) -> Known<Age> {
        let begun = self.begun_at()?;
        let data = Path::new(path).symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
        let written = data.modified().ok()?;
        let made = os::created(Path::new(path)).unwrap_or(written);
        Some(Age { is_older: !self.is_made_since(path, made)?, is_untouched: written < begun })
    }
}

impl GuardFiles for LocalWorld<'_> {
    fn guard(&self) -> Vec<String> {
        // An agent may start this program through a symlink, which then belongs to the guard like its target.
        let started = std::env::args_os().next().map(|name| name.to_string_lossy().into_owned());
        let link = started.filter(|name| name.starts_with('/') && self.binary() != Some(name));
        let paths = self.binary().into_iter().chain(&self.guard).cloned();
        paths.chain(link).chain(self.timed(|world| world.entries().programs.clone())).collect()
    }

    fn hook_files(&self) -> Vec<String> {
        self.timed(|world| world.entries().linked_files.clone())
    }

    fn is_guard_program(&self, path: &str) -> bool {
        self.timed(|world| world.binary().is_some_and(|binary| is_same_program(Path::new(path), Path::new(binary))))
    }
}

impl Environment for LocalWorld<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.environment.get(name).cloned().or_else(|| self.context.environment().get(name))
    }

    fn variables(&self) -> Vec<String> {
        self.environment.keys().cloned().chain(self.context.environment().names()).collect()
    }

    fn alias(&self, program: &str, name: &str) -> Option<String> {
        self.timed(|world| match program {
            "" => aliases::of_shell(world.home(), name),
            "git" => world.repository_at(&world.workspace)?.alias(name),
            _ => None,
        })
    }

    fn program(&self, name: &str) -> Option<String> {
        let found = |folder: PathBuf| Some(folder.join(name)).filter(|file| file.is_file());
        let all = self.context.environment().get_os("PATH")?;
        let file = self.timed(|_| std::env::split_paths(&all).find_map(found))?;
        Some(file.to_string_lossy().into_owned())
    }

    fn temporary(&self) -> Vec<String> {
        TEMPORARY.map(String::from).to_vec()
    }

    fn clock(&self) -> Tick {
        Tick { now: self.nanos(), answering: self.answering.get() }
    }
}

/// The path with its symlinks resolved, as by [`Path::canonicalize`]. Most paths contain no link, and then one system
/// call per ancestor suffices: the C library's implementation allocates memory from the system, which costs as much as
/// those calls.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    let is_plain = path.is_absolute() && path.components().all(|part| !matches!(part, Component::ParentDir));
    let mut above: Vec<&Path> = path.ancestors().filter(|above| above.parent().is_some()).collect();
    above.reverse();
    if is_plain && above.into_iter().all(os::is_no_link) {
        return Ok(path.components().collect());
    }
    path.canonicalize()
}

/// Whether two paths name the same file, or files with the same bytes. Only files of equal size are read.
fn is_same_program(one: &Path, other: &Path) -> bool {
    let (Ok(a), Ok(b)) = (one.metadata(), other.metadata()) else { return false };
    if !a.is_file() || !b.is_file() || a.len() != b.len() {
        return false;
    }
    os::stat_of(&a).is_same_file(&os::stat_of(&b)) || has_same_bytes(one, other).unwrap_or(false)
}

fn has_same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    const BLOCK: usize = 64 * 1024;
    let mut one = BufReader::with_capacity(BLOCK, File::open(one)?);
    let mut other = BufReader::with_capacity(BLOCK, File::open(other)?);
    loop {
        let (a, b) = (one.fill_buf()?, other.fill_buf()?);
        let length = a.len().min(b.len());
        if a.get(..length) != b.get(..length) {
            return Ok(false);
        }
        if length == 0 {
            return Ok(a.is_empty() && b.is_empty());
        }
        one.consume(length);
        other.consume(length);
    }
}

/// Resolves the links of the parent.
fn resolved_one_above(path: &Path) -> PathBuf {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
    resolved(parent).join(name)
}

/// Resolves links as far as the path exists; the rest is appended unchanged.
fn resolved(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(real) = above.canonicalize() {
            return path
                .strip_prefix(above)
                .map_or(real.clone(), |rest| if rest.as_os_str().is_empty() { real.clone() } else { real.join(rest) });
        }
    }
    path.to_owned()
}

/// Without git no file can be recovered; the first few names suffice.
fn unversioned(path: &str) -> Names {
    let Ok(entries) = std::fs::read_dir(path) else {
        let exists = Path::new(path).symlink_metadata().is_ok();
        let names: Vec<String> = exists.then(|| path.to_owned()).into_iter().collect();
        return Names { count: names.len(), names, more: false };
    };
    let mut entries = entries.flatten();
    let names = entries.by_ref().take(MAX_NAMES);
    let mut names: Vec<String> = names.map(|entry| entry.path().to_string_lossy().into_owned()).collect();
    names.sort();
    Names { count: names.len(), names, more: entries.next().is_some() }
}

/// Whether the first 4096 bytes of a file contain no zero byte, unlike programs and binary data.
fn begins_with_text(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut start));
    read.is_ok() && !start.contains(&0)
}

/// Maximum number of folder entries that are inspected to expand one pattern.
const MAX_ENTRIES: usize = 10_000;

/// Cost of opening a folder, in units of [`work`].
const FOLDER: u64 = 20;

/// Expands a pattern component by component, like the shell: a star does not match a leading dot.
fn expanded(pattern: &str) -> Known<Vec<String>> {
    if pattern.contains("**") || pattern.contains('(') {
        return None;
    }
    let mut found = vec![String::new()];
    let mut looked_at = 0;
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !part.contains(['*', '?', '[']) {
            found.iter_mut().for_each(|path| path.extend(["/", part]));
            // Below the first pattern not every folder has the name.
            let is_there = |path: &String| Path::new(path).symlink_metadata().is_ok();
            found.retain(|path| looked_at == 0 || work::spend(archive::ENTRY) && is_there(path));
            continue;
        }
        let mut deeper = Vec::new();
        for folder in &found {
            if !work::spend(FOLDER) {
                return None;
            }
            for entry in std::fs::read_dir(if folder.is_empty() { "/" } else { folder }).into_iter().flatten() {
                looked_at += 1;
                if looked_at > MAX_ENTRIES || !work::spend(archive::ENTRY) {
                    return None;
                }
                let name = entry.ok()?.file_name().to_string_lossy().into_owned();
                let hidden = name.starts_with('.') && !part.starts_with('.');
                if !hidden && fits(&format!("/{part}"), &format!("/{name}"), "/") {
                    deeper.push(format!("{folder}/{name}"));
                }
            }
        }
        found = deeper;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;

    #[test]
    fn a_canonical_path_is_what_the_system_returns() {
        let root = std::env::temp_dir().join(format!("reflex-canonical-{}", std::process::id()));
        let real = root.join("a/b");
        std::fs::create_dir_all(&real).unwrap();
        std::os::unix::fs::symlink(&real, root.join("link")).unwrap();
        std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
        for name in ["a/b", "a/./b/", "a/../a", "link", "link/..", "loop", "nowhere/x", ""] {
            let path = root.join(name);
            assert_eq!(canonical(&path).ok(), path.canonicalize().ok(), "{name}");
        }
        for path in ["/", "/proc/self", "."] {
            assert_eq!(canonical(Path::new(path)).ok(), Path::new(path).canonicalize().ok(), "{path}");
        }
        std::fs::remove_dir_all(&root).unwrap();
    }
}
