//! Facts about a repository: the work that would be lost, and the work that can be restored.

use super::cache::{Facts, truth};
use super::classes::fixed_part;
use crate::model::affected::Affected;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::path::{self, is_within, parent};
use crate::model::session::{RemnantKind, Taint};
use crate::model::truth::Ternary;
use crate::model::world::{Known, Look, Names, ResolvedPath, Untracked};
use crate::text::glob;
use reflex_shell::Value;
use std::borrow::Cow;

/// Maximum number of files matching a pattern that are examined individually.
const MAX_SPELLED_OUT: usize = 256;

/// Maximum number of folders of one command in which work is looked for.
const MAX_WORK_TREES: usize = 64;

/// Branches that are protected in every repository.
const PROTECTED: [&str; 8] = ["main", "master", "trunk", "develop", "production", "prod", "release", "stable"];

impl Facts<'_> {
    /// Whether the same call creates a stash, which does not exist yet.
    pub(super) fn stashes_first(&self) -> bool {
        let commands = self.analysis.readings.iter().flat_map(|reading| &reading.commands);
        let paths = commands.filter_map(|command| command.invocation.as_ref().map(|invocation| &invocation.path));
        paths.into_iter().any(|path| matches!(path.as_slice(), ["stash"] | ["stash", "push" | "save"]))
    }

    /// Whether the repository that the effect concerns exists and cannot be read. An overwrite requires only the quick
    /// check.
    pub(super) fn is_unreadable(&self, effect: &Effect, target: Option<&Target>) -> Ternary {
        let look = match effect.kind == EffectKind::Overwrite || effect.kind == EffectKind::Truncate {
            true => Look::Quick,
            false => Look::Full,
        };
        let target = target.filter(|target| target.path().is_some());
        let known = match target.map(|target| (target, self.real(effect, target))) {
            Some((target, _)) if self.set_of_folders(effect).is_some() => {
                self.discarded_at(effect, target, &self.real(effect, target)).known().unwrap_or_default()
            }
            Some((_, real)) => vec![real.path],
            None => vec![self.folder_of(effect, None)],
        };
        // Git's own commands concern the repository of the folder itself, not one above it.
        let inner = if effect.kind == EffectKind::Delete || look == Look::Quick { "" } else { "/." };
        let found =
            known.iter().find_map(|known| self.world.unreadable(&format!("{}{inner}", fixed_part(known)), look));
        let Some(found) = found else { return Ternary::No };
        *self.lost.borrow_mut() = Names { names: vec![found.reason], count: 1, more: false };
        *self.mend.borrow_mut() = found.mend;
        Ternary::Yes
    }

    /// Whether git would add a project's secrets from this folder for the first time.
    pub(super) fn is_new_secret(&self, effect: &Effect, target: &Target, folder: &str) -> Ternary {
        const NAMES: [&str; 5] = [".env", ".env.local", ".env.production", ".env.prod", ".env.staging"];
        // Most added paths are individual files, which need no query to the disk.
        let named = |known: &str| !known.is_empty() && known == folder;
        let is_folder = named(&self.event.workspace) || effect.folder.as_deref().is_some_and(named);
        if !is_folder && path::name_of(folder).contains('.') {
            return Ternary::No;
        }
        let forced = effect.flags.contains(&"force");
        let names = NAMES.iter().map(|name| path::absolute(name, folder));
        let taken_up = |path: &String| {
            self.world.real(path, true).exists == Some(true)
                && self.world.is_tracked(path) == Some(false)
                && (forced || self.world.is_ignored(path) == Some(false))
        };
        let names: Vec<String> = names.filter(taken_up).collect();
        self.names(Names { count: names.len(), names, more: false }.into(), target)
    }

    /// Whether the target contains files that git does not track and a build does not recreate.
    pub(super) fn loose(&self, effect: &Effect, target: &Target, real: &ResolvedPath, which: Untracked) -> Ternary {
        let found = |path: &str| self.world.untracked(path, which);
        let names = self.spelled_out(target, self.in_each(self.discarded_at(effect, target, real), &found));
        if names.is_something() && self.is_link(effect, target, real) {
            return Ternary::No;
        }
        self.names(self.lasting(names), target)
    }

    /// Git reports an untracked folder by its own name; the disk is queried for the files in it that match a pattern.
    fn spelled_out(&self, target: &Target, names: Affected<Names>) -> Affected<Names> {
        let Affected::These(mut names) = names else { return names };
        let Some(pattern) = target.path().filter(|path| fixed_part(path).len() < path.len()) else {
            return Affected::These(names);
        };
        let folder = fixed_part(pattern);
        let is_within_folder = |name: &String| is_within(folder, &path::absolute(name, &self.event.workspace));
        if !names.names.iter().any(is_within_folder) {
            return Affected::These(names);
        }
        let Some(found) = self.world.expand(pattern).known() else { return Affected::These(names) };
        names.names.retain(|name| !is_within_folder(name));
        names.names.extend(found.iter().take(MAX_SPELLED_OUT).map(|path| self.named(path)));
        names.count = names.names.len();
        names.into()
    }

    /// Returns the path that facts are queried for: the root of the work tree if the effect concerns all of it, else
    /// the part before a pattern. A folder with a repository of its own is a single entry for the outer one; discarding
    /// in it affects its contents.
    pub(super) fn meant<'r>(&self, effect: &Effect, real: &'r ResolvedPath) -> Cow<'r, str> {
        let discards = matches!(effect.kind, EffectKind::DiscardChanges | EffectKind::DiscardUntracked);
        let fixed = fixed_part(&real.path);
        let concerns_all = effect.flags.contains(&"whole");
        let root = (discards || concerns_all).then(|| self.world.work_tree(fixed)).flatten();
        match root.filter(|root| concerns_all || root == fixed) {
            Some(root) if root == self.event.workspace => Cow::Owned(root),
            Some(root) => Cow::Owned(format!("{root}/.")),
            None => Cow::Borrowed(fixed),
        }
    }

    /// Returns the paths in which a command discards work: one in each folder if its working directory is a pattern.
    pub(super) fn discarded_at(&self, effect: &Effect, target: &Target, real: &ResolvedPath) -> Affected<Vec<String>> {
        let set = self.set_of_folders(effect).zip(target.path());
        let Some((folder, below)) = set.and_then(|(folder, path)| Some((folder, path.strip_prefix(folder)?))) else {
            return vec![self.meant(effect, real).into_owned()].into();
        };
        let below = below.trim_start_matches('/');
        let each = |folder: String| {
            let real = self.world.real(&path::absolute(below, &folder), true);
            self.meant(effect, &real).into_owned()
        };
        let is_in_work_tree = |folder: &String| self.world.work_tree(folder).is_some();
        self.world.expand(folder).at_most(MAX_WORK_TREES).filter(is_in_work_tree).map(each)
    }

    /// Returns the working directory of a command that discards work, if it is a pattern: `git -C "$r" reset --hard` in a
    /// loop over `*/`.
    pub(super) fn set_of_folders<'e>(&self, effect: &'e Effect) -> Option<&'e str> {
        let discards = matches!(effect.kind, EffectKind::DiscardChanges | EffectKind::DiscardUntracked);
        let folder = effect.folder.as_deref().filter(|_| discards)?;
        let is_set = fixed_part(folder).len() < folder.len() && self.world.real(folder, true).exists != Some(true);
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
        let outer = if has("submodules") { Affected::Nothing } else { self.world.uncommitted(path) };
        if (effect.kind != EffectKind::Delete || has("name")) && !has("submodules") {
            return outer;
        }
        // The contents are meant: the folder itself belongs to the outer work tree.
        let inner: Vec<String> = self.world.submodules(path).iter().map(|folder| format!("{folder}/.")).collect();
        let fresh = |inner: &String| self.world.untracked(inner, Untracked::Ordinary);
        inner.iter().flat_map(|inner| [self.world.uncommitted(inner), fresh(inner)]).fold(outer, Affected::and)
    }

    /// Whether the content that git does not have is older than the session: the complete file, or its last changes. A
    /// tracked file existed before, even if another file has replaced it since.
    pub(super) fn is_from_before(&self, path: &str) -> Known<bool> {
        let age = self.world.age(path)?;
        if self.world.is_tracked(path) == Some(false) {
            return Some(age.is_older);
        }
        let is_dated = |known: &Taint| known.kind == RemnantKind::Dated && known.path == path;
        Some(age.is_untouched || self.past().iter().any(is_dated))
    }

    /// Whether the word may name a commit of the repository in which the command runs.
    pub(super) fn is_commit(&self, effect: &Effect, word: &Value) -> bool {
        let word = word.literal().unwrap_or_default();
        self.world.names_commit(&self.folder_of(effect, None), &word) != Some(false)
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
        itself && !target.is_pattern() && self.world.real(&real.path, true).path != real.path
    }

    /// Whether any name exists; stores the names for the reason. With a pattern only matching names count.
    pub(super) fn names(&self, names: Affected<Names>, target: &Target) -> Ternary {
        let Some(mut names) = names.known() else { return Ternary::Unknown };
        if let Some(pattern) = target.path().filter(|path| fixed_part(path).len() < path.len()) {
            let names_folder = &self.event.workspace;
            let fits = |name: &String| {
                let file = path::absolute(name, names_folder);
                let above = |folder: &str| glob::glob(pattern.as_bytes(), folder.as_bytes());
                std::iter::successors(Some(file.as_str()), |at| (*at != "/").then(|| parent(at))).any(above)
            };
            let all_named = names.count == names.names.len();
            names.names.retain(fits);
            if all_named {
                names.count = names.names.len();
            }
        }
        if !names.any() {
            return Ternary::No;
        }
        *self.lost.borrow_mut() = names;
        Ternary::Yes
    }

    pub(super) fn branch_name(&self, folder: &str, target: Option<&Target>) -> Option<String> {
        let shown = target.map(|target| target.value.shown()).unwrap_or_default();
        let name = shown.rsplit(':').next().unwrap_or("").trim_start_matches("refs/heads/").to_owned();
        if name.is_empty() || name == "HEAD" || name == "the current branch" {
            return self.world.branch(folder)?;
        }
        Some(name)
    }

    pub(super) fn is_protected(&self, folder: &str, target: Option<&Target>) -> Ternary {
        let Some(name) = self.branch_name(folder, target) else { return Ternary::Unknown };
        let configured = self.world.protected(folder);
        let known = PROTECTED.contains(&name.as_str()) || name.starts_with("release/") || configured.contains(&name);
        Ternary::from(known)
    }

    /// Whether commits are reachable only from the reference that is deleted, or moved to the commit in the argument.
    pub(super) fn is_unmerged(&self, effect: &Effect, folder: &str, target: Option<&Target>) -> Ternary {
        let Some(name) = target.map(|target| target.value.shown()) else { return Ternary::Unknown };
        let has = |flag| effect.flags.contains(&flag);
        let argument = effect.argument.as_ref().map(|onto| onto.shown());
        let onto = argument.unwrap_or_else(|| if has("made") { "HEAD".to_owned() } else { String::new() });
        let reference = match name.split(' ').next().unwrap_or("") {
            _ if has("reset") && !has("moved") => "HEAD".to_owned(),
            full if full.starts_with("refs/") || full == "HEAD" => full.to_owned(),
            tag if has("tag") => format!("refs/tags/{tag}"),
            branch => format!("refs/heads/{}", branch.trim_start_matches("heads/")),
        };
        let count = self.world.orphaned(folder, &reference, &onto);
        if let Some(count) = count.filter(|count| *count > 0) {
            let commits = if count == 1 { "1 commit".to_owned() } else { format!("{count} commits") };
            // The count includes commits that the branch keeps.
            let is_reset = has("reset") && !has("moved");
            let lost = if is_reset { format!("those after {name}") } else { format!("{commits} only on {name}") };
            *self.lost.borrow_mut() = Names { names: vec![lost], count: 1, more: false };
        }
        truth(count.map(|count| count > 0))
    }
}

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
