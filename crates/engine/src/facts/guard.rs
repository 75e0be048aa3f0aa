//! Whether a target belongs to the guard, or to the hooks with which agents start it.

use super::call::Call;
use super::patterns::fixed_part;
use crate::analysis::aliases;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::guard::GUARD_PROGRAMS;
use crate::model::path::{self, Place, is_within};
use crate::model::truth::Ternary;
use crate::text::glob;

/// The classes of the guard's own files and of the files that contain a user's agent hooks.
const PROTECTED: [&str; 2] = ["guard", "agent-hooks"];

/// The files of the guard and the hooks of agents.
#[derive(Clone, Copy)]
pub(crate) struct GuardFacts<'f> {
    pub(super) call: &'f Call<'f>,
}

impl GuardFacts<'_> {
    pub(super) fn is_guard(&self, effect: &Effect, target: &Target) -> bool {
        let seen = self.call.seen(effect, target);
        let (real, guarded) = (&seen.real.path, self.call.world.guard());
        let is_recursive = matches!(
            effect.kind,
            EffectKind::Delete | EffectKind::Move | EffectKind::ChangePermissions | EffectKind::ChangeOwner
        );
        let beside = matches!(self.call.place(real), Place::Outside | Place::Temporary | Place::Inside);
        // Deleting a home or the root also removes the guard, but that is not the main finding.
        let takes_along = |file: &String| is_recursive && beside && is_within(file, real);
        let within =
            |path: &String| guarded.iter().any(|file| is_within(path, file)) || self.call.in_class("guard", path);
        let named = || effect.kind == EffectKind::GuardReference && target.is_pattern();
        let may_meet = |file: &String| target.path().is_some_and(|pattern| glob::may_meet(pattern, file));
        guarded.iter().any(takes_along) || seen.paths.iter().any(within) || named() && guarded.iter().any(may_meet)
    }

    /// Whether a program that is run is the guard's under another name: the call links, copies or prints the guard's
    /// program into it, or the file is a copy of it.
    pub(super) fn is_guard_program(&self, effect: &Effect, target: &Target) -> bool {
        let text = target.path().unwrap_or("");
        if GUARD_PROGRAMS.contains(&path::name_of(text)) {
            return false;
        }
        let poured = aliases::poured_into(self.call.analysis, text);
        let seen = self.call.seen(effect, target);
        let mut sources = seen.paths.iter().chain(&poured);
        let is_guards = |path: &String| {
            let named = GUARD_PROGRAMS.contains(&path::name_of(path));
            named && (self.call.world.guard().contains(path) || self.call.in_class("guard", path))
        };
        sources.any(is_guards) || self.call.world.is_guard_program(&seen.real.path)
    }

    pub(super) fn names_protected(&self, names: &[String], folder: &str) -> bool {
        names.iter().any(|name| {
            let written = path::absolute(name, folder);
            self.is_protected_path(&written) || written != folder && self.is_above_guard(&written)
        })
    }

    /// Whether the folder contains a protected file.
    pub(super) fn is_above_guard(&self, folder: &str) -> bool {
        self.protected_files().iter().any(|file| is_within(fixed_part(file), folder))
    }

    /// Returns the guard's files, and the protected patterns with a fixed location. A pattern without a leading folder
    /// matches anywhere, including in every project, and is not returned.
    fn protected_files(&self) -> Vec<String> {
        let home = &self.call.event.home;
        let file = |pattern: &str| match pattern.strip_prefix("~/") {
            Some(rest) => Some(format!("{home}/{rest}")),
            None => pattern.starts_with('/').then(|| pattern.to_owned()),
        };
        let classes = PROTECTED.iter().flat_map(|class| self.call.tables.library().places().get(class).iter());
        let files = classes.flat_map(|place| place.paths().iter()).filter_map(file);
        self.call.world.guard().into_iter().chain(files).collect()
    }

    /// Returns `Unknown` if the name of a protected file begins with this prefix.
    pub(super) fn begins_guard(&self, beginning: &str) -> Ternary {
        let begins = self.protected_files().iter().any(|file| file.starts_with(beginning));
        if begins { Ternary::Unknown } else { Ternary::No }
    }

    pub(super) fn is_protected_path(&self, path: &str) -> bool {
        let in_home = || is_within(path, &self.call.event.home) || !is_within(path, &self.call.event.workspace);
        self.call.world.guard().iter().any(|file| is_within(path, file))
            || in_home() && PROTECTED.iter().any(|class| self.call.in_class(class, path))
    }
}
