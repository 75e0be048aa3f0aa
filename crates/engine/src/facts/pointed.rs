//! Where an effect's command points: to production, to this machine, or elsewhere.

use super::cache::Facts;
use crate::facts::connection::{self, Pointed};
use crate::model::effect::{Effect, EffectKind};
use crate::model::event::Action;
use crate::text::sql;
use reflex_shell::{Command, ExecTarget};
use std::borrow::Cow;
use std::rc::Rc;

/// Commands that run a command that runs a command: more are not looked at for what they set.
const MAX_WRAPPERS: usize = 16;

impl Facts<'_> {
    /// What the effect's command points to, so far as that is known.
    pub(crate) fn pointed(&self, effect: &Effect) -> Rc<Pointed> {
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
        let is_test = |text: &str| self.in_class("test-name", text);
        let text = connection::Text { event: self.event, world: self.world, before, is_test: &is_test };
        let mut pointed = text.pointed(effect.site, &commands);
        pointed.names.extend(statement(effect).into_iter().flat_map(|text| sql::dropped_databases(&text)));
        pointed
    }

    pub(super) fn is_production(&self, pointed: &Pointed) -> bool {
        self.in_production(pointed).is_some()
    }

    /// The host, database or namespace by which an effect's command points to production.
    pub(crate) fn production_name(&self, effect: &Effect) -> Option<String> {
        self.in_production(&self.pointed(effect)).cloned()
    }

    fn in_production<'p>(&self, pointed: &'p Pointed) -> Option<&'p String> {
        let is_production = |name: &&String| name.split(['/', ':']).any(|part| self.in_class("production-name", part));
        pointed.hosts.iter().chain(&pointed.names).find(is_production)
    }

    /// Whether all databases that the effect is about were made by the call itself: `createdb x && … && dropdb x`.
    /// A command that runs whether or not the making worked may meet an older database.
    fn is_made_before(&self, effect: &Effect, pointed: &Pointed) -> bool {
        let told = statement(effect).map(Cow::into_owned).unwrap_or_default().to_lowercase();
        let statement = sql::dropped_databases(&told);
        let of_targets = || effect.targets.iter().map(|target| target.value.shown().to_lowercase()).collect();
        let dropped: Vec<String> = match (effect.kind == EffectKind::Sql, statement.is_empty()) {
            (true, false) => statement,
            (true, true) => pointed.names.clone(),
            (false, _) => of_targets(),
        };
        let Some(reading) = self.analysis.reading(effect).filter(|_| effect.script.is_none()) else { return false };
        let Some(Action::Shell { command: text, .. }) = self.event.actions.get(effect.action) else { return false };
        let own = effect.origin.span.start;
        let leads = |command: &&Command| {
            let behind = text.get(command.origin.span.end as usize..).unwrap_or("").trim_start();
            command.origin.span.end <= own && behind.trim_start_matches(['\'', '"']).trim_start().starts_with("&&")
        };
        let before = reading.commands.iter().filter(leads).flat_map(databases_made);
        let first = told.split("drop ").next().unwrap_or("");
        let made: Vec<String> = before.chain(sql::created_databases(first)).collect();
        !dropped.is_empty() && dropped.iter().all(|name| made.contains(name))
    }

    /// Every host must be this machine: what a project's files say of one proves nothing about another.
    ///
    /// A database in a container has whatever data its volume has: that the container runs here makes it nobody's.
    pub(super) fn is_local(&self, effect: &Effect) -> bool {
        let pointed = self.pointed(effect);
        let here = pointed.hosts.iter().all(|name| self.in_class("local-name", name));
        if self.is_production(&pointed) {
            return false;
        }
        if self.is_made_before(effect, &pointed) {
            return true;
        }
        if !here || pointed.unclear {
            return false;
        }
        let statement = statement(effect).map(|text| sql::dropped_databases(&text)).unwrap_or_default();
        let is = |name: &String| self.in_class("test-name", name);
        let is_test = || match statement.as_slice() {
            [] => pointed.hosts.iter().chain(&pointed.names).any(is),
            dropped => dropped.iter().all(is),
        };
        // A namespace of that name may lie in any cluster; only a database's program talks to this machine by itself.
        let talks_here = matches!(effect.kind, EffectKind::DestroyDatabase | EffectKind::Sql);
        let kept_elsewhere = effect.site != ExecTarget::Here && talks_here;
        match pointed.hosts.is_empty() {
            true => talks_here && is_test(),
            false => !kept_elsewhere || is_test(),
        }
    }
}

/// The databases that a command makes: `createdb NAME`, `mysqladmin create NAME`, `psql -c 'CREATE DATABASE NAME'`.
fn databases_made(command: &Command) -> Vec<String> {
    let words: Vec<String> = command.words.iter().skip(1).map(|word| word.shown().to_lowercase()).collect();
    match command.name.as_str() {
        "createdb" => words.last().filter(|word| !word.starts_with('-')).cloned().into_iter().collect(),
        "mysqladmin" | "mariadb-admin" => {
            words.iter().skip_while(|word| *word != "create").nth(1).cloned().into_iter().collect()
        }
        _ => words.iter().flat_map(|word| sql::created_databases(word)).collect(),
    }
}

/// What a database is told, where that is known.
fn statement(effect: &Effect) -> Option<Cow<'_, str>> {
    effect.argument.as_ref().filter(|_| effect.kind == EffectKind::Sql)?.literal()
}
