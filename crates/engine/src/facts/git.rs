//! Facts about a repository: the work that would be lost, and the work that can be restored.

use super::call::Call;
use super::meaning::Seen;
use super::patterns::fixed_part;
use super::regenerable::BuildFacts;
use crate::model::affected::Affected;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::path::{self, is_within, parent};
use crate::model::truth::Ternary;
use crate::model::world::{Look, Names, ResolvedPath, Unreadable, Untracked};
use crate::text::glob;
use reflex_shell::Value;
use std::borrow::Cow;
use std::rc::Rc;

/// Maximum number of files matching a pattern that are examined individually.
const MAX_SPELLED_OUT: usize = 256;

/// Maximum number of folders of one command in which work is looked for.
const MAX_WORK_TREES: usize = 64;

/// Branches that are protected in every repository.
const PROTECTED: [&str; 8] = ["main", "master", "trunk", "develop", "production", "prod", "release", "stable"];

/// The work in git repositories.
#[derive(Clone, Copy)]
pub(crate) struct GitFacts<'f> {
    pub(super) call: &'f Call<'f>,
    pub(super) builds: BuildFacts<'f>,
}

/// A target that is a path.
pub(crate) struct FileTarget<'f> {
    pub(super) effect: &'f Effect,
    pub(super) target: &'f Target,
    seen: Rc<Seen>,
    /// The root of the work tree, if the effect concerns all of it.
    root: Option<String>,
}

impl FileTarget<'_> {
    /// The resolved path.
    pub(super) fn real(&self) -> &ResolvedPath {
        &self.seen.real
    }

    /// Returns the path that facts are queried for.
    pub(super) fn path(&self) -> &str {
        self.root.as_deref().unwrap_or_else(|| fixed_part(&self.seen.real.path))
    }
}

impl GitFacts<'_> {
    /// Returns a target that is a path, with the path that facts are queried for.
    pub(super) fn file<'e>(&self, effect: &'e Effect, target: &'e Target) -> FileTarget<'e> {
        let seen = self.call.seen(effect, target);
        let root = self.root_meant(effect, &seen.real);
        FileTarget { effect, target, seen, root }
    }

    /// Whether the repository has stashes. A stash that the same call creates does not exist yet.
    pub(super) fn has_stashes(&self, effect: &Effect, target: Option<&Target>) -> Ternary {
        if self.stashes_first() {
            return Ternary::Yes;
        }
        let count = self.call.world.stashes(&self.call.folder_of(effect, target));
        Ternary::from(count.map(|count| count > 0))
    }

    /// Whether the same call creates a stash.
    fn stashes_first(&self) -> bool {
        let commands = self.call.analysis.readings.iter().flat_map(|reading| &reading.commands);
        let paths = commands.filter_map(|command| command.invocation.as_ref().map(|invocation| &invocation.path));
        paths.into_iter().any(|path| matches!(path.as_slice(), ["stash"] | ["stash", "push" | "save"]))
    }

    /// Returns the defect of the repository that the effect concerns, if it exists and cannot be read. An overwrite
    /// requires only the quick check.
    pub(super) fn unreadable(&self, effect: &Effect, target: Option<&Target>) -> Option<Unreadable> {
        let look = match effect.kind == EffectKind::Overwrite || effect.kind == EffectKind::Truncate {
            true => Look::Quick,
            false => Look::Full,
        };
        let target = target.filter(|target| target.path().is_some());
        let known = match target.map(|target| (target, self.call.real(effect, target))) {
            Some((target, _)) if self.set_of_folders(effect).is_some() => {
                self.discarded_at(effect, target, &self.call.real(effect, target)).known().unwrap_or_default()
            }
            Some((_, real)) => vec![real.path],
            None => vec![self.call.folder_of(effect, None)],
        };
        // Git's own commands concern the repository of the folder itself, not one above it.
        let inner = if effect.kind == EffectKind::Delete || look == Look::Quick { "" } else { "/." };
        known.iter().find_map(|known| self.call.world.unreadable(&format!("{}{inner}", fixed_part(known)), look))
    }

    /// Returns the project's secrets that git would add from this folder for the first time.
    pub(super) fn new_secrets(&self, file: &FileTarget<'_>) -> Affected<Names> {
        const NAMES: [&str; 5] = [".env", ".env.local", ".env.production", ".env.prod", ".env.staging"];
        let (effect, folder) = (file.effect, file.path());
        // Most added paths are individual files, which need no query to the disk.
        let named = |known: &str| !known.is_empty() && known == folder;
        let is_folder = named(&self.call.event.workspace) || effect.folder.as_deref().is_some_and(named);
        if !is_folder && path::name_of(folder).contains('.') {
            return Affected::Nothing;
        }
        let forced = effect.flags.contains(&"force");
        let names = NAMES.iter().map(|name| path::absolute(name, folder));
        let taken_up = |path: &String| {
            self.call.world.real(path, true).exists == Some(true)
                && self.call.world.is_tracked(path) == Some(false)
                && (forced || self.call.world.is_ignored(path) == Some(false))
        };
        let names: Vec<String> = names.filter(taken_up).collect();
        only_matching(Names { count: names.len(), names, more: false }.into(), file.target, &self.call.event.workspace)
    }

    /// Returns the uncommitted changes in the target.
    pub(super) fn uncommitted_changes(&self, file: &FileTarget<'_>) -> Affected<Names> {
        let (effect, target) = (file.effect, file.target);
        let has = |flag| effect.flags.contains(&flag);
        // `git checkout WORD` selects a commit if one has that name, else the file.
        if has("word") && self.is_commit(effect, &target.value) || has("switch") && !self.is_switch(effect) {
            return Affected::Nothing;
        }
        let is_index = effect.kind == EffectKind::DiscardChanges && !self.comes_from_elsewhere(effect);
        let names = |path: &str| if is_index { self.call.world.unstaged(path) } else { self.uncommitted(effect, path) };
        let found = self.in_each(self.discarded_at(effect, target, file.real()), &names);
        only_matching(found, target, &self.call.event.workspace)
    }

    /// Returns the files in the target that git does not track, as far as the effect concerns them, and that a build
    /// does not recreate.
    pub(super) fn untracked_files(&self, file: &FileTarget<'_>) -> Affected<Names> {
        self.loose(file, untracked_kind(file.effect))
    }

    /// Returns the files in the target that git ignores and that a build does not recreate.
    pub(super) fn ignored_files(&self, file: &FileTarget<'_>) -> Affected<Names> {
        self.loose(file, Untracked::Ignored)
    }

    fn loose(&self, file: &FileTarget<'_>, which: Untracked) -> Affected<Names> {
        let (effect, target, real) = (file.effect, file.target, file.real());
        let found = |path: &str| self.call.world.untracked(path, which);
        let names = self.spelled_out(target, self.in_each(self.discarded_at(effect, target, real), &found));
        if names.is_something() && self.is_link(effect, target, real) {
            return Affected::Nothing;
        }
        only_matching(self.builds.lasting(names), target, &self.call.event.workspace)
    }

    /// Git reports an untracked folder by its own name; the disk is queried for the files in it that match a pattern.
    fn spelled_out(&self, target: &Target, names: Affected<Names>) -> Affected<Names> {
        let Affected::These(mut names) = names else { return names };
        let Some(pattern) = target.path().filter(|path| fixed_part(path).len() < path.len()) else {
            return Affected::These(names);
        };
        let folder = fixed_part(pattern);
        let is_within_folder = |name: &String| is_within(folder, &path::absolute(name, &self.call.event.workspace));
        if !names.names.iter().any(is_within_folder) {
            return Affected::These(names);
        }
        let Some(found) = self.call.world.expand(pattern).known() else { return Affected::These(names) };
        names.names.retain(|name| !is_within_folder(name));
        names.names.extend(found.iter().take(MAX_SPELLED_OUT).map(|path| self.call.display_name(path)));
        names.count = names.names.len();
        names.into()
    }

    /// Returns the path that facts are queried for: the root of the work tree if the effect concerns all of it, else
    /// the part before a pattern.
    pub(super) fn meant<'r>(&self, effect: &Effect, real: &'r ResolvedPath) -> Cow<'r, str> {
        self.root_meant(effect, real).map_or_else(|| Cow::Borrowed(fixed_part(&real.path)), Cow::Owned)
    }

    /// Returns the root of the work tree if the effect concerns all of it. A folder with a repository of its own is a
    /// single entry for the outer one; discarding in it affects its contents.
    fn root_meant(&self, effect: &Effect, real: &ResolvedPath) -> Option<String> {
        let discards = matches!(effect.kind, EffectKind::DiscardChanges | EffectKind::DiscardUntracked);
        let fixed = fixed_part(&real.path);
        let concerns_all = effect.flags.contains(&"whole");
        let root = (discards || concerns_all).then(|| self.call.world.work_tree(fixed)).flatten();
        let root = root.filter(|root| concerns_all || root == fixed)?;
        Some(if root == self.call.event.workspace { root } else { format!("{root}/.") })
    }

    /// Returns the paths in which a command discards work: one in each folder if its working directory is a pattern.
    pub(super) fn discarded_at(&self, effect: &Effect, target: &Target, real: &ResolvedPath) -> Affected<Vec<String>> {
        let set = self.set_of_folders(effect).zip(target.path());
        let Some((folder, below)) = set.and_then(|(folder, path)| Some((folder, path.strip_prefix(folder)?))) else {
            return vec![self.meant(effect, real).into_owned()].into();
        };
        let below = below.trim_start_matches('/');
        let each = |folder: String| {
            let real = self.call.world.real(&path::absolute(below, &folder), true);
            self.meant(effect, &real).into_owned()
        };
        let is_in_work_tree = |folder: &String| self.call.world.work_tree(folder).is_some();
        self.call.world.expand(folder).at_most(MAX_WORK_TREES).filter(is_in_work_tree).map(each)
    }

    /// Returns the working directory of a command that discards work, if it is a pattern: `git -C "$r" reset --hard` in a
    /// loop over `*/`.
    pub(super) fn set_of_folders<'e>(&self, effect: &'e Effect) -> Option<&'e str> {
        let discards = matches!(effect.kind, EffectKind::DiscardChanges | EffectKind::DiscardUntracked);
        let folder = effect.folder.as_deref().filter(|_| discards)?;
        let is_set = fixed_part(folder).len() < folder.len() && self.call.world.real(folder, true).exists != Some(true);
        is_set.then_some(folder)
    }

    /// Returns the union of the names in each path; unknown if one of them is.
    pub(super) fn in_each(
        &self,
        paths: Affected<Vec<String>>,
        names: &dyn Fn(&str) -> Affected<Names>,
    ) -> Affected<Names> {
        let Some(paths) = paths.known() else { return Affected::Unknown };
        paths.iter().fold(Affected::Nothing, |found, path| found.and(names(path)))
    }

    /// Returns the uncommitted files. Deleting a submodule also deletes the data that exists only in its own work tree.
    pub(super) fn uncommitted(&self, effect: &Effect, path: &str) -> Affected<Names> {
        let has = |flag| effect.flags.contains(&flag);
        let outer = if has("submodules") { Affected::Nothing } else { self.call.world.uncommitted(path) };
        if (effect.kind != EffectKind::Delete || has("name")) && !has("submodules") {
            return outer;
        }
        // The contents are meant: the folder itself belongs to the outer work tree.
        let inner: Vec<String> = self.call.world.submodules(path).iter().map(|folder| format!("{folder}/.")).collect();
        let fresh = |inner: &String| self.call.world.untracked(inner, Untracked::Ordinary);
        inner.iter().flat_map(|inner| [self.call.world.uncommitted(inner), fresh(inner)]).fold(outer, Affected::and)
    }

    /// Whether the word may name a commit of the repository in which the command runs.
    pub(super) fn is_commit(&self, effect: &Effect, word: &Value) -> bool {
        let word = word.literal().unwrap_or_default();
        self.call.world.names_commit(&self.call.folder_of(effect, None), &word) != Some(false)
    }

    /// Whether `git checkout -f [WORD]` may check out a commit: it names no file instead.
    pub(super) fn is_switch(&self, effect: &Effect) -> bool {
        effect.argument.as_ref().is_none_or(|word| self.is_commit(effect, word))
    }

    /// Whether a file is replaced from another source than the index of its own repository, so that staged content is
    /// lost too. The first operand of `git checkout WORD PATH` is such a source if it names a commit.
    pub(super) fn comes_from_elsewhere(&self, effect: &Effect) -> bool {
        let has = |flag| effect.flags.contains(&flag);
        let is_named = || effect.argument.as_ref().is_some_and(|word| self.is_commit(effect, word));
        ["staged", "git-dir", "work-tree"].into_iter().any(has) || has("tree-ish") && is_named()
    }

    /// Whether the target is a symlink that is itself removed, which leaves its target intact.
    pub(super) fn is_link(&self, effect: &Effect, target: &Target, real: &ResolvedPath) -> bool {
        let itself =
            effect.kind == EffectKind::Delete && matches!(target.path, TargetPath::Known { follows: false, .. });
        itself && !target.is_pattern() && self.call.world.real(&real.path, true).path != real.path
    }

    fn branch_name(&self, folder: &str, target: Option<&Target>) -> Option<String> {
        let shown = target.map(|target| target.value.shown()).unwrap_or_default();
        let name = shown.rsplit(':').next().unwrap_or("").trim_start_matches("refs/heads/").to_owned();
        if name.is_empty() || name == "HEAD" || name == "the current branch" {
            return self.call.world.branch(folder)?;
        }
        Some(name)
    }

    /// Whether the branch is protected.
    pub(super) fn is_protected(&self, effect: &Effect, target: Option<&Target>) -> Ternary {
        let folder = &self.call.folder_of(effect, target);
        let Some(name) = self.branch_name(folder, target) else { return Ternary::Unknown };
        let configured = self.call.world.protected(folder);
        let known = PROTECTED.contains(&name.as_str()) || name.starts_with("release/") || configured.contains(&name);
        Ternary::from(known)
    }

    /// Returns the commits that are reachable only from the reference which is deleted, or moved to the commit in the
    /// argument.
    pub(super) fn lost_commits(&self, effect: &Effect, target: Option<&Target>) -> Affected<Names> {
        let Some(name) = target.map(|target| target.value.shown()) else { return Affected::Unknown };
        let has = |flag| effect.flags.contains(&flag);
        let argument = effect.argument.as_ref().map(|onto| onto.shown());
        let onto = argument.unwrap_or_else(|| if has("made") { "HEAD".to_owned() } else { String::new() });
        let reference = match name.split(' ').next().unwrap_or("") {
            _ if has("reset") && !has("moved") => "HEAD".to_owned(),
            full if full.starts_with("refs/") || full == "HEAD" => full.to_owned(),
            tag if has("tag") => format!("refs/tags/{tag}"),
            branch => format!("refs/heads/{}", branch.trim_start_matches("heads/")),
        };
        let count = match self.call.world.orphaned(&self.call.folder_of(effect, target), &reference, &onto) {
            None => return Affected::Unknown,
            Some(0) => return Affected::Nothing,
            Some(count) => count,
        };
        let commits = if count == 1 { "1 commit".to_owned() } else { format!("{count} commits") };
        // The count includes commits that the branch keeps.
        let is_reset = has("reset") && !has("moved");
        let lost = if is_reset { format!("those after {name}") } else { format!("{commits} only on {name}") };
        Affected::These(Names { names: vec![lost], count: 1, more: false })
    }

    /// Returns the branch that is checked out in the workspace; empty if none is.
    pub(crate) fn branch(&self) -> Option<String> {
        self.call.world.branch(&self.call.event.workspace).map(Option::unwrap_or_default)
    }

    /// Whether tracked files have uncommitted changes.
    pub(crate) fn is_dirty(&self) -> Option<bool> {
        self.call.world.uncommitted(&self.call.event.workspace).known().map(|names| names.any())
    }
}

/// Returns the names that a target matches, if it is a pattern; else all of them.
fn only_matching(names: Affected<Names>, target: &Target, workspace: &str) -> Affected<Names> {
    let Affected::These(mut names) = names else { return names };
    if let Some(pattern) = target.path().filter(|path| fixed_part(path).len() < path.len()) {
        let fits = |name: &String| {
            let file = path::absolute(name, workspace);
            let above = |folder: &str| glob::glob(pattern.as_bytes(), folder.as_bytes());
            std::iter::successors(Some(file.as_str()), |at| (*at != "/").then(|| parent(at))).any(above)
        };
        let all_named = names.count == names.names.len();
        names.names.retain(fits);
        if all_named {
            names.count = names.names.len();
        }
    }
    names.into()
}

/// Returns the files without a copy in git that an effect discards.
pub(super) fn untracked_kind(effect: &Effect) -> Untracked {
    if effect.kind != EffectKind::DiscardUntracked {
        return Untracked::Ordinary;
    }
    match (effect.flags.contains(&"ignored"), effect.flags.contains(&"only-ignored")) {
        (_, true) => Untracked::Ignored,
        (true, false) => Untracked::All,
        (false, false) => Untracked::Ordinary,
    }
}
