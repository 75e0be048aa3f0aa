//! Whether a call writes the guard's files or the hooks of agents together with other files.

use super::call::Call;
use super::guard::GuardFacts;
use super::patterns::fixed_part;
use super::session::SessionFacts;
use super::writes_below::TreeFacts;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::truth::Ternary;

/// Writes that may reach the guard's files and the hooks of agents.
#[derive(Clone, Copy)]
pub(crate) struct GuardWriteFacts<'f> {
    pub(super) call: &'f Call<'f>,
    pub(super) guard: GuardFacts<'f>,
    pub(super) trees: TreeFacts<'f>,
    pub(super) session: SessionFacts<'f>,
}

impl GuardWriteFacts<'_> {
    /// Whether a tree that is written below the target contains a file of the guard or an agent's hook file, or
    /// replaces a folder above one. Unknown if the names are unknown and such a file is below the target.
    pub(super) fn writes_guard(&self, effect: &Effect, target: Option<&Target>) -> Ternary {
        let Some(target) = target else { return Ternary::No };
        if effect.kind == EffectKind::Overwrite && !effect.flags.contains(&"place") {
            return Ternary::No;
        }
        if target.path().is_none() {
            // For an unknown folder: names that would be the guard's below the home folder count as the guard's.
            let names =
                (effect.kind == EffectKind::Populate).then(|| self.trees.names_below(effect, None).known()).flatten();
            return Ternary::from(names.is_some_and(|names| self.guard.names_protected(&names, &self.call.event.home)));
        }
        let real = self.call.real(effect, target);
        let folder = fixed_part(&real.path);
        let absolute = effect.flags.contains(&"absolute");
        if effect.kind == EffectKind::Populate && self.guard.is_protected_path(folder) {
            return Ternary::Yes;
        }
        if effect.flags.contains(&"everywhere") {
            return Ternary::Unknown;
        }
        if effect.flags.contains(&"prefix") {
            return self.guard.begins_guard(folder);
        }
        if !absolute && !self.guard.is_above_guard(folder) {
            return Ternary::No;
        }
        let Some(names) = self.trees.names_below(effect, real.exists).known() else {
            return if self.guard.is_above_guard(folder) { Ternary::Unknown } else { Ternary::No };
        };
        Ternary::from(self.guard.names_protected(&names, folder))
    }

    /// Whether the target is a program that this session wrote and its arguments name a folder above a protected file.
    pub(super) fn is_given_guard(&self, effect: &Effect, target: Option<&Target>) -> bool {
        let program = target.and_then(Target::path);
        let Some((command, program)) = self.call.analysis.command(effect).zip(program) else { return false };
        let words = command.words.iter().skip(1).flat_map(|word| word.split(&['=']));
        let mut folders = words.filter_map(|word| self.call.lexical(&word, effect));
        folders.any(|folder| self.guard.is_above_guard(fixed_part(&folder))) && self.session.has_written(program)
    }
}
