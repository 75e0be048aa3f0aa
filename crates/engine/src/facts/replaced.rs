//! The loss when a call overwrites files: content that is in no commit and has no other copy.

use super::call::Call;
use super::git::FileTarget;
use super::landed::CopyFacts;
use super::meaning::Pattern;
use super::patterns::fixed_part;
use super::regenerable::BuildFacts;
use super::session::SessionFacts;
use super::writes_below::TreeFacts;
use crate::model::affected::Affected;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::event::Action;
use crate::model::path::{self, Place};
use crate::model::truth::Ternary;
use crate::model::world::{Names, ResolvedPath, Untracked};
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

/// The losses when a call overwrites files.
#[derive(Clone, Copy)]
pub(crate) struct LossFacts<'f> {
    pub(super) call: &'f Call<'f>,
    pub(super) session: SessionFacts<'f>,
    pub(super) builds: BuildFacts<'f>,
    pub(super) copies: CopyFacts<'f>,
    pub(super) trees: TreeFacts<'f>,
}

impl LossFacts<'_> {
    /// Returns the replaced files whose content has no other copy: older than the session, in no commit, and not
    /// recreated by a build. For a folder, these are the files in it that are written.
    pub(super) fn replaced(&self, file: &FileTarget<'_>, which: Lost) -> Affected<Names> {
        let (effect, target) = (file.effect, file.target);
        let counts = |path: &String| self.is_lost(which, path) && self.is_only_copy(effect, path, which);
        let lost_of = |paths: Vec<String>| -> Vec<String> {
            paths.into_iter().filter(counts).map(|path| self.call.display_name(&path)).collect()
        };
        let (mut lost, more) = match self.written(effect, target).known() {
            Some(paths) => (lost_of(paths), false),
            None => {
                let Some(found) = self.replaceable(effect, target).known() else { return Affected::Unknown };
                let mut lost = lost_of(found.names);
                lost.first_mut().into_iter().for_each(|first| first.insert_str(0, "possibly "));
                (lost, found.more)
            }
        };
        lost.extend(lost_of(self.copies.buried(effect)));
        let mut seen = HashSet::new();
        lost.retain(|name| seen.insert(name.clone()));
        Names { count: lost.len(), names: lost, more }.into()
    }

    /// Returns the files that are written.
    pub(super) fn written(&self, effect: &Effect, target: &Target) -> Affected<Vec<String>> {
        let has = |flag| effect.flags.contains(&flag);
        let seen = self.call.seen(effect, target);
        let is_tree = has("place") && (has("recursive") || has("archive")) && seen.real.is_folder == Some(true);
        if effect.kind == EffectKind::Populate || is_tree {
            let folder = fixed_part(&seen.real.path);
            let names = self.trees.names_below(effect, seen.real.exists);
            return names.at_most(MAX_WRITTEN).map(|name| path::absolute(&name, folder));
        }
        if let Some(pattern) = &seen.pattern {
            return self.fitting(pattern);
        }
        if has("place") && !has("from-container") {
            return self.copies.landed(effect, target).map(|landing| landing.at);
        }
        let is_folder = seen.real.is_folder == Some(true);
        let landed = seen.paths.iter().take(seen.sure).filter(|path| !is_folder || **path != seen.real.path);
        landed.cloned().collect::<Vec<_>>().into()
    }

    /// Returns the files in a folder that have no copy in git. If the written names are unknown, any of them may be
    /// replaced; without an option for trees only those in the folder itself. Unknown if no folder bounds the names.
    pub(super) fn replaceable(&self, effect: &Effect, target: &Target) -> Affected<Names> {
        let has = |flag| effect.flags.contains(&flag);
        let seen = self.call.seen(effect, target);
        if !has("place") && !has("from-container") && seen.pattern.is_none() {
            return Affected::Unknown;
        }
        let folder = fixed_part(&seen.real.path);
        let is_deep = match &seen.pattern {
            Some(Pattern::Tree(_)) => true,
            Some(Pattern::Written(written)) => written.contains("**"),
            None => has("recursive") || has("archive") || has("from-container"),
        };
        let found = self.unkept_below(folder);
        let Affected::These(mut found) = found else { return found };
        found.names.retain(|path| is_deep || path::parent(path) == folder);
        found.count = found.names.len();
        found.into()
    }

    /// Returns the files that a pattern matches. In a tree only files with uncommitted work count.
    fn fitting(&self, pattern: &Pattern) -> Affected<Vec<String>> {
        let is_file = |path: &String| self.call.world.real(path, true).is_folder != Some(true);
        let (folder, written) = match pattern {
            Pattern::Tree(tree) => (tree.as_str(), None),
            Pattern::Written(written) => match written.split_once("/**") {
                Some((folder, _)) => (folder, Some(written)),
                None => return self.call.world.expand(written).at_most(MAX_WRITTEN).filter(is_file),
            },
        };
        let fits = |path: &String| written.is_none_or(|written| glob::fits(written, path, &self.call.event.home));
        match self.unkept_below(folder).known() {
            Some(found) if !found.more => Affected::from(found.names).filter(fits).filter(is_file),
            Some(_) | None => Affected::Unknown,
        }
    }

    /// Returns the absolute paths of the files at or below a folder that have no copy in git.
    fn unkept_below(&self, folder: &str) -> Affected<Names> {
        let loose = [Untracked::Ordinary, Untracked::Ignored].map(|which| self.call.world.untracked(folder, which));
        let found = loose.into_iter().fold(self.call.world.uncommitted(folder), Affected::and);
        let Affected::These(found) = found else { return found };
        let paths = found.names.iter().map(|name| path::absolute(name, &self.call.event.workspace));
        let mut more = found.more || found.count > found.names.len();
        let mut names = Vec::new();
        for path in paths {
            // Git reports an untracked folder by its own name.
            match path::is_within(folder, &path).then(|| self.call.world.expand(&format!("{folder}/*"))) {
                Some(Affected::Unknown) => more = true,
                Some(held) => names.extend(held.known().unwrap_or_default()),
                None => names.push(path),
            }
        }
        more |= names.len() > MAX_WRITTEN;
        names.truncate(MAX_WRITTEN);
        Names { count: names.len(), names, more }.into()
    }

    fn is_lost(&self, which: Lost, path: &str) -> bool {
        let is_precious = || PRECIOUS.iter().any(|class| self.call.in_class(class, path));
        match which {
            Lost::Data => is_precious(),
            Lost::Work => !is_precious() && !self.call.in_class("scratch", path),
            Lost::Untouched => {
                self.call.world.age(path).is_some_and(|age| age.is_untouched) && !self.call.in_class("scratch", path)
            }
        }
    }

    fn is_only_copy(&self, effect: &Effect, path: &str, which: Lost) -> bool {
        reflex_shell::work::spend(8);
        // Staged content is in git's index. Detecting it requires reading the last commit, which adds to the cost of
        // each edit.
        let changed = || match which {
            Lost::Untouched => self.call.world.unstaged(path),
            Lost::Data | Lost::Work => self.call.world.uncommitted(path),
        };
        let untracked = |which| self.call.world.untracked(path, which).is_something();
        self.session.is_from_before(path) == Some(true)
            && match self.call.world.is_tracked(path) {
                Some(true) => changed().is_something(),
                _ => changed().is_something() || untracked(Untracked::Ordinary) || untracked(Untracked::Ignored),
            }
            && self.builds.is_regenerable(path) != Ternary::Yes
            && !self.is_held_by_new(effect, path)
    }

    /// Returns an existing file if it has no other copy, as far as it is known. Unlike for a text, a project without git
    /// counts.
    pub(super) fn only_copy(&self, real: &ResolvedPath) -> Affected<Names> {
        match real.exists {
            None => return Affected::Unknown,
            Some(false) => return Affected::Nothing,
            Some(true) => {}
        }
        let path = real.path.as_str();
        let is_committed =
            self.call.world.is_tracked(path) == Some(true) && self.call.world.uncommitted(path).is_nothing();
        let is_lost = !is_committed
            && self.session.is_from_before(path) != Some(false)
            && self.builds.is_regenerable(path) != Ternary::Yes
            && self.call.place(path) != Place::Temporary;
        if !is_lost {
            return Affected::Nothing;
        }
        Affected::These(Names { count: 1, names: vec![self.call.display_name(path)], more: false })
    }

    /// Whether the replacing text contains all lines of a file, if the call specifies the text.
    fn is_held_by_new(&self, effect: &Effect, path: &str) -> bool {
        let Some(Action::Write { content: new, .. }) = self.call.event.actions.get(effect.action) else { return false };
        let Some(old) = self.call.world.content_before(path) else { return false };
        let lines: HashSet<&str> = new.lines().map(str::trim_end).collect();
        old.lines().map(str::trim_end).all(|line| line.is_empty() || lines.contains(line))
    }
}
