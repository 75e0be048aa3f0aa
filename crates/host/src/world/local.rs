//! The real machine as facts. Git is never started; what is not answered within bounds is not known.

use super::aliases;
use super::archive;
use super::entries::Entries;
use super::survey;
use crate::store::Store;
use crate::store::restored::Restored;
use crate::store::session::{History, SessionKey};
use crate::system::folders;
use crate::system::os;
use reflex_engine::loopbreaker::Step;
use reflex_engine::shell::work;
use reflex_engine::{
    Age, Event, Known, Look, MAX_CONTENT, MAX_LISTED, Moment, Names, NamesOf, ResolvedPath, SessionUsage, Survey,
    Taint, Tick, Unreadable, Untracked, World, fits, is_within, parent,
};
use reflex_git::{self, Fact, Ignored, Repository, Unknown};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::time::{Instant, SystemTime};

/// More names than these are only counted.
const MAX_NAMES: usize = 1000;

/// More submodules than these are not looked into.
const MAX_SUBMODULES: usize = 64;

/// Folders for temporary files. `TMPDIR` is not asked: whoever can set it could declare a home to be temporary.
const TEMPORARY: [&str; 6] = ["/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm"];

/// The machine that this process runs on.
pub struct LocalWorld<'s> {
    workspace: String,
    guard: Vec<String>,
    binary: OnceCell<Option<String>>,
    /// The home whose settings files are searched for hook entries.
    home: Option<PathBuf>,
    entries: OnceCell<Entries>,
    /// The session's memory, read only by calls that ask for it.
    session: Option<(&'s Store, SessionKey<'s>)>,
    history: OnceCell<History>,
    /// When it began: asked about every path, and it stands in a file.
    session_begun: OnceCell<SystemTime>,
    /// Files that were restored, read once a file of the session's age is asked about.
    restored: OnceCell<Restored>,
    /// Whether the call has run: what it wrote is there already.
    ran: bool,
    /// What the session has used; `None` where this call is no call of it.
    spent: Option<OnceCell<SessionUsage>>,
    repositories: RefCell<HashMap<String, There>>,
    is_plain: OnceCell<bool>,
    /// Folders with their links followed: many targets lie in the same few.
    folders: RefCell<HashMap<String, String>>,
    begun: Instant,
    answering: Cell<u64>,
}

/// The repository of a folder, and what keeps another from being it.
#[derive(Clone)]
struct There {
    repository: Option<Rc<Repository>>,
    damaged: Option<Unknown>,
}

impl<'s> LocalWorld<'s> {
    /// Facts for a project; `guard` are the guard's own folders, to which its binary comes. No session is remembered.
    pub fn new(workspace: &str, guard: Vec<String>) -> LocalWorld<'s> {
        LocalWorld {
            workspace: workspace.into(),
            guard,
            binary: OnceCell::new(),
            home: None,
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
            begun: Instant::now(),
            answering: Cell::new(0),
        }
    }

    /// The same for a user whose agents have their settings in this home.
    pub(crate) fn of_user(self, home: &Path) -> LocalWorld<'s> {
        LocalWorld { home: Some(home.to_owned()), ..self }
    }

    /// The hook entries in that home. They are read when a call may reach one, which is rare.
    fn entries(&self) -> &Entries {
        self.entries.get_or_init(|| self.home.as_deref().map(Entries::read).unwrap_or_default())
    }

    /// The same with what the calls of a session left behind.
    pub(crate) fn in_session(self, store: &'s Store, whose: SessionKey<'s>) -> LocalWorld<'s> {
        LocalWorld { session: Some((store, whose)), ..self }
    }

    /// What the session remembers before this call; read once.
    pub(crate) fn history(&self) -> &History {
        self.history.get_or_init(|| self.session.map(|(store, whose)| store.history(whose)).unwrap_or_default())
    }

    /// The same for a call that has run, or for what it left behind.
    pub(crate) fn that_ran(self) -> LocalWorld<'s> {
        LocalWorld { ran: true, ..self }
    }

    /// As an event meets it: what it says may be done already, and what comes before a tool counts.
    pub(crate) fn at(self, event: &Event) -> LocalWorld<'s> {
        match event.is_done {
            true => self.that_ran(),
            false if event.moment == Moment::BeforeTool => LocalWorld { spent: Some(OnceCell::new()), ..self },
            false => self,
        }
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// The answer to one question; how long it took is remembered.
    fn timed<T>(&self, answer: impl FnOnce(&LocalWorld<'s>) -> T) -> T {
        /// The system is asked something, in most cases where a file lies.
        const QUESTION: u64 = 2;
        work::spend(QUESTION);
        let (before, answered) = (self.nanos(), self.answering.get());
        let answer = answer(self);
        // A question that asks others is counted whole, and they with it.
        self.answering.set(answered + self.nanos().saturating_sub(before));
        answer
    }

    /// The file of this process. Looked up when a path may be one of the guard's, which is seldom.
    fn binary(&self) -> Option<&String> {
        let shown = || Some(std::env::current_exe().ok()?.to_string_lossy().into_owned());
        self.binary.get_or_init(shown).as_ref()
    }

    /// The repository that has the path in its work tree, or could have it.
    fn repository(&self, path: &str) -> Option<Rc<Repository>> {
        self.there(self.folder_of(path)).repository
    }

    fn folder_of<'p>(&self, path: &'p str) -> &'p str {
        let is_root = path == self.workspace || !is_within(path, &self.workspace);
        if is_root { path } else { parent(path) }
    }

    fn repository_at(&self, folder: &str) -> Option<Rc<Repository>> {
        self.there(folder).repository
    }

    /// The repository that a command in this folder works on. Most folders are the workspace's; one that lies in it and
    /// has a repository of its own is told by its marker.
    fn there(&self, folder: &str) -> There {
        if let Some(known) = self.repositories.borrow().get(folder) {
            return known.clone();
        }
        let (start, workspace) = (Path::new(folder), Path::new(&self.workspace));
        let is_below = start != workspace && start.starts_with(workspace);
        let mut below = start.ancestors().take_while(|above| is_below && *above != workspace);
        let is_bare = |folder: &Path| folder.join("HEAD").is_file() && folder.join("objects").is_dir();
        let marked = below.find(|above| above.join(".git").symlink_metadata().is_ok());
        let marked = marked.or_else(|| Some(start).filter(|start| is_below && is_bare(start)));
        let there = match marked {
            None if is_below => self.there(&self.workspace),
            Some(_) | None => self.search(start),
        };
        self.repositories.borrow_mut().insert(folder.to_owned(), there.clone());
        there
    }

    /// Whether a file lies in the workspace's own repository and nothing can be wrong with that.
    fn is_plainly_the_workspaces(&self, path: &str) -> bool {
        let workspace = Path::new(&self.workspace);
        let mut between = Path::new(path).ancestors().skip(1).take_while(|above| *above != workspace);
        let is_own = Path::new(path) != workspace && Path::new(path).starts_with(workspace);
        is_own
            && !between.any(|above| above.join(".git").symlink_metadata().is_ok())
            && *self.is_plain.get_or_init(|| reflex_git::is_plain(workspace, &folders::home()))
    }

    /// What is damaged above the project is no matter of the project's.
    fn search(&self, start: &Path) -> There {
        let found = Repository::search(start, &folders::home());
        let damaged = found.damaged.filter(|(folder, _)| folder.starts_with(&self.workspace));
        There { repository: found.repository.map(Rc::new), damaged: damaged.map(|(_, reason)| reason) }
    }

    fn ask_at<T>(&self, folder: &str, question: impl FnOnce(&Repository) -> Fact<T>) -> Known<T> {
        self.timed(|world| question(&*world.repository_at(folder)?).ok())
    }

    /// When the session began.
    fn begun_at(&self) -> Option<SystemTime> {
        let (store, whose) = self.session?;
        Some(*self.session_begun.get_or_init(|| store.begun(whose)))
    }

    /// Whether something was made when the session had begun, and not restored since.
    fn is_made_since(&self, path: &str, made: SystemTime) -> Known<bool> {
        let (store, _) = self.session?;
        let begun = self.begun_at()?;
        Some(begun <= made && !self.restored.get_or_init(|| store.restored()).has(path, made))
    }

    /// Whether a repository has the path.
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
        // `link/`, `link/.` and `link/..` lead through the link.
        let is_link = found.as_ref().map_or(true, std::fs::Metadata::is_symlink) || path.ends_with(['/', '.']);
        if follow && is_link {
            let real = resolved(written);
            let is_folder = real.metadata().ok().map(|metadata| metadata.is_dir());
            return ResolvedPath { path: real.to_string_lossy().into_owned(), exists, is_folder };
        }
        let is_folder = found.ok().map(|metadata| metadata.is_dir());
        ResolvedPath { path: self.resolved_above(path), exists, is_folder }
    }

    /// Thousands of paths may lie in the same folder, so that this looks at letters and not at parts.
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
    ) -> Known<Names> {
        let (repository, found) = self.timed(|world| {
            let repository = world.repository(path)?;
            let found = match question(&repository, &[PathBuf::from(path)]) {
                Err(reason) if reason.is_elsewhere() => return None,
                // What cannot be told of its own files may be anything.
                Err(_) => reflex_git::Names { names: Vec::new(), count: 0, complete: false },
                Ok(found) => found,
            };
            Some((repository, found))
        })?;
        let root = repository.work_tree()?;
        let shown = |name: &PathBuf| {
            let whole = root.join(name);
            let relative = whole.strip_prefix(&self.workspace).map(Path::to_owned);
            relative.unwrap_or(whole).to_string_lossy().into_owned()
        };
        Some(Names { names: found.names.iter().map(shown).collect(), count: found.count, more: !found.complete })
    }
}

impl LocalWorld<'_> {
    /// What the last commit has of a file, by its path; nothing where it has none, or that cannot be told.
    pub(crate) fn committed(&self, path: &str) -> Option<Vec<u8>> {
        let repository = self.repository(path)?;
        let below = Path::new(path).strip_prefix(repository.work_tree()?).ok()?.to_str()?;
        repository.committed(below).ok().flatten()
    }
}

impl World for LocalWorld<'_> {
    fn real(&self, path: &str, follow: bool) -> ResolvedPath {
        self.timed(|world| world.really(path, follow))
    }

    fn expand(&self, pattern: &str) -> Known<Vec<String>> {
        self.timed(|_| expanded(pattern))
    }

    fn folds_case(&self) -> bool {
        os::FOLDS_CASE
    }

    fn names_of(&self, source: NamesOf<'_>) -> Known<Vec<String>> {
        self.timed(|world| match source {
            NamesOf::Folder(folder) => archive::names_in_folder(Path::new(folder)),
            NamesOf::Archive(path) => archive::names_in_archive(Path::new(path)),
            NamesOf::Commit { at, word } => world.repository_at(at)?.names_in(word, MAX_LISTED).ok(),
        })
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

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn alias(&self, program: &str, name: &str) -> Option<String> {
        self.timed(|world| match program {
            "" => aliases::of_shell(name),
            "git" => world.repository_at(&world.workspace)?.alias(name),
            _ => None,
        })
    }

    fn temporary(&self) -> Vec<String> {
        TEMPORARY.map(String::from).to_vec()
    }

    fn past(&self, now: &Step) -> Vec<Step> {
        self.history().concerning(now)
    }

    fn guard(&self) -> Vec<String> {
        // An agent may start us by a link, which is then as much the guard's as what it leads to.
        let started = std::env::args_os().next().map(|name| name.to_string_lossy().into_owned());
        let link = started.filter(|name| name.starts_with('/') && self.binary() != Some(name));
        let own = self.binary().into_iter().chain(&self.guard).cloned();
        own.chain(link).chain(self.timed(|world| world.entries().programs.clone())).collect()
    }

    fn hook_files(&self) -> Vec<String> {
        self.timed(|world| world.entries().linked_files.clone())
    }

    fn waiting(&self) -> Vec<String> {
        self.timed(|world| world.session.map(|(store, _)| store.waiting()).unwrap_or_default())
    }

    fn is_guard_program(&self, path: &str) -> bool {
        self.timed(|world| world.binary().is_some_and(|own| is_same_program(Path::new(path), Path::new(own))))
    }

    fn program(&self, name: &str) -> Option<String> {
        let found = |folder: PathBuf| Some(folder.join(name)).filter(|file| file.is_file());
        let all = std::env::var_os("PATH")?;
        let file = self.timed(|_| std::env::split_paths(&all).find_map(found))?;
        Some(file.to_string_lossy().into_owned())
    }

    fn work_tree(&self, path: &str) -> Option<String> {
        self.timed(|world| Some(world.repository_at(path)?.work_tree()?.to_string_lossy().into_owned()))
    }

    fn unreadable(&self, path: &str, look: Look) -> Option<Unreadable> {
        let look = match look {
            Look::Quick => reflex_git::Look::Quick,
            Look::Whole => reflex_git::Look::Whole,
        };
        self.timed(|world| {
            if look == reflex_git::Look::Quick && world.is_plainly_the_workspaces(path) {
                return None;
            }
            let there = world.there(world.folder_of(path));
            let trouble =
                there.damaged.and_then(reflex_git::told).or_else(|| there.repository?.trouble(look).cloned())?;
            Some(Unreadable { reason: trouble.reason, mend: trouble.mend.into() })
        })
    }

    fn has_one_of(&self, folder: &str, names: &[&str]) -> Known<bool> {
        self.timed(|_| Some(names.iter().any(|name| Path::new(folder).join(name).symlink_metadata().is_ok())))
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
            // Rules that cannot be read ignore nothing.
            Err(_) => Some(false),
        })
    }

    fn remnants(&self) -> Vec<Taint> {
        self.session.map(|(store, whose)| store.remnants(whose)).unwrap_or_default()
    }

    fn is_of_session(&self, path: &str) -> Known<bool> {
        self.is_made_since(path, os::created(Path::new(path))?)
    }

    fn written(&self) -> BTreeSet<String> {
        let Some((store, whose)) = self.session else { return BTreeSet::new() };
        store.history(whose).calls().flat_map(|call| call.files).map(|(path, _)| path).collect()
    }

    fn age(&self, path: &str) -> Known<Age> {
        let begun = self.begun_at()?;
        let data = Path::new(path).symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
        let written = data.modified().ok()?;
        let made = os::created(Path::new(path)).unwrap_or(written);
        Some(Age { is_older: !self.is_made_since(path, made)?, is_untouched: written < begun })
    }

    fn spent(&self, event: &Event, started: &mut dyn Iterator<Item = &str>) -> SessionUsage {
        let Some((spent, (store, whose))) = self.spent.as_ref().zip(self.session) else {
            return SessionUsage::default();
        };
        // A call that is judged again is the same call.
        *spent.get_or_init(|| store.spend(whose, event, started))
    }

    fn uncommitted(&self, path: &str) -> Known<Names> {
        if !self.is_managed(path) {
            return Some(Names::default());
        }
        self.names(path, |repository, scope| repository.uncommitted(scope, MAX_NAMES))
    }

    fn unstaged(&self, path: &str) -> Known<Names> {
        if !self.is_managed(path) {
            return Some(Names::default());
        }
        self.names(path, |repository, scope| repository.unstaged(scope, MAX_NAMES))
    }

    fn untracked(&self, path: &str, which: Untracked) -> Known<Names> {
        if !self.is_managed(path) {
            return Some(if which == Untracked::Ignored { Names::default() } else { unversioned(path) });
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

    fn clock(&self) -> Tick {
        Tick { now: self.nanos(), answering: self.answering.get() }
    }
}

/// The path with its links followed, as [`Path::canonicalize`] gives it. Most folders have no link above them, and then
/// a look at each is enough: the C library's way takes memory from the system, which costs as much as the looks.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    let is_plain = path.is_absolute() && path.components().all(|part| !matches!(part, Component::ParentDir));
    let mut above: Vec<&Path> = path.ancestors().filter(|above| above.parent().is_some()).collect();
    above.reverse();
    if is_plain && above.into_iter().all(os::is_no_link) {
        return Ok(path.components().collect());
    }
    path.canonicalize()
}

/// The same file under two names, or two files with the same bytes. Only what has the same size is read.
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

/// The links above the last part followed.
fn resolved_one_above(path: &Path) -> PathBuf {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
    resolved(parent).join(name)
}

/// Links followed as far as the path exists; the rest is joined as it is written.
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

/// Without git every file is one that nothing brings back; the first few are enough to name.
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

/// Whether a file has no zero byte where it begins, as programs and data have.
fn begins_with_text(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut start));
    read.is_ok() && !start.contains(&0)
}

/// More folder entries than these are not looked at to expand one pattern.
const MAX_ENTRIES: usize = 10_000;

/// What opening a folder costs, in units of [`work`].
const FOLDER: u64 = 20;

/// Part by part, as the shell does it: a star takes no leading dot.
fn expanded(pattern: &str) -> Known<Vec<String>> {
    if pattern.contains("**") || pattern.contains('(') {
        return None;
    }
    let mut found = vec![String::new()];
    let mut looked_at = 0;
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !part.contains(['*', '?', '[']) {
            found.iter_mut().for_each(|path| path.extend(["/", part]));
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
    fn a_canonical_path_is_what_the_system_says() {
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
