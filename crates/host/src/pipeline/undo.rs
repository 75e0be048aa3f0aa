//! Backs up what a call would lose before it runs, and restores it.
//!
//! If the backup fails, the call still needs its approval, and the prompt gives the reason.

use super::host::Host;
use super::stages::Received;
use crate::audit::record::shown;
use crate::store::redact::Redactor;
use reflex_engine::{AtStake, Decision, Event, Judgement, KeptCopy, Moment, Obstacle, RepositoryAtStake, is_within};
use reflex_git::{Ignored, Repository};
use reflex_keep::{About, Backup, BackupStore, Bounds, ItemKind, Plan, Refused, Request, State, Step};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of files of a work tree in a backup.
const MAX_FILES: usize = 2000;

/// Maximum number of folders that are searched for empty ones. Empty folders beyond it are not backed up.
const MAX_FOLDERS: usize = 2000;

/// Maximum length of a call's text in the list of backups, in characters.
pub(super) const MAX_DESCRIPTION: usize = 120;

/// Files and folders that git creates during an operation. They may appear only with the call.
const OF_OPERATIONS: [&str; 10] = [
    "ORIG_HEAD",
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "AUTO_MERGE",
    "rebase-merge",
    "rebase-apply",
];

/// Entries of a git folder that are not state of a work tree: settings, programs, and parts with their own life cycle.
const APART: [&str; 9] =
    ["objects", "hooks", "config", "config.worktree", "worktrees", "modules", "info", "description", "lfs"];

/// Entries that all work trees of a repository share.
const OF_REPOSITORY: [&str; 3] = ["packed-refs", "refs", "logs"];

/// The reason why no backup is made of what a call would lose.
#[derive(Debug, thiserror::Error)]
enum NotKept {
    /// The loss of the call is not fully known, for this reason.
    #[error("{0}")]
    Obstacle(Obstacle),
    #[error("it holds the guard's own files")]
    OwnFiles,
    #[error("the state of the repository is unknown")]
    UnknownState,
    #[error("it has no work tree")]
    NoWorkTree,
    #[error("`{}`: {source}", folder.display())]
    Io { folder: PathBuf, source: io::Error },
    /// Git names more files than are kept; their number.
    #[error("at least {0} files would be lost, more than are kept")]
    TooMany(usize),
    #[error("a file name is not valid UTF-8")]
    Name,
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl Host {
    /// The backups of what calls would lose.
    pub fn backups(&self) -> BackupStore {
        BackupStore::new(self.folders().state.join("kept"), Bounds::default())
    }

    /// Backs up what the call would lose, so that the agent and the person are informed instead of asked. Returns the
    /// backup's id.
    pub(super) fn keep_first(
        &self,
        received: &Received<'_>,
        judgement: &mut Judgement,
        redactor: &Redactor<'_>,
    ) -> Option<String> {
        let Received { event, id, .. } = received;
        let is_kept = event.moment == Moment::BeforeTool && !event.is_done;
        if !is_kept || judgement.verdict.decision == Decision::Deny {
            return None;
        }
        let at_stake = judgement.verdict.at_stake.clone()?;
        if self.watch_keeps(&at_stake) {
            judgement.verdict.record_copy(KeptCopy::OfWatch);
            return None;
        }
        let kept = self.request(&at_stake).and_then(|(request, tree)| {
            let about = About {
                record: id.clone(),
                client: redactor.name(&event.client).into(),
                session: redactor.name(&event.session).into(),
                workspace: redactor.clean(&event.workspace).into(),
                what: shown(redactor, event).chars().take(MAX_DESCRIPTION).collect(),
                undoes: String::new(),
                tree,
            };
            Ok(self.backups().keep(&request, &about)?)
        });
        match kept {
            Ok(id) => {
                judgement.verdict.record_copy(KeptCopy::Backup(&id));
                Some(id)
            }
            Err(why) => {
                judgement.verdict.record_obstacle(&why.to_string());
                None
            }
        }
    }

    /// Decides as the hook would if the backup fails, without making one.
    pub fn foresee_keeping(&self, event: &Event, judgement: &mut Judgement) {
        if judgement.verdict.decision == Decision::Deny {
            return;
        }
        let Some(at_stake) = judgement.verdict.at_stake.clone() else { return };
        if self.watch_keeps(&at_stake) {
            return;
        }
        let store = self.store();
        let session = Redactor::new(&store).name(&event.session).to_string();
        let kept = self.request(&at_stake).and_then(|(request, _)| Ok(self.backups().try_keep(&request, &session)?));
        if let Err(why) = kept {
            judgement.verdict.record_obstacle(&why.to_string());
        }
    }

    /// The files to back up, and the work tree if all of it is included.
    fn request(&self, at_stake: &AtStake) -> Result<(Request, String), NotKept> {
        if let Some(obstacle) = &at_stake.obstacle {
            return Err(NotKept::Obstacle(*obstacle));
        }
        let roots = at_stake.paths.iter().map(PathBuf::from).collect();
        // This backup is not announced, so nothing relies on it after a loss of power.
        let is_lazy = at_stake.findings.is_empty();
        let mut request = Request { roots, is_lazy, ..Request::default() };
        request.if_present.extend(at_stake.companions.iter().map(PathBuf::from));
        let mut tree = String::new();
        for repository in &at_stake.repositories {
            tree = self.add_repository(repository, &mut request)?;
        }
        for worktree in request.roots.clone() {
            request.if_present.extend(administration(&worktree));
        }
        if self.holds_backups(at_stake) {
            return Err(NotKept::OwnFiles);
        }
        Ok((request, tree))
    }

    /// Whether the call runs in a watched tree, where all of this is kept when it is lost.
    fn watch_keeps(&self, at_stake: &AtStake) -> bool {
        !at_stake.is_elsewhere && !self.holds_backups(at_stake) && self.is_watched()
    }

    /// Whether the store of the backups is at stake. It cannot contain itself; such a call is stopped elsewhere.
    fn holds_backups(&self, at_stake: &AtStake) -> bool {
        let backups = self.backups();
        let folder = backups.folder().to_string_lossy();
        at_stake.paths.iter().any(|root| is_within(&folder, root))
    }

    /// Adds the files at stake, the index and the refs. Returns the work tree if all of it is backed up, else an empty
    /// string.
    fn add_repository(&self, known: &RepositoryAtStake, request: &mut Request) -> Result<String, NotKept> {
        let repository = Repository::discover(Path::new(&known.folder), &self.folders().home);
        let repository = repository.ok_or(NotKept::UnknownState)?;
        let named = repository.work_tree().ok_or(NotKept::NoWorkTree)?.to_owned();
        // A path through a symlink is backed up and restored under its real name.
        let failed = |folder: &Path, source| NotKept::Io { folder: folder.to_owned(), source };
        let real = |folder: &Path| folder.canonicalize().map_err(|source| failed(folder, source));
        let (root, git_dir) = (real(&named)?, real(repository.git_dir())?);
        let common_dir = real(repository.common_dir())?;
        let file =
            |name: &String| Path::new(name).strip_prefix(&named).map_or_else(|_| name.into(), |rest| root.join(rest));
        let mut files: BTreeSet<PathBuf> = known.files.iter().map(file).collect();
        if known.moves {
            let tracked = repository.names_in("HEAD", MAX_FILES).map_err(|_| NotKept::UnknownState)?;
            let untracked =
                repository.untracked(&[], Ignored::Without, MAX_FILES).map_err(|_| NotKept::UnknownState)?;
            if !untracked.complete || untracked.count != untracked.names.len() {
                return Err(NotKept::TooMany(untracked.count));
            }
            if tracked.iter().any(|name| name.contains(char::REPLACEMENT_CHARACTER)) {
                return Err(NotKept::Name);
            }
            files.extend(tracked.iter().map(|name| root.join(name)));
            files.extend(untracked.names.iter().map(|name| root.join(name)));
        }
        let above = |file: &PathBuf| {
            file.ancestors().skip(1).take_while(|at| at.starts_with(&root)).map(Path::to_owned).collect::<Vec<_>>()
        };
        let mut folders: BTreeSet<PathBuf> = files.iter().flat_map(above).collect();
        if known.cleans || known.moves {
            let empty = empty_folders(&root);
            folders.extend(empty.iter().flat_map(above));
            folders.extend(empty);
        }
        let state = state_of(&git_dir);
        let shared = OF_REPOSITORY.iter().map(|name| common_dir.join(name));
        request.if_present.extend(files.into_iter().chain(state).chain(shared));
        request.folders.extend(folders);
        request.unchanging.extend(known.unlinks.then(|| common_dir.join("objects")));
        Ok(if known.moves { root.to_string_lossy().into_owned() } else { String::new() })
    }

    /// Plans the restore of a backup: of everything or some paths, in place or below a folder.
    pub fn undo_plan(&self, backup: &Backup, only: &[PathBuf], below: Option<&Path>) -> Plan {
        let plan = backup.plan(only, below);
        if backup.about.tree.is_empty() || below.is_some() || !only.is_empty() {
            return plan;
        }
        plan.without(self.came_later(backup))
    }

    /// Files that git has added to a work tree since the backup of the full tree.
    fn came_later(&self, backup: &Backup) -> Vec<PathBuf> {
        let root = Path::new(&backup.about.tree);
        let repository = Repository::discover(root, &self.folders().home);
        let tracked = repository.and_then(|known| known.names_in("HEAD", MAX_FILES * 8).ok()).unwrap_or_default();
        let known: BTreeSet<&Path> = backup.items.iter().map(|item| item.path.as_path()).collect();
        let now: BTreeSet<PathBuf> = tracked.iter().map(|name| root.join(name)).collect();
        now.into_iter().filter(|path| !known.contains(path.as_path())).collect()
    }

    /// Carries out a plan. Returns the id of the backup of the files that it overwrites.
    ///
    /// # Errors
    /// An overwritten file cannot be backed up, or a file cannot be restored.
    pub fn undo(&self, backup: &Backup, plan: &Plan) -> Result<Option<String>, Refused> {
        let what = format!("restoring {}", backup.id);
        let about =
            About { what, undoes: String::new(), record: String::new(), tree: String::new(), ..backup.about.clone() };
        let undo = self.backups().restore(backup, plan, &about)?;
        let is_made = |step: &&Step| {
            matches!(step.item.kind, ItemKind::File { .. }) && matches!(step.state, State::Missing | State::Differs)
        };
        let made = plan.steps.iter().filter(is_made).map(|step| step.to.as_path());
        let noted = self.store().note_restored(made);
        noted.map_err(|error| Refused::Failed(self.store().state().to_owned(), error))?;
        Ok(undo)
    }
}

/// Empty folders of a work tree.
fn empty_folders(root: &Path) -> Vec<PathBuf> {
    let (mut left, mut empty) = (vec![root.to_owned()], Vec::new());
    for _ in 0..MAX_FOLDERS {
        let Some(folder) = left.pop() else { break };
        let entries: Vec<_> = std::fs::read_dir(&folder).into_iter().flatten().flatten().collect();
        let folders = entries.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        left.extend(folders.map(std::fs::DirEntry::path).filter(|path| !path.ends_with(".git")));
        if entries.is_empty() {
            empty.push(folder);
        }
    }
    empty
}

/// The files and folders that hold the state of a work tree, and those that an operation may add.
fn state_of(git_dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(git_dir).into_iter().flatten().flatten();
    let is_state = |name: &std::ffi::OsStr| {
        name.to_str().is_some_and(|name| !APART.contains(&name) && !name.ends_with(".lock") && !name.starts_with('.'))
    };
    let existing = entries.filter(move |entry| is_state(&entry.file_name())).map(|entry| entry.path());
    existing.chain(OF_OPERATIONS.iter().map(|name| git_dir.join(name)))
}

/// The git folder of a linked work tree, which a `.git` file names. It is lost together with the work tree.
fn administration(worktree: &Path) -> Option<PathBuf> {
    let text = reflex_git::regular_file(&worktree.join(".git"), 4096)?;
    let folder = PathBuf::from(String::from_utf8(text).ok()?.strip_prefix("gitdir:")?.trim());
    // Only a folder that git itself keeps for a work tree.
    let is_linked = folder.is_absolute() && folder.parent().is_some_and(|above| above.ends_with(".git/worktrees"));
    is_linked.then_some(folder)
}
