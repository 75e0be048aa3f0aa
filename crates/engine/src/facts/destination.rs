//! The destination of an effect's command: production, this machine, or another.

use super::call::Call;
use super::connection::{self, Pointed};
use super::memo::Memo;
use crate::model::effect::{Effect, EffectKind};
use crate::model::event::Action;
use crate::text::sql;
use reflex_shell::{Command, ExecTarget};
use std::borrow::Cow;
use std::rc::Rc;

/// Maximum number of nested commands whose settings are examined.
const MAX_WRAPPERS: usize = 16;

/// The destinations of commands.
#[derive(Clone, Copy)]
pub(crate) struct ConnectionFacts<'f> {
    pub(super) call: &'f Call<'f>,
    /// The destination of each effect's command.
    pub(super) pointed: &'f Memo<Pointed>,
}

impl ConnectionFacts<'_> {
    /// Returns the known destination of the effect's command.
    pub(crate) fn pointed(&self, effect: &Effect) -> Rc<Pointed> {
        self.pointed.get(effect.id, || Rc::new(self.find_pointed(effect)))
    }

    fn find_pointed(&self, effect: &Effect) -> Pointed {
        let Some(reading) = self.call.analysis.reading(effect) else { return Pointed::default() };
        let command = |id: Option<usize>| reading.commands.get(id?);
        let commands: Vec<_> =
            std::iter::successors(command(effect.command), |inner| command(inner.parent)).take(MAX_WRAPPERS).collect();
        let effects = &self.call.analysis.effects;
        let at = effect.id.index().unwrap_or(effects.len());
        // Effects that set variables come after those of the commands, in an order of their own.
        let sets = |other: &&Effect| {
            let (set, used) = (other.origin, effect.origin);
            other.kind == EffectKind::SetVariable
                && (set.derivation != used.derivation || set.span.start <= used.span.start)
        };
        let (earlier, later) = effects.split_at_checked(at).unwrap_or((effects, &[]));
        let before = earlier.iter().chain(later.iter().filter(sets)).take(connection::MAX_EFFECTS + 1).collect();
        let is_test = |text: &str| self.call.in_class("test-name", text);
        let text = connection::Text { event: self.call.event, world: self.call.world, before, is_test: &is_test };
        let mut pointed = text.pointed(effect.site, &commands);
        pointed.names.extend(statement(effect).into_iter().flat_map(|text| sql::dropped_databases(&text)));
        pointed
    }

    /// Whether the command acts on production.
    pub(super) fn is_production(&self, effect: &Effect) -> bool {
        self.in_production(&self.pointed(effect)).is_some()
    }

    /// Returns the host, database or namespace that identifies the destination as production.
    pub(crate) fn production_name(&self, effect: &Effect) -> Option<String> {
        self.in_production(&self.pointed(effect)).cloned()
    }

    fn in_production<'p>(&self, pointed: &'p Pointed) -> Option<&'p String> {
        let is_production =
            |name: &&String| name.split(['/', ':']).any(|part| self.call.in_class("production-name", part));
        pointed.hosts.iter().chain(&pointed.names).find(is_production)
    }

    /// Whether the call itself created all databases that the effect concerns: `createdb x && … && dropdb x`. This
    /// holds only if the drop depends on the creation, and if both use the default server.
    fn is_made_before(&self, effect: &Effect, pointed: &Pointed) -> bool {
        // A variable may select another server or another program.
        let sets = |other: &Effect| other.kind == EffectKind::SetVariable && other.action == effect.action;
        let is_plain = effect.site == ExecTarget::Here && effect.script.is_none() && pointed.hosts.is_empty();
        if !is_plain || self.call.analysis.effects.iter().any(sets) {
            return false;
        }
        let Some(reading) = self.call.analysis.reading(effect) else { return false };
        let Some(Action::Shell { command: text, .. }) = self.call.event.actions.get(effect.action) else {
            return false;
        };
        let sql_text = self.statement_in_word(effect).unwrap_or_default();
        let statement = sql::dropped_databases(&sql_text);
        let of_targets = || effect.targets.iter().map(|target| target.value.shown().to_lowercase()).collect();
        let dropped: Vec<String> = match (effect.kind == EffectKind::Sql, statement.is_empty()) {
            (true, false) => statement,
            (true, true) => pointed.names.clone(),
            (false, _) => of_targets(),
        };
        let start = effect.origin.span.start;
        let leads = |(_, command): &(usize, &Command)| {
            let after = text.get(command.origin.span.end as usize..).unwrap_or("").trim_start();
            command.origin.span.end <= start && after.trim_start_matches(['\'', '"']).trim_start().starts_with("&&")
        };
        let commands = reading.commands.iter().enumerate().filter(leads);
        let before = commands.flat_map(|(id, command)| self.databases_made(effect.action, id, command));
        let first = sql_text.split("drop ").next().unwrap_or("");
        let made: Vec<String> = before.chain(sql::created_databases(first)).collect();
        !dropped.is_empty() && dropped.iter().all(|name| made.contains(name))
    }

    /// Returns the databases that a command creates on the default server; the command fails if it cannot create them:
    /// `createdb NAME`, `mysqladmin create NAME`, `psql -c 'CREATE DATABASE NAME'`.
    fn databases_made(&self, action: usize, id: usize, command: &Command) -> Vec<String> {
        let words: Vec<String> = command.words.iter().skip(1).map(|word| word.shown().to_lowercase()).collect();
        let names_place = |word: &String| {
            ["-h", "--host", "-f", "--force"].iter().any(|flag| word.starts_with(flag)) || word.contains("://")
        };
        let is_by_name = command.words.first().is_some_and(|first| first.shown() == command.name);
        let is_plain = command.site == ExecTarget::Here && command.assignments.is_empty() && is_by_name;
        if !is_plain || words.iter().any(names_place) {
            return Vec::new();
        }
        match command.name.as_str() {
            "createdb" => words.last().filter(|word| !word.starts_with('-')).cloned().into_iter().collect(),
            "mysqladmin" | "mariadb-admin" => {
                words.iter().skip_while(|word| *word != "create").nth(1).cloned().into_iter().collect()
            }
            _ => {
                let of_command = |effect: &&Effect| {
                    (effect.action, effect.script, effect.command) == (action, None, Some(id))
                        && effect.kind == EffectKind::Sql
                };
                // For several statements, a client's exit status reflects only the last one.
                let mut effects = self.call.analysis.effects.iter().filter(of_command);
                let only = effects.next().filter(|_| effects.next().is_none());
                let text = only.and_then(|effect| self.statement_in_word(effect)).unwrap_or_default();
                sql::created_databases(&text)
            }
        }
    }

    /// Returns the statement of an effect in lower case, if it is a word of the command. A client continues after an
    /// error in a file or in its standard input.
    fn statement_in_word(&self, effect: &Effect) -> Option<String> {
        let text = statement(effect)?;
        let command = self.call.analysis.command(effect)?;
        let is_word = command.words.iter().any(|word| word.literal().is_some_and(|word| word.ends_with(&*text)));
        is_word.then(|| text.to_lowercase())
    }

    /// Whether the destination is this machine. Every host must be this machine: a project's settings for one host
    /// prove nothing about another.
    ///
    /// A database in a container has the data of its volume; a container on this machine does not make that data
    /// disposable.
    pub(super) fn is_local(&self, effect: &Effect) -> bool {
        let pointed = self.pointed(effect);
        let here = pointed.hosts.iter().all(|name| self.call.in_class("local-name", name));
        if !here || pointed.unclear || self.in_production(&pointed).is_some() {
            return false;
        }
        if self.is_made_before(effect, &pointed) {
            return true;
        }
        let statement = statement(effect).map(|text| sql::dropped_databases(&text)).unwrap_or_default();
        let is = |name: &String| self.call.in_class("test-name", name);
        let is_test = || match statement.as_slice() {
            [] => pointed.hosts.iter().chain(&pointed.names).any(is),
            dropped => dropped.iter().all(is),
        };
        // A namespace of that name may be in any cluster; only a database client uses this machine by default.
        let talks_here = matches!(effect.kind, EffectKind::DestroyDatabase | EffectKind::Sql);
        let kept_elsewhere = effect.site != ExecTarget::Here && talks_here;
        match pointed.hosts.is_empty() {
            true => talks_here && is_test(),
            false => !kept_elsewhere || is_test(),
        }
    }
}

/// Returns the statement that a database executes, if known.
fn statement(effect: &Effect) -> Option<Cow<'_, str>> {
    effect.argument.as_ref().filter(|_| effect.kind == EffectKind::Sql)?.literal()
}
