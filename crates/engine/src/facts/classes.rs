//! Whether a target belongs to a class: a place, a property of its path, or a class of the library.

use super::call::Call;
use super::guard::GuardFacts;
use super::meaning::{Pattern, Seen};
use super::patterns::{fixed_part, holds, meets};
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::path::{self, Place, is_within};
use crate::model::truth::Ternary;
use crate::model::world::NamesOf;
use crate::text::glob;
use reflex_shell::ExecTarget;
use std::cell::OnceCell;
use std::collections::HashSet;

/// Classes that only reduce danger: every path that is certainly meant must belong to them, not just one.
const HARMLESS: [&str; 3] = ["caches", "agent-notes", "agent-snapshots"];

/// Classes of settings files with hooks, which may be symlinks into a folder of dotfiles.
const HOOK_FILES: [&str; 2] = ["agent-hooks", "agent-settings"];

/// Classes of files that matter for the keys in them.
const KEYS: [&str; 2] = ["environment", "key-files"];

/// The classes of targets.
#[derive(Clone, Copy)]
pub(crate) struct ClassFacts<'f> {
    pub(super) call: &'f Call<'f>,
    pub(super) guard: GuardFacts<'f>,
    /// Files that the call generates and does not write otherwise.
    pub(super) generated: &'f OnceCell<HashSet<String>>,
}

impl ClassFacts<'_> {
    /// Whether the target belongs to a class: a place, a property of its path, or a class of the library.
    pub(crate) fn is(&self, effect: &Effect, target: &Target, class: &str) -> Ternary {
        if effect.site != ExecTarget::Here {
            return elsewhere(target, class);
        }
        let TargetPath::Known { text, contents, climbing, .. } = &target.path else {
            return Ternary::from(class == "unknown" && target.path == TargetPath::Unknown);
        };
        match class {
            "contents" => return Ternary::from(*contents),
            "climbing" => return Ternary::from(climbing.is_some()),
            "pattern" => return Ternary::from(effect.is_about_many(target)),
            "device" => return Ternary::from(text.starts_with("/dev/")),
            "guard" => return Ternary::from(self.guard.is_guard(effect, target)),
            "guard-program" => return Ternary::from(self.guard.is_guard_program(effect, target)),
            _ => {}
        }
        if effect.kind == EffectKind::Read && KEYS.contains(&class) && self.is_new_key(target) {
            return Ternary::No;
        }
        let seen = self.call.seen(effect, target);
        if Place::ALL.iter().any(|(_, name)| *name == class) {
            return Ternary::from(seen.place.name() == class);
        }
        let Some(index) = self.call.tables.library().places().index_of(class) else { return Ternary::No };
        if let Some(known) = seen.classes.borrow().get(&index) {
            return *known;
        }
        let truth = self.class(&seen, class);
        seen.classes.borrow_mut().insert(index, truth);
        truth
    }

    /// Returns for each effect whether it only saves the state of an agent's shell: an agent has a shell do this before
    /// the first call. What a later shell runs from there is judged when it starts.
    pub(crate) fn saved_shells(&self) -> Vec<bool> {
        let is_saved = |effect: &Effect| {
            let is_state = |target| self.is(effect, target, "agent-snapshots") == Ternary::Yes;
            matches!(effect.kind, EffectKind::Overwrite | EffectKind::Append)
                && !effect.targets.is_empty()
                && effect.targets.iter().all(is_state)
        };
        self.call.analysis.effects.iter().map(is_saved).collect()
    }

    /// Whether the path does not exist yet and the call itself generates it: an unused key.
    fn is_new_key(&self, target: &Target) -> bool {
        let Some(path) = target.path() else { return false };
        self.generated.get_or_init(|| self.find_generated()).contains(path)
            && self.call.world.real(path, true).exists == Some(false)
    }

    fn find_generated(&self) -> HashSet<String> {
        let made = self.call.analysis.effects.iter().filter(|effect| effect.kind == EffectKind::Overwrite);
        let paths = |is_generated: bool| {
            let effects = made.clone().filter(move |effect| effect.flags.contains(&"generated") == is_generated);
            effects.flat_map(|effect| &effect.targets).filter_map(Target::path)
        };
        let mut generated: HashSet<String> = paths(true).map(str::to_owned).collect();
        if !generated.is_empty() {
            for path in paths(false) {
                generated.remove(path);
            }
        }
        generated
    }

    pub(super) fn class(&self, seen: &Seen, class: &str) -> Ternary {
        let real = &seen.real.path;
        if class == "system" && (is_within(real, &self.call.event.home) || is_within(real, &self.call.event.workspace))
        {
            // The home of root is among the system's folders, and a project may be too.
            return Ternary::No;
        }
        let belongs = |path: &String| self.call.in_class(class, path);
        if HARMLESS.contains(&class) {
            return Ternary::from(seen.paths.iter().take(seen.sure).all(belongs));
        }
        if seen.paths.iter().any(belongs) {
            return Ternary::Yes;
        }
        if HOOK_FILES.contains(&class) && self.call.world.hook_files().iter().any(|file| seen.paths.contains(file)) {
            return Ternary::Yes;
        }
        let Some(pattern) = &seen.pattern else { return Ternary::No };
        let truth = self.may_belong(class, pattern);
        let is_listed = truth == Ternary::No && seen.is_taken_whole && KEYS.contains(&class);
        if is_listed { Ternary::from(self.finds(class, pattern)) } else { truth }
    }

    /// Whether one of the existing files that the pattern means belongs to the class. Files that cannot be listed do
    /// not count.
    fn finds(&self, class: &str, pattern: &Pattern) -> bool {
        reflex_shell::work::spend(50);
        let (folder, written) = match pattern {
            Pattern::Tree(tree) => (tree.as_str(), None),
            Pattern::Written(written) if written.contains("**") => (fixed_part(written), Some(written)),
            Pattern::Written(written) => {
                let matched = self.call.world.expand(written).known().unwrap_or_default();
                reflex_shell::work::spend(matched.len() as u64 * 2);
                return matched.iter().any(|path| self.call.in_class(class, path));
            }
        };
        let names = self.call.world.names_of(NamesOf::Folder(folder)).known().unwrap_or_default();
        reflex_shell::work::spend(names.len() as u64 * 2);
        let fits = |path: &String| written.is_none_or(|written| glob::fits(written, path, &self.call.event.home));
        let paths = names.iter().map(|name| path::absolute(name, folder));
        paths.filter(fits).any(|path| self.call.in_class(class, &path))
    }

    /// Whether a path that the pattern matches belongs to the class, judged by the existing files if they can be
    /// listed.
    pub(super) fn may_belong(&self, class: &str, pattern: &Pattern) -> Ternary {
        let places = self.call.tables.library().places().get(class);
        let mut patterns = places.iter().flat_map(|place| place.paths().iter());
        let home = &self.call.event.home;
        let written = match pattern {
            Pattern::Written(written) => written,
            Pattern::Tree(tree) => return Ternary::from(patterns.any(|one| holds(tree, one, home))),
        };
        if !patterns.any(|one| meets(written, one, home)) {
            return Ternary::No;
        }
        reflex_shell::work::spend(50);
        if let Some(matched) = self.call.world.expand(written).known() {
            reflex_shell::work::spend(matched.len() as u64 * 2);
            return Ternary::from(matched.iter().any(|path| self.call.in_class(class, path)));
        }
        // `.*` matches every hidden name. A repository always has its own folder there; other hidden names are unknown.
        let last = path::name_of(written);
        let everything = [".*", ".?", ".["].iter().any(|start| last.starts_with(start));
        if everything && class != "git-internals" { Ternary::Unknown } else { Ternary::Yes }
    }
}

/// Classifies a target on another system, where only the roots are known.
pub(super) fn elsewhere(target: &Target, class: &str) -> Ternary {
    let root = match target.path() {
        Some("/") => "root",
        _ if target.value.pieces.len() == 1 && target.value.shown() == "~" => "home",
        _ => "elsewhere",
    };
    Ternary::from(class == root)
}
