//! Where an effect's command points: to production, to this machine, or elsewhere.

use super::cache::Facts;
use crate::facts::connection::{self, Pointed};
use crate::model::effect::{Effect, EffectKind};
use std::rc::Rc;

/// Commands that run a command that runs a command: more are not looked at for what they set.
const MAX_WRAPPERS: usize = 16;

impl Facts<'_> {
    /// What the effect's command points to, so far as that is known.
    pub(super) fn pointed(&self, effect: &Effect) -> Rc<Pointed> {
        self.pointed.get(effect.id, || self.find_pointed(effect))
    }

    pub(super) fn find_pointed(&self, effect: &Effect) -> Pointed {
        let Some(reading) = self.analysis.reading(effect) else { return Pointed::default() };
        let command = |id: Option<usize>| reading.commands.get(id?);
        let commands: Vec<_> =
            std::iter::successors(command(effect.command), |inner| command(inner.parent)).take(MAX_WRAPPERS).collect();
        let effects = &self.analysis.effects;
        let at = effect.id.index().unwrap_or(effects.len());
        // What sets variables stands behind the commands, in its own order.
        let sets = |other: &&Effect| {
            let (set, used) = (other.origin, effect.origin);
            other.kind == EffectKind::SetVariable
                && (set.derivation != used.derivation || set.span.start <= used.span.start)
        };
        let (earlier, later) = effects.split_at_checked(at).unwrap_or((effects, &[]));
        let before = earlier.iter().chain(later.iter().filter(sets)).take(connection::MAX_EFFECTS + 1).collect();
        connection::Text { event: self.event, world: self.world, before }.pointed(effect.site, &commands)
    }

    pub(super) fn is_production(&self, pointed: &Pointed) -> bool {
        let parts = pointed.hosts.iter().chain(&pointed.names).flat_map(|name| name.split(['/', ':']));
        parts.map(str::to_owned).any(|name| self.in_class("production-name", &name))
    }

    /// Every host must be this machine: what a project's files say of one proves nothing about another.
    pub(super) fn is_local(&self, pointed: &Pointed) -> bool {
        let here = pointed.hosts.iter().all(|name| self.in_class("local-name", name));
        here && !pointed.unclear && !pointed.hosts.is_empty() && !self.is_production(pointed)
    }
}
