//! The files that a call would destroy, in their current state: a person approves the loss of these, not of files that
//! are created there later.

use super::Binder;
use crate::system::hex;
use crate::system::os;
use crate::system::random;
use reflex_engine::shell::ExecTarget;
use reflex_engine::{Effect, EffectKind, Files, Judgement, Target};
use reflex_git::{Ignored, Repository};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirEntry, Metadata};
use std::path::{Path, PathBuf};

/// Maximum number of files and folders examined per call. A larger folder is bound by its own times.
const MAX_LOST: usize = 4096;

/// Maximum number of files that are bound one by one.
const MAX_SEPARATE: usize = 64;

/// Maximum number of targets examined per effect.
const MAX_TARGETS: usize = 1024;

/// Maximum number of names that are shown.
const MAX_SHOWN: usize = 3;

/// Effects that destroy the files at their targets.
const DESTROYED: [EffectKind; 5] =
    [EffectKind::Delete, EffectKind::Overwrite, EffectKind::Truncate, EffectKind::Move, EffectKind::Populate];

/// The losses of an effect: names as a person would write them, and a digest of the metadata of all files.
struct Lost {
    names: Vec<String>,
    count: usize,
    digest: Sha256,
    /// Folders with more entries than are examined.
    vague: Vec<String>,
}

impl Lost {
    fn new() -> Lost {
        Lost { names: Vec::new(), count: 0, digest: Sha256::new(), vague: Vec::new() }
    }

    /// Adds a file or folder: its inode, size and change time. Without an inode number every digest is unique, so that
    /// no approval matches.
    fn add(&mut self, name: &[u8], data: &Metadata) {
        self.hash(name);
        let stat = os::stat_of(data);
        let Some((_, number)) = stat.place else { return self.hash(random::uuid().as_bytes()) };
        let (seconds, nanoseconds) = stat.changed;
        for number in [number, stat.size, seconds.cast_unsigned(), nanoseconds.cast_unsigned()] {
            self.digest.update(number.to_le_bytes());
        }
    }

    fn hash(&mut self, text: &[u8]) {
        self.digest.update(text);
        self.digest.update([0]);
    }

    fn name(&mut self, name: String) {
        if self.names.len() < MAX_SHOWN {
            self.names.push(name);
        }
    }
}

impl Binder<'_> {
    /// Binds the files that the harmful effects would destroy.
    pub(super) fn stakes(&mut self, judgement: &Judgement) {
        let effects = &judgement.analysis.effects;
        let found = judgement.verdict.findings.iter().filter_map(|finding| effects.get(finding.effect?));
        // Equal findings are merged, so all effects of their kind count.
        let kinds: BTreeSet<EffectKind> = found.map(|effect| effect.kind).collect();
        for effect in effects.iter().filter(|effect| kinds.contains(&effect.kind) && effect.site == ExecTarget::Here) {
            let is = |kinds: &[EffectKind]| kinds.contains(&effect.kind);
            if is(&DESTROYED) {
                self.destroyed(effect);
            } else if is(&[EffectKind::DiscardChanges, EffectKind::DiscardUntracked]) {
                self.discarded(effect);
            } else if is(&[EffectKind::DropStash]) {
                self.stashes(effect);
            } else if is(&[EffectKind::DeleteBranch]) {
                self.branches(effect);
            } else if is(&[EffectKind::RewriteHistory]) {
                self.history(effect);
            }
        }
    }

    fn destroyed(&mut self, effect: &Effect) {
        let mut lost = Lost::new();
        let mut left = MAX_LOST;
        let paths: Vec<&str> = effect.targets.iter().filter_map(Target::path).collect();
        for path in paths.iter().take(MAX_TARGETS) {
            match path.contains(['*', '?', '[']) && !Path::new(path).exists() {
                false => self.tree(Path::new(path), &mut lost, &mut left),
                true => match self.world.expand(path).known() {
                    Some(mut found) => {
                        found.sort();
                        found.iter().for_each(|path| self.tree(Path::new(path), &mut lost, &mut left));
                    }
                    None => lost.vague.push(self.near(path)),
                },
            }
        }
        if paths.len() > MAX_TARGETS {
            lost.vague.push(format!("{} others", paths.len() - MAX_TARGETS));
        }
        let verbs = [(EffectKind::Move, "moves"), (EffectKind::Delete, "loses")];
        let verb = verbs.iter().find(|(kind, _)| *kind == effect.kind).map_or("writes over", |(_, verb)| verb);
        self.lost(verb, lost);
    }

    /// Adds a file, or a folder with everything in it but the guard's own folders, by metadata. Reading would take longer, and a writer cannot set
    /// a file's change time. Beyond [`MAX_SEPARATE`] files only the folders count, whose times change with every name
    /// in them.
    fn tree(&self, path: &Path, lost: &mut Lost, left: &mut usize) {
        let Ok(data) = fs::symlink_metadata(path) else { return };
        let shown = path.to_string_lossy();
        let name = self.near(&shown);
        lost.add(shown.as_bytes(), &data);
        if !data.is_dir() {
            lost.name(name);
            lost.count += 1;
            *left = left.saturating_sub(1);
            return;
        }
        lost.name(format!("{name}/"));
        let mut folders = vec![path.to_owned()];
        // With one folder open, musl keeps the memory in which it lists the others.
        let _open = fs::read_dir(path);
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten().take(*left + 1);
            let mut entries: Vec<(OsString, DirEntry)> = entries.map(|entry| (entry.file_name(), entry)).collect();
            if entries.len() > *left {
                lost.vague.push(name);
                *left = 0;
                return;
            }
            *left -= entries.len();
            entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            for (name, entry) in entries {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                lost.count += usize::from(!is_folder);
                if is_folder && name == ".git" {
                    // Everything else in a git folder changes with every git command.
                    let logged = entry.path().join("logs/HEAD");
                    fs::symlink_metadata(&logged).iter().for_each(|data| lost.add(b"logs/HEAD", data));
                } else if is_folder || lost.count <= MAX_SEPARATE {
                    entry.metadata().iter().for_each(|data| lost.add(name.as_encoded_bytes(), data));
                    let below = is_folder.then(|| folder.join(name));
                    // They change with every call, so no approval of a folder around them would hold.
                    folders.extend(below.filter(|folder| !self.world.is_own_folder(folder)));
                }
            }
        }
    }

    /// Binds the files that differ from the last commit, or that git does not have.
    fn discarded(&mut self, effect: &Effect) {
        let covers_all = effect.flags.contains(&"whole");
        let folder = effect.folder.clone().unwrap_or_else(|| self.event.cwd.clone());
        let mut paths: Vec<String> =
            effect.targets.iter().filter_map(Target::path).take(MAX_TARGETS).map(str::to_owned).collect();
        if paths.is_empty() {
            paths.push(folder);
        }
        let mut lost = Lost::new();
        for path in paths {
            let Some(repository) = Repository::discover(Path::new(&path), self.world.home()) else {
                let mut left = MAX_LOST;
                self.tree(Path::new(&path), &mut lost, &mut left);
                continue;
            };
            let scope = if covers_all { Vec::new() } else { vec![PathBuf::from(&path)] };
            let found = if effect.kind == EffectKind::DiscardUntracked {
                let has = |flag| effect.flags.contains(&flag);
                let which = if has("only-ignored") {
                    Ignored::Only
                } else if has("ignored") {
                    Ignored::With
                } else {
                    Ignored::Without
                };
                repository.untracked(&scope, which, MAX_LOST)
            } else {
                repository.uncommitted(&scope, MAX_LOST)
            };
            match found {
                Ok(names) => {
                    if !names.complete || names.count > names.names.len() {
                        lost.vague.push(self.near(&path));
                    }
                    let root = repository.work_tree().unwrap_or(Path::new("/"));
                    let mut left = MAX_LOST;
                    for name in names.names {
                        lost.hash(repository.staged_as(&name).as_bytes());
                        self.tree(&root.join(&name), &mut lost, &mut left);
                        // A file deleted from the work tree is a change too.
                        if fs::symlink_metadata(root.join(&name)).is_err() {
                            lost.count += 1;
                            lost.name(name.to_string_lossy().into_owned());
                        }
                    }
                }
                Err(_) => lost.vague.push(self.near(&path)),
            }
            if effect.flags.contains(&"hard")
                && let Some(at) = repository.commit_named("HEAD")
            {
                lost.hash(at.as_bytes());
            }
        }
        self.lost("loses", lost);
    }

    fn stashes(&mut self, effect: &Effect) {
        let Some(repository) = self.repository(effect) else { return };
        let entries = repository.stash_log().unwrap_or_default();
        let number = |target: &Target| {
            let word = target.value.literal()?.into_owned();
            let digits = word.strip_prefix("stash@{").and_then(|rest| rest.strip_suffix('}')).unwrap_or(&word);
            digits.parse::<usize>().ok()
        };
        let numbers: Option<Vec<usize>> = effect.targets.iter().map(number).collect();
        let chosen: Vec<String> = match numbers {
            _ if effect.flags.contains(&"all") || effect.flags.contains(&"submodule") => entries,
            Some(numbers) if numbers.is_empty() => entries.into_iter().take(1).collect(),
            Some(numbers) => numbers.into_iter().filter_map(|number| entries.get(number).cloned()).collect(),
            // A name that cannot be resolved may mean any stash.
            None => entries,
        };
        self.binding.keys.push(format!("stash {}", chosen.join("\n")));
        for entry in chosen.iter().take(MAX_SHOWN) {
            let (id, message) = entry.split_once('\t').unwrap_or((entry, ""));
            self.show(format!("loses the stash {} {message}", id.get(..12).unwrap_or(id)).trim_end().to_owned());
        }
        if chosen.len() > MAX_SHOWN {
            self.show(format!("loses {} stashes in all", chosen.len()));
        }
    }

    fn branches(&mut self, effect: &Effect) {
        let Some(repository) = self.repository(effect) else { return };
        for target in &effect.targets {
            let name = target.value.shown();
            let at = repository.commit_named(&format!("heads/{name}")).unwrap_or_default();
            self.binding.keys.push(format!("branch {name} {at}"));
            if !at.is_empty() {
                self.show(format!("loses {name} at {}", at.get(..12).unwrap_or(&at)));
            }
        }
    }

    fn history(&mut self, effect: &Effect) {
        let Some(repository) = self.repository(effect) else { return };
        let at = repository.commit_named("HEAD").unwrap_or_default();
        self.binding.once.push(format!("history {at}"));
    }

    fn repository(&self, effect: &Effect) -> Option<Repository> {
        Repository::discover(Path::new(effect.folder.as_deref().unwrap_or(&self.event.cwd)), self.world.home())
    }

    fn lost(&mut self, verb: &str, lost: Lost) {
        let Lost { names, count, digest, vague } = lost;
        self.binding.keys.push(format!("{verb} {} {}", vague.join(" "), hex::encode(&digest.finalize())));
        if count > 0 {
            let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
            let more = if count > names.len() && !names.iter().any(|name| name.ends_with('/')) { ", …" } else { "" };
            self.show(format!("{verb} {files} as now: {}{more}", names.join(", ")));
        }
        for name in vague {
            self.show(format!("{verb} more in {name} than is looked at: held to by the folder's own times"));
        }
    }
}
