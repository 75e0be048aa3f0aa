//! Maps each fact to the source that answers it: the top of the facts.

use super::at_stake::StakeFacts;
use super::cache::Facts;
use super::classes::ClassFacts;
use super::destination::ConnectionFacts;
use super::fact::Fact;
use super::git::{FileTarget, GitFacts};
use super::guard::GuardFacts;
use super::guard_writes::GuardWriteFacts;
use super::hooks::SettingsFacts;
use super::landed::CopyFacts;
use super::listed::PackageFacts;
use super::programs::ProgramFacts;
use super::regenerable::BuildFacts;
use super::replaced::{LossFacts, Lost};
use super::session::SessionFacts;
use super::switches::Change;
use super::user_facts::UserFacts;
use super::writes_below::TreeFacts;
use crate::model::effect::{Effect, Target};
use crate::model::finding::Finding;
use crate::model::truth::Ternary;
use crate::model::verdict::AtStake;
use crate::model::world::ResolvedPath;

/// The sources. A source gets those that it calls.
impl Facts<'_> {
    pub(crate) fn session(&self) -> SessionFacts<'_> {
        SessionFacts { call: &self.call }
    }

    pub(crate) fn builds(&self) -> BuildFacts<'_> {
        BuildFacts { call: &self.call, memo: &self.builds }
    }

    pub(crate) fn connections(&self) -> ConnectionFacts<'_> {
        ConnectionFacts { call: &self.call, pointed: &self.pointed }
    }

    pub(crate) fn trees(&self) -> TreeFacts<'_> {
        TreeFacts { call: &self.call, copies: self.copies() }
    }

    pub(crate) fn git(&self) -> GitFacts<'_> {
        GitFacts { call: &self.call, builds: self.builds() }
    }

    pub(crate) fn classes(&self) -> ClassFacts<'_> {
        ClassFacts { call: &self.call, guard: self.guard(), generated: &self.generated }
    }

    /// The facts for the rules and policies that people write.
    pub(crate) fn user(&self) -> UserFacts<'_> {
        UserFacts { call: &self.call }
    }

    fn copies(&self) -> CopyFacts<'_> {
        CopyFacts { call: &self.call, buried: &self.buried }
    }

    fn guard(&self) -> GuardFacts<'_> {
        GuardFacts { call: &self.call }
    }

    fn guard_writes(&self) -> GuardWriteFacts<'_> {
        GuardWriteFacts { call: &self.call, guard: self.guard(), trees: self.trees(), session: self.session() }
    }

    fn programs(&self) -> ProgramFacts<'_> {
        ProgramFacts { call: &self.call, session: self.session(), builds: self.builds() }
    }

    fn packages(&self) -> PackageFacts<'_> {
        PackageFacts { call: &self.call }
    }

    fn settings(&self) -> SettingsFacts<'_> {
        SettingsFacts { call: &self.call, git: self.git() }
    }

    fn losses(&self) -> LossFacts<'_> {
        LossFacts {
            call: &self.call,
            session: self.session(),
            builds: self.builds(),
            copies: self.copies(),
            trees: self.trees(),
        }
    }

    fn stakes(&self) -> StakeFacts<'_> {
        StakeFacts {
            call: &self.call,
            builds: self.builds(),
            git: self.git(),
            copies: self.copies(),
            losses: self.losses(),
        }
    }
}

impl Facts<'_> {
    /// Returns the value of a fact about the target, or about the effect without a target.
    pub fn fact(&self, effect: &Effect, target: Option<&Target>, fact: Fact) -> Ternary {
        let truth = self.ask(effect, target, fact);
        self.record(fact, target, truth);
        truth
    }

    fn ask(&self, effect: &Effect, target: Option<&Target>, fact: Fact) -> Ternary {
        let of_file = |answer: &dyn Fn(&FileTarget<'_>) -> Ternary| self.of_file(effect, target, answer);
        match fact {
            // The session.
            Fact::InjectionSeen => Ternary::from(self.call.is_tainted()),
            Fact::SecretSeen => Ternary::from(self.session().has_shown_secret()),
            Fact::Fetched => Ternary::from(self.session().was_fetched(effect, target)),
            Fact::FromBefore => of_file(&|file| Ternary::from(self.session().is_from_before(file.path()))),
            // The file itself.
            Fact::Exists => of_file(&|file| Ternary::from(file.real().exists)),
            Fact::Unseen => of_file(&|file| Ternary::from(file.real().exists.is_none())),
            Fact::Regenerable => of_file(&|file| self.builds().is_regenerable(file.path())),
            // The repository.
            Fact::Tracked => of_file(&|file| Ternary::from(self.call.world.is_tracked(file.path()))),
            Fact::Ignored => of_file(&|file| Ternary::from(self.call.world.is_ignored(file.path()))),
            Fact::NewSecret => of_file(&|file| self.are_lost(self.git().new_secrets(file))),
            Fact::Uncommitted => of_file(&|file| self.are_lost(self.git().uncommitted_changes(file))),
            Fact::Untracked => of_file(&|file| self.are_lost(self.git().untracked_files(file))),
            Fact::IgnoredData => of_file(&|file| self.are_lost(self.git().ignored_files(file))),
            Fact::Unmerged => self.are_lost(self.git().lost_commits(effect, target)),
            Fact::Unreadable => self.is_defect(self.git().unreadable(effect, target)),
            Fact::Stashes => self.git().has_stashes(effect, target),
            Fact::ProtectedBranch => self.git().is_protected(effect, target),
            // Content without another copy.
            Fact::ReplacesData => of_file(&|file| self.are_lost(self.losses().replaced(file, Lost::Data))),
            Fact::ReplacesWork => of_file(&|file| self.are_lost(self.losses().replaced(file, Lost::Work))),
            Fact::ChangesWork => of_file(&|file| self.are_lost(self.losses().replaced(file, Lost::Untouched))),
            Fact::OnlyCopy => of_file(&|file| self.are_lost(self.losses().only_copy(file.real()))),
            // Databases, clusters and packages.
            Fact::Production => Ternary::from(self.connections().is_production(effect)),
            Fact::Local => Ternary::from(self.connections().is_local(effect)),
            Fact::Listed => self.packages().is_listed(effect, target),
            // Programs.
            Fact::ReachesUnread => Ternary::from(self.programs().reaches_unread(effect)),
            Fact::WebFramework => Ternary::from(self.programs().is_web_framework(effect)),
            Fact::AgentVariable => Ternary::from(self.programs().takes_mark_off(effect, target)),
            // The guard and the hooks of agents.
            Fact::WritesGuard => Ternary::from(self.guard_writes().writes_guard(effect, target) == Ternary::Yes),
            Fact::MayWriteGuard => Ternary::from(self.guard_writes().writes_guard(effect, target) == Ternary::Unknown),
            Fact::GivenGuard => Ternary::from(self.guard_writes().is_given_guard(effect, target)),
            Fact::GuardPutAway => self.settings().puts_guard_away(effect, target),
            Fact::HooksOff => self.settings().hooks_are(Change::Off, effect, target),
            Fact::HooksKept => self.settings().hooks_are(Change::Beside, effect, target),
        }
    }

    /// Answers a fact about a file; it is unknown for a target that is not a path.
    fn of_file(
        &self,
        effect: &Effect,
        target: Option<&Target>,
        answer: &dyn Fn(&FileTarget<'_>) -> Ternary,
    ) -> Ternary {
        match target.filter(|target| target.path().is_some()) {
            Some(target) => answer(&self.git().file(effect, target)),
            None => Ternary::Unknown,
        }
    }

    /// Whether the target belongs to a class: a place, a property of its path, or a class of the library.
    pub fn is(&self, effect: &Effect, target: &Target, class: &str) -> Ternary {
        self.classes().is(effect, target, class)
    }

    /// Resolves the target. If a symlink itself is removed, moved or created, it is the target; otherwise it is
    /// followed.
    pub fn real(&self, effect: &Effect, target: &Target) -> ResolvedPath {
        self.call.real(effect, target)
    }

    /// Whether a tool keeps the path for its own use, as packages and caches, and makes it again.
    pub fn is_tools_own(&self, path: &str) -> bool {
        self.builds().is_tools_own(path)
    }

    /// Whether the loss that a finding reports can be copied first.
    pub(crate) fn can_be_kept(&self, finding: &Finding) -> bool {
        self.stakes().can_be_kept(finding)
    }

    /// Whether the loss that a finding reports is copied without a message.
    pub(crate) fn is_kept_silently(&self, finding: &Finding) -> bool {
        self.stakes().is_kept_silently(finding)
    }

    /// Returns the data that these findings report as lost.
    pub(crate) fn at_stake<'f>(&self, findings: impl Iterator<Item = &'f Finding>) -> AtStake {
        self.stakes().at_stake(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::analysis::Analysis;
    use crate::model::effect::TargetPath;
    use crate::model::event::Event;
    use crate::model::fake_world::FakeWorld;
    use reflex_shell::Value;
    use reflex_tables::Tables;

    #[test]
    fn a_fact_about_a_file_is_unknown_for_a_target_that_is_not_a_path() {
        let (event, analysis, world) = (Event::default(), Analysis::default(), FakeWorld::default());
        let facts = Facts::new(&event, &analysis, Tables::EMPTY, &world);
        let effect = Effect::configured(0, Vec::new(), "x");
        let target = Target::new(Value::text("x".to_owned(), effect.origin), TargetPath::None);
        for fact in [Fact::Exists, Fact::Tracked, Fact::Uncommitted, Fact::OnlyCopy] {
            assert_eq!(facts.fact(&effect, Some(&target), fact), Ternary::Unknown, "{}", fact.name());
            assert_eq!(facts.fact(&effect, None, fact), Ternary::Unknown, "{}", fact.name());
        }
    }
}
