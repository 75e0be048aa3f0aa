//! Which fact a word asks for.

use super::cache::{Facts, truth};
use super::git::comes_from_elsewhere;
use super::git::untracked_kind;
use super::replaced::Lost;
use crate::facts::switches::Change;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::session::RemnantKind;
use crate::model::truth::Ternary;
use crate::model::world::Untracked;

/// More questions than these are not listed: nobody reads on, and a call may have tens of thousands of targets.
const MAX_ASKED: usize = 1000;

impl Facts<'_> {
    /// A fact of this name about the target, or about the effect as a whole.
    pub fn fact(&self, effect: &Effect, target: Option<&Target>, name: &str) -> Ternary {
        let truth = self.ask(effect, target, name);
        if self.asked.borrow().lines.len() >= MAX_ASKED {
            return truth;
        }
        // The words and targets of a call stay where they are while it is judged.
        let place = target.map_or(0, |target| std::ptr::from_ref(target) as usize);
        if self.told.borrow_mut().insert((name.as_ptr() as usize, place)) {
            let about = target.map_or(String::new(), |target| format!(" {}", target.shown()));
            let line = format!("{name}{about}: {}", truth.name());
            let mut asked = self.asked.borrow_mut();
            if asked.known.insert(line.clone()) {
                asked.lines.push(line);
            }
        }
        truth
    }

    pub(super) fn ask(&self, effect: &Effect, target: Option<&Target>, name: &str) -> Ternary {
        let folder = self.folder_of(effect, target);
        match name {
            "stashes" if self.stashes_first() => Ternary::Yes,
            "stashes" => truth(self.world.stashes(&folder).map(|count| count > 0)),
            "unreadable" => self.is_unreadable(effect, target),
            "protected-branch" => self.is_protected(&folder, target),
            "production" => Ternary::from(self.is_production(&self.pointed(effect))),
            "local" => Ternary::from(self.is_local(&self.pointed(effect))),
            "unmerged" => self.is_unmerged(&folder, target),
            "fetched" => Ternary::from(self.was_fetched(&self.started_in(effect, target).unwrap_or(folder))),
            "orders-heard" => Ternary::from(self.is_tainted()),
            "writes-guard" => {
                Ternary::from(target.is_some_and(|target| self.writes_guard(effect, target) == Ternary::Yes))
            }
            "may-write-guard" => {
                Ternary::from(target.is_some_and(|target| self.writes_guard(effect, target) == Ternary::Unknown))
            }
            "hooks-off" => truth(target.map(|target| self.hooks(effect, target) == Change::Off)),
            "guard-put-away" => target.map_or(Ternary::Unknown, |target| self.puts_guard_away(effect, target)),
            "hooks-kept" => truth(target.map(|target| self.hooks(effect, target) == Change::Beside)),
            "agent-variable" => Ternary::from(self.takes_mark_off(effect, target)),
            "reaches-unread" => Ternary::from(self.reaches_unread(effect)),
            "secret-seen" => Ternary::from(self.past().iter().any(|known| known.kind == RemnantKind::Seen)),
            _ => match target.filter(|target| target.path().is_some()) {
                Some(target) => self.file_fact(effect, target, name),
                None => Ternary::Unknown,
            },
        }
    }

    pub(super) fn folder_of(&self, effect: &Effect, target: Option<&Target>) -> String {
        let lies = target.and_then(Target::path).map(str::to_owned);
        lies.or_else(|| effect.folder.clone()).unwrap_or_else(|| self.event.cwd.clone())
    }

    /// The folder that an agent is told to work in: its target is no path of the effect's.
    pub(super) fn started_in(&self, effect: &Effect, target: Option<&Target>) -> Option<String> {
        let target = target.filter(|_| effect.flags.contains(&"with-directory"))?;
        self.lexical(&target.value, effect)
    }

    pub(super) fn file_fact(&self, effect: &Effect, target: &Target, name: &str) -> Ternary {
        let real = self.real(effect, target);
        let path = &*self.meant(effect, &real);
        match name {
            // `git checkout WORD` takes a commit if there is one of that name, else the file.
            "uncommitted" if effect.flags.contains(&"word") && self.is_commit(&real.path, target) => Ternary::No,
            "exists" => truth(real.exists),
            "tracked" => truth(self.world.is_tracked(path)),
            "ignored" => truth(self.world.is_ignored(path)),
            "new-secret" => self.is_new_secret(effect, target, path),
            "regenerable" => self.is_regenerable(path),
            "uncommitted" if effect.kind == EffectKind::DiscardChanges && !comes_from_elsewhere(effect) => {
                self.names(self.world.unstaged(path), target)
            }
            "uncommitted" => self.names(self.uncommitted(effect, path), target),
            "untracked" => self.loose(effect, target, &real, untracked_kind(effect)),
            "ignored-data" => self.loose(effect, target, &real, Untracked::Ignored),
            "from-before" => truth(self.is_from_before(path)),
            "replaces-data" => self.replaces(effect, target, Lost::Data),
            "replaces-work" => self.replaces(effect, target, Lost::Work),
            _ => Ternary::Unknown,
        }
    }
}
