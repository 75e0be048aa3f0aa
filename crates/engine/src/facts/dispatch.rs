//! Maps each fact to its query.

use super::cache::{Facts, truth};
use super::git::untracked_kind;
use super::replaced::Lost;
use crate::facts::fact::Fact;
use crate::facts::switches::Change;
use crate::model::effect::{Effect, EffectKind, Id, Target};
use crate::model::session::RemnantKind;
use crate::model::truth::Ternary;
use crate::model::world::Untracked;

/// Maximum number of queries that are listed; a call may have tens of thousands of targets.
const MAX_ASKED: usize = 1000;

impl Facts<'_> {
    /// Returns the value of a fact about the target, or about the effect without a target.
    pub fn fact(&self, effect: &Effect, target: Option<&Target>, fact: Fact) -> Ternary {
        let truth = self.ask(effect, target, fact);
        if self.asked.borrow().lines.len() >= MAX_ASKED {
            return truth;
        }
        let id = target.map_or(Id::default(), |target| target.id);
        if self.recorded.borrow_mut().insert((fact, id)) {
            let about = target.map_or(String::new(), |target| format!(" {}", target.shown()));
            let line = format!("{}{about}: {}", fact.name(), truth.name());
            let mut asked = self.asked.borrow_mut();
            if asked.known.insert(line.clone()) {
                asked.lines.push(line);
            }
        }
        truth
    }

    pub(super) fn ask(&self, effect: &Effect, target: Option<&Target>, fact: Fact) -> Ternary {
        let folder = self.folder_of(effect, target);
        match fact {
            Fact::Stashes if self.stashes_first() => Ternary::Yes,
            Fact::Stashes => truth(self.world.stashes(&folder).map(|count| count > 0)),
            Fact::Unreadable => self.is_unreadable(effect, target),
            Fact::ProtectedBranch => self.is_protected(&folder, target),
            Fact::Production => Ternary::from(self.is_production(&self.pointed(effect))),
            Fact::Local => Ternary::from(self.is_local(effect)),
            Fact::Unmerged => self.is_unmerged(effect, &folder, target),
            Fact::Fetched => Ternary::from(self.was_fetched(&self.started_in(effect, target).unwrap_or(folder))),
            Fact::InjectionSeen => Ternary::from(self.is_tainted()),
            Fact::WritesGuard => {
                Ternary::from(target.is_some_and(|target| self.writes_guard(effect, target) == Ternary::Yes))
            }
            Fact::MayWriteGuard => {
                Ternary::from(target.is_some_and(|target| self.writes_guard(effect, target) == Ternary::Unknown))
            }
            Fact::GivenGuard => Ternary::from(target.is_some_and(|target| self.is_given_guard(effect, target))),
            Fact::HooksOff => truth(target.map(|target| self.hooks(effect, target) == Change::Off)),
            Fact::GuardPutAway => target.map_or(Ternary::Unknown, |target| self.puts_guard_away(effect, target)),
            Fact::HooksKept => truth(target.map(|target| self.hooks(effect, target) == Change::Beside)),
            Fact::AgentVariable => Ternary::from(self.takes_mark_off(effect, target)),
            Fact::ReachesUnread => Ternary::from(self.reaches_unread(effect)),
            Fact::WebFramework => Ternary::from(self.is_web_framework(effect)),
            Fact::Listed => self.is_listed(effect, target),
            Fact::SecretSeen => Ternary::from(self.past().iter().any(|known| known.kind == RemnantKind::Seen)),
            Fact::Exists
            | Fact::Unseen
            | Fact::Tracked
            | Fact::Ignored
            | Fact::NewSecret
            | Fact::Regenerable
            | Fact::Uncommitted
            | Fact::Untracked
            | Fact::IgnoredData
            | Fact::FromBefore
            | Fact::ReplacesData
            | Fact::ReplacesWork
            | Fact::ChangesWork
            | Fact::OnlyCopy => match target.filter(|target| target.path().is_some()) {
                Some(target) => self.file_fact(effect, target, fact),
                None => Ternary::Unknown,
            },
        }
    }

    pub(super) fn folder_of(&self, effect: &Effect, target: Option<&Target>) -> String {
        let lies = target.and_then(Target::path).map(str::to_owned);
        lies.or_else(|| effect.folder.clone()).unwrap_or_else(|| self.event.cwd.clone())
    }

    /// Returns the folder that an agent is started in; its target is not a path of the effect.
    pub(super) fn started_in(&self, effect: &Effect, target: Option<&Target>) -> Option<String> {
        let target = target.filter(|_| effect.flags.contains(&"with-directory"))?;
        self.lexical(&target.value, effect)
    }

    pub(super) fn file_fact(&self, effect: &Effect, target: &Target, fact: Fact) -> Ternary {
        let real = self.real(effect, target);
        let path = &*self.meant(effect, &real);
        match fact {
            // `git checkout WORD` selects a commit if one has that name, else the file.
            Fact::Uncommitted if effect.flags.contains(&"word") && self.is_commit(effect, &target.value) => Ternary::No,
            Fact::Uncommitted if effect.flags.contains(&"switch") && !self.is_switch(effect) => Ternary::No,
            Fact::Exists => truth(real.exists),
            Fact::Unseen => Ternary::from(real.exists.is_none()),
            Fact::Tracked => truth(self.world.is_tracked(path)),
            Fact::Ignored => truth(self.world.is_ignored(path)),
            Fact::NewSecret => self.is_new_secret(effect, target, path),
            Fact::Regenerable => self.is_regenerable(path),
            Fact::Uncommitted => {
                let is_index = effect.kind == EffectKind::DiscardChanges && !self.comes_from_elsewhere(effect);
                let found =
                    |path: &str| if is_index { self.world.unstaged(path) } else { self.uncommitted(effect, path) };
                self.names(self.in_each(self.discarded_at(effect, target, &real), &found), target)
            }
            Fact::Untracked => self.loose(effect, target, &real, untracked_kind(effect)),
            Fact::IgnoredData => self.loose(effect, target, &real, Untracked::Ignored),
            Fact::FromBefore => truth(self.is_from_before(path)),
            Fact::ReplacesData => self.replaces(effect, target, Lost::Data),
            Fact::ReplacesWork => self.replaces(effect, target, Lost::Work),
            Fact::ChangesWork => self.replaces(effect, target, Lost::Untouched),
            Fact::OnlyCopy => self.is_only_copy_of(&real),
            // `ask` answers facts that do not concern files.
            Fact::AgentVariable
            | Fact::ReachesUnread
            | Fact::WebFramework
            | Fact::Unreadable
            | Fact::WritesGuard
            | Fact::MayWriteGuard
            | Fact::GivenGuard
            | Fact::GuardPutAway
            | Fact::HooksOff
            | Fact::HooksKept
            | Fact::Fetched
            | Fact::Listed
            | Fact::InjectionSeen
            | Fact::SecretSeen
            | Fact::Production
            | Fact::Local
            | Fact::Stashes
            | Fact::ProtectedBranch
            | Fact::Unmerged => Ternary::Unknown,
        }
    }
}
