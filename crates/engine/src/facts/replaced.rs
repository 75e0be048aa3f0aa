//! The loss when a call overwrites files: content that is in no commit and has no other copy.

use super::cache::{Facts, Pattern};
use super::classes::fixed_part;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::event::Action;
use crate::model::path::{self, Place};
use crate::model::truth::Ternary;
use crate::model::world::{Known, Names, ResolvedPath, Untracked};
use crate::text::glob;
use std::collections::HashSet;

/// The classes of files that people have no second copy of: keys and collected data.
const PRECIOUS: [&str; 4] = ["environment", "key-files", "data", "secret"];

/// Maximum number of files of an archive or tree that are examined.
const MAX_WRITTEN: usize = 4096;

/// Selects the replaced files that count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    /// Keys and collected data.
    Data,
    /// Files that people write, except temporary ones.
    Work,
    /// Both, except files that the session has written to: the person's text in them is already lost or kept.
    Untouched,
}

impl Facts<'_> {
    /// Whether files are replaced whose content has no other copy: older than the session, in no commit, and not
    /// recreated by a build. For a folder, these are the files in it that are written.
    pub(super) fn replaces(&self, effect: &Effect, target: &Target, which: Lost) -> Ternary {
        let Some(written) = self.written(effect, target) else { return Ternary::Unknown };
        let counts = |path: &String| self.is_lost(which, path) && self.is_only_copy(effect, path, which);
        let lost: Vec<String> = written.into_iter().filter(counts).map(|path| self.named(&path)).collect();
        if lost.is_empty() {
            return Ternary::No;
        }
        *self.lost.borrow_mut() = Names { count: lost.len(), names: lost, more: false };
        Ternary::Yes
    }

    /// Returns the files that are written, as far as their names are known.
    pub(super) fn written(&self, effect: &Effect, target: &Target) -> Known<Vec<String>> {
        let has = |flag| effect.flags.contains(&flag);
        let seen = self.seen(effect, target);
        let is_tree = has("place") && (has("recursive") || has("archive")) && seen.real.is_folder == Some(true);
        if effect.kind == EffectKind::Populate || is_tree {
            let folder = fixed_part(&seen.real.path);
            let known = self.names_below(effect, seen.real.exists);
            let names = known.or_else(|| has("from-container").then(|| self.all_below(folder))?)?;
            return Some(names.iter().take(MAX_WRITTEN).map(|name| path::absolute(name, folder)).collect());
        }
        if let Some(pattern) = &seen.pattern {
            return self.fitting(pattern);
        }
        let is_folder = seen.real.is_folder == Some(true);
        let landed = seen.paths.iter().take(seen.sure).filter(|path| !is_folder || **path != seen.real.path);
        Some(landed.cloned().collect())
    }

    /// Returns the files that a pattern matches. In a tree only files with uncommitted work count.
    fn fitting(&self, pattern: &Pattern) -> Known<Vec<String>> {
        let is_file = |path: &String| self.world.real(path, true).is_folder != Some(true);
        let (folder, written) = match pattern {
            Pattern::Tree(tree) => (tree.as_str(), None),
            Pattern::Written(written) => match written.split_once("/**") {
                Some((folder, _)) => (folder, Some(written)),
                None => {
                    let files = self.world.expand(written)?.into_iter();
                    return Some(files.filter(is_file).take(MAX_WRITTEN).collect());
                }
            },
        };
        let changed = self.world.uncommitted(folder)?.names.into_iter();
        let changed = changed.map(|name| path::absolute(&name, &self.event.workspace));
        let fits = |path: &String| written.is_none_or(|written| glob::fits(written, path, &self.event.home));
        Some(changed.chain(self.all_below(folder)?).filter(fits).filter(is_file).take(MAX_WRITTEN).collect())
    }

    /// Returns the uncommitted files in a folder; any of them can be overwritten if the new names are unknown.
    fn all_below(&self, folder: &str) -> Known<Vec<String>> {
        let loose = [Untracked::Ordinary, Untracked::Ignored].map(|which| self.world.untracked(folder, which));
        let names = loose.into_iter().flatten().flat_map(|names| names.names);
        let paths = names.map(|name| path::absolute(&name, &self.event.workspace));
        // Git reports an untracked folder by its own name.
        let held = |path: String| match path::is_within(folder, &path) {
            true => self.world.expand(&format!("{folder}/*")).unwrap_or_default(),
            false => vec![path],
        };
        Some(paths.flat_map(held).take(MAX_WRITTEN).collect())
    }

    fn is_lost(&self, which: Lost, path: &str) -> bool {
        let is_precious = || PRECIOUS.iter().any(|class| self.in_class(class, path));
        match which {
            Lost::Data => is_precious(),
            Lost::Work => !is_precious() && !self.in_class("scratch", path),
            Lost::Untouched => {
                self.world.age(path).is_some_and(|age| age.is_untouched) && !self.in_class("scratch", path)
            }
        }
    }

    fn is_only_copy(&self, effect: &Effect, path: &str, which: Lost) -> bool {
        reflex_shell::work::spend(8);
        let has = |names: Known<Names>| names.as_ref().is_some_and(Names::any);
        // Staged content is in git's index. Detecting it requires reading the last commit, which adds to the cost of
        // each edit.
        let changed = || match which {
            Lost::Untouched => self.world.unstaged(path),
            Lost::Data | Lost::Work => self.world.uncommitted(path),
        };
        let untracked = |which| has(self.world.untracked(path, which));
        self.is_from_before(path) == Some(true)
            && match self.world.is_tracked(path) {
                Some(true) => has(changed()),
                _ => has(changed()) || untracked(Untracked::Ordinary) || untracked(Untracked::Ignored),
            }
            && self.is_regenerable(path) != Ternary::Yes
            && !self.is_held_by_new(effect, path)
    }

    /// Whether an existing file has no other copy, as far as it is known. Unlike for a text, a project without git counts.
    pub(super) fn is_only_copy_of(&self, real: &ResolvedPath) -> Ternary {
        if real.exists != Some(true) {
            return real.exists.map_or(Ternary::Unknown, |_| Ternary::No);
        }
        let path = real.path.as_str();
        let is_committed =
            self.world.is_tracked(path) == Some(true) && self.world.uncommitted(path).is_some_and(|names| !names.any());
        let is_lost = !is_committed
            && self.is_from_before(path) != Some(false)
            && self.is_regenerable(path) != Ternary::Yes
            && self.place(path) != Place::Temporary;
        if is_lost {
            *self.lost.borrow_mut() = Names { count: 1, names: vec![self.named(path)], more: false };
        }
        Ternary::from(is_lost)
    }

    /// Whether the replacing text contains all lines of a file, if the call specifies the text.
    fn is_held_by_new(&self, effect: &Effect, path: &str) -> bool {
        let Some(Action::Write { content: new, .. }) = self.event.actions.get(effect.action) else { return false };
        let Some(old) = self.world.content_before(path) else { return false };
        let lines: HashSet<&str> = new.lines().map(str::trim_end).collect();
        old.lines().map(str::trim_end).all(|line| line.is_empty() || lines.contains(line))
    }

    /// Returns a path for display: relative to the workspace if it is inside.
    pub(super) fn named(&self, path: &str) -> String {
        let relative = path.strip_prefix(self.event.workspace.as_str()).and_then(|rest| rest.strip_prefix('/'));
        relative.filter(|_| !self.event.workspace.is_empty()).unwrap_or(path).to_owned()
    }
}
