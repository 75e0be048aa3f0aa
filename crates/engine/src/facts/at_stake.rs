//! The paths and repositories that a copy must cover so that a call loses nothing.
//!
//! A copy is all or nothing. An unknown target, a target that an earlier part of the call may create or change, or a
//! place on another system is an obstacle; the call is then asked about as if no copy were possible.

use super::call::Call;
use super::git::GitFacts;
use super::landed::CopyFacts;
use super::meaning::Pattern;
use super::regenerable::BuildFacts;
use super::replaced::LossFacts;
use crate::model::affected::Affected;
use crate::model::analysis::{Script, Starter, Usage};
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::finding::Finding;
use crate::model::obstacle::Obstacle;
use crate::model::path;
use crate::model::truth::Ternary;
use crate::model::verdict::{AtStake, RepositoryAtStake};
use crate::model::world::{Names, Untracked};
use reflex_shell::{Command, CommandId, ExecTarget, Reading, Value};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Maximum number of paths that are copied for one call.
const MAX_PATHS: usize = 2000;

/// Git commands that leave commits, the index and the work tree unchanged. `add` is not one of them, because `reset`
/// deletes the files that it has staged.
const LOOKING: [&str; 9] = ["status", "log", "diff", "show", "rev-parse", "ls-files", "fetch", "blame", "config"];

/// Git commands that, unless options direct otherwise, neither add files to the work tree nor remove any.
const KEEPING: [&str; 7] = ["add", "commit", "push", "rm", "mv", "branch", "tag"];

/// The `undo` value of a rule whose loss is copied without a message.
const SILENT: &str = "silent";

/// Endings of the files in which SQLite and DuckDB keep what is not yet in the database's own file.
const JOURNALS: [&str; 4] = ["-journal", "-wal", "-shm", ".wal"];

/// The kind of copy that a rule requires.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeping {
    /// A copy of the effect's targets.
    Files,
    /// A copy of the changes in the work tree, of the index and the refs.
    Repository,
}

/// The data that a copy must cover.
#[derive(Clone, Copy)]
pub(crate) struct StakeFacts<'f> {
    pub(super) call: &'f Call<'f>,
    pub(super) builds: BuildFacts<'f>,
    pub(super) git: GitFacts<'f>,
    pub(super) copies: CopyFacts<'f>,
    pub(super) losses: LossFacts<'f>,
}

impl StakeFacts<'_> {
    /// Whether the loss that a finding reports can be copied first.
    pub(crate) fn can_be_kept(&self, finding: &Finding) -> bool {
        self.keeping(finding).is_some()
    }

    /// Whether the loss that a finding reports is copied without a message.
    pub(crate) fn is_kept_silently(&self, finding: &Finding) -> bool {
        self.undo(finding) == Some(SILENT)
    }

    fn undo(&self, finding: &Finding) -> Option<&str> {
        let effect = self.call.analysis.effects.get(finding.effect?)?;
        let rules = self.call.tables.library().triggers().get(effect.kind.name());
        let rule = rules.iter().find(|rule| rule.id() == finding.id)?;
        Some(rule.undo())
    }

    fn keeping(&self, finding: &Finding) -> Option<Keeping> {
        match self.undo(finding)? {
            "files" | SILENT => Some(Keeping::Files),
            "repository" => Some(Keeping::Repository),
            _ => None,
        }
    }

    /// Returns the data that these findings report as lost.
    pub(crate) fn at_stake<'f>(&self, findings: impl Iterator<Item = &'f Finding>) -> AtStake {
        let mut at_stake = AtStake::default();
        for finding in findings {
            let effect = finding.effect.and_then(|index| self.call.analysis.effects.get(index));
            let (Some(effect), Some(keeping)) = (effect, self.keeping(finding)) else { continue };
            at_stake.is_elsewhere |= effect.site != ExecTarget::Here;
            if let Err(obstacle) = self.stake(effect, keeping, &mut at_stake) {
                at_stake.obstacle.get_or_insert(obstacle);
            }
        }
        if at_stake.obstacle.is_none() {
            self.moved_along(&mut at_stake);
        }
        at_stake.paths.sort();
        at_stake.paths.dedup();
        if at_stake.paths.is_empty() && at_stake.repositories.is_empty() {
            at_stake.obstacle.get_or_insert(Obstacle::Absent);
        }
        at_stake
    }

    fn stake(&self, effect: &Effect, keeping: Keeping, into: &mut AtStake) -> Result<(), Obstacle> {
        if effect.site != ExecTarget::Here {
            return Err(Obstacle::Elsewhere);
        }
        let Some(chain) = self.starts(place_of(effect)) else { return Err(Obstacle::Script) };
        if self.comes_after_opaque(effect, &chain, keeping) {
            return Err(Obstacle::EarlierPart);
        }
        match keeping {
            Keeping::Files => self.stake_files(effect, into),
            Keeping::Repository => self.stake_repository(effect, into),
        }?;
        if into.paths.len() > MAX_PATHS {
            return Err(Obstacle::TooManyFiles(into.paths.len()));
        }
        Ok(())
    }

    /// Whether an earlier part of the call may create or change arbitrary files: a program or task of unknown effect,
    /// or a git command that adds files. A file that it moves into the path of the deletion would be lost without a
    /// copy.
    fn comes_after_opaque(&self, effect: &Effect, chain: &[Starter], keeping: Keeping) -> bool {
        let precedes = |action: usize, one: Starter| match action.cmp(&effect.action) {
            Ordering::Less => true,
            Ordering::Equal => self.precedes(action, one, chain),
            Ordering::Greater => false,
        };
        let opaque = self.call.analysis.effects.iter().filter(|other| other.kind.is_opaque());
        let unknown = |reading: &'_ Reading| -> Vec<CommandId> {
            let commands = reading.commands.iter().enumerate();
            commands.filter(|(_, command)| is_unknown(command, keeping)).map(|(id, _)| id).collect()
        };
        let of_action = |(action, reading)| {
            unknown(reading).into_iter().any(|id| precedes(action, Starter { script: None, command: Some(id) }))
        };
        let of_script = |(index, script): (usize, &Script)| {
            let unclear = script.unclear.iter().copied().chain(unknown(&script.reading).into_iter().map(Some));
            unclear.map(|command| Starter { script: Some(index), command }).any(|one| precedes(script.action, one))
        };
        let scripts =
            self.call.analysis.scripts.iter().enumerate().filter(|(_, script)| script.usage != Usage::Written);
        opaque.map(|other| (other.action, place_of(other))).any(|(action, one)| precedes(action, one))
            || self.call.analysis.readings.iter().enumerate().any(of_action)
            || scripts.clone().any(of_script)
    }

    /// Returns the chain of positions of a command: its own, that of the command that starts its script, and so on up
    /// to the call's text. `None` if a position is unknown.
    fn starts(&self, mut place: Starter) -> Option<Vec<Starter>> {
        let mut starts = vec![place];
        while let Some(script) = place.script {
            place = self.call.analysis.scripts.get(script)?.starter?;
            starts.push(place);
        }
        Some(starts)
    }

    /// Whether a command may run before another one of its action; `chain` is the other's chain of positions.
    fn precedes(&self, action: usize, one: Starter, chain: &[Starter]) -> bool {
        let Some(starts) = self.starts(one) else { return true };
        // The innermost text that contains both.
        let common = starts.iter().enumerate().find_map(|(depth, one)| {
            let at = chain.iter().position(|starter| starter.script == one.script)?;
            Some((depth, one.command?, at, chain.get(at)?.command?))
        });
        let Some((depth, one, at, other_command)) = common else { return true };
        let Some(reading) = chain.get(at).and_then(|starter| self.call.analysis.reading_of(action, starter.script))
        else {
            return true;
        };
        let parent = |id: CommandId| reading.commands.get(id)?.parent;
        match one == other_command {
            // Two scripts of one command.
            true => depth > 0 && at > 0,
            // Commands that one program starts, such as two `-exec` of `find`, run in turns.
            false => {
                reading.may_run_before(one, other_command)
                    || parent(one).is_some() && parent(one) == parent(other_command)
            }
        }
    }

    fn stake_files(&self, effect: &Effect, into: &mut AtStake) -> Result<(), Obstacle> {
        for target in &effect.targets {
            for path in self.paths_of(effect, target).known().ok_or(Obstacle::UnknownFiles)? {
                plain(&path)?;
                let exists = self.call.world.real(&path, false).exists;
                if exists.ok_or(Obstacle::UnknownFiles)? && self.builds.is_regenerable(&path) != Ternary::Yes {
                    let is_database = effect.flags.contains(&"database");
                    let journals = JOURNALS.iter().filter(|_| is_database).map(|ending| format!("{path}{ending}"));
                    into.companions.extend(journals);
                    into.paths.push(path);
                }
            }
        }
        // Both also change the index, and restoring only the files would leave it changed.
        let is_indexed = |command: &Command| command.name == "git" && matches!(subcommand(command), Some("mv" | "rm"));
        if self.call.analysis.command(effect).is_some_and(is_indexed) {
            let folder = self.repository_here(effect)?;
            if !into.repositories.iter().any(|known| known.folder == folder) {
                into.repositories.push(RepositoryAtStake { folder, ..RepositoryAtStake::default() });
            }
        }
        Ok(())
    }

    /// Returns every path that a target means.
    fn paths_of(&self, effect: &Effect, target: &Target) -> Affected<Vec<String>> {
        if target.path().is_none() {
            return Affected::Unknown;
        }
        if matches!(effect.kind, EffectKind::Overwrite | EffectKind::Populate | EffectKind::Edit) {
            let written = match self.losses.written(effect, target) {
                Affected::Unknown => match self.losses.replaceable(effect, target).known() {
                    Some(found) if !found.more => found.names,
                    Some(_) | None => return Affected::Unknown,
                },
                written @ (Affected::Nothing | Affected::These(_)) => written.known().unwrap_or_default(),
            };
            // A name with an unknown part does not identify a file.
            let is_name = |path: &String| {
                !path.contains(['*', '?', '[']) || self.call.world.real(path, false).exists == Some(true)
            };
            let all = written.into_iter().chain(self.copies.buried(effect)).collect::<Vec<_>>();
            return Some(all).filter(|paths| paths.iter().all(is_name)).into();
        }
        if effect.kind == EffectKind::Move && target.is_pattern() && !self.changes_patterns() {
            return self.copies.matched(target);
        }
        let seen = self.call.seen(effect, target);
        match &seen.pattern {
            // The matches are uncertain for a recursive pattern, and if the call changes the shell's pattern rules.
            Some(Pattern::Written(pattern)) if pattern.contains("**") || self.changes_patterns() => Affected::Unknown,
            Some(Pattern::Written(pattern)) => self.call.world.expand(pattern),
            Some(Pattern::Tree(_)) | None => vec![seen.real.path.clone()].into(),
        }
    }

    fn changes_patterns(&self) -> bool {
        let mut commands = self.call.analysis.texts_that_run().flat_map(|reading| &reading.commands);
        commands.any(|command| matches!(command.name.as_str(), "shopt" | "setopt" | "unsetopt" | "emulate"))
    }

    fn stake_repository(&self, effect: &Effect, into: &mut AtStake) -> Result<(), Obstacle> {
        let mut files = Vec::new();
        for target in effect.targets.iter().filter(|target| target.path().is_some()) {
            files.extend(self.work_of(effect, target)?);
        }
        if self.git.set_of_folders(effect).is_none() {
            return self.stake_work_tree(effect, self.repository_here(effect)?, files, into);
        }
        for folder in self.repositories_of_set(effect)? {
            let of_folder = files.iter().filter(|file| path::is_within(file, &folder)).cloned().collect();
            self.stake_work_tree(effect, folder, of_folder, into)?;
        }
        // A restored commit is that of one work tree.
        let moving = into.repositories.iter().filter(|known| known.moves).count();
        if moving > 1 { Err(Obstacle::SeveralHeads) } else { Ok(()) }
    }

    /// Adds the state of a work tree, and its files that are in no commit.
    fn stake_work_tree(
        &self,
        effect: &Effect,
        folder: String,
        mut files: Vec<String>,
        into: &mut AtStake,
    ) -> Result<(), Obstacle> {
        let moves = self.moves_head(&folder);
        if moves {
            // Another commit may contain files of the same name, and a stash or the index may include them.
            files.extend(self.paths(self.call.world.untracked(&folder, Untracked::Ignored))?);
        }
        let cleans = effect.kind == EffectKind::DiscardUntracked;
        let leaves = match effect.kind == EffectKind::DiscardChanges {
            true => !["staged", "tree-ish"].iter().any(|flag| effect.flags.contains(flag)),
            false => cleans,
        };
        let unlinks = moves || !leaves;
        match into.repositories.iter_mut().find(|known| known.folder == folder) {
            Some(known) => {
                known.moves |= moves;
                known.cleans |= cleans;
                known.unlinks |= unlinks;
                known.files.extend(files);
            }
            None => into.repositories.push(RepositoryAtStake { folder, files, moves, cleans, unlinks }),
        }
        Ok(())
    }

    /// Returns the work trees that a command changes in each folder of a set.
    fn repositories_of_set(&self, effect: &Effect) -> Result<BTreeSet<String>, Obstacle> {
        self.own_git(effect)?;
        let mut found = BTreeSet::new();
        for target in effect.targets.iter().filter(|target| target.path().is_some()) {
            let paths = self
                .git
                .discarded_at(effect, target, &self.call.real(effect, target))
                .known()
                .ok_or(Obstacle::UnknownWork)?;
            found.extend(paths.iter().filter_map(|path| self.call.world.work_tree(path)));
        }
        if found.is_empty() { Err(Obstacle::UnknownWork) } else { Ok(found) }
    }

    /// Returns the git command of an effect, unless it concerns another work tree than that of its folder.
    fn own_git(&self, effect: &Effect) -> Result<&Command, Obstacle> {
        let command =
            self.call.analysis.command(effect).filter(|command| command.name == "git").ok_or(Obstacle::UnknownWork)?;
        let places = ["git-dir", "work-tree", "submodules", "submodule", "pointer"];
        if places.iter().any(|flag| effect.flags.contains(flag)) || self.runs_in_submodules() || self.sets_git() {
            return Err(Obstacle::OtherWorkTree);
        }
        Ok(command)
    }

    /// Returns the work tree that a git command changes, if it is the one of the working directory.
    fn repository_here(&self, effect: &Effect) -> Result<String, Obstacle> {
        let command = self.own_git(effect)?;
        let folder = effect.folder.clone().ok_or(Obstacle::UnknownWork)?;
        // With `-C`, the work tree is that of the target.
        let is_named = command.words.iter().any(|word| word.literal().as_deref() == Some("-C"));
        match effect.targets.iter().find_map(Target::path) {
            Some(target) if is_named => self.call.world.work_tree(target).ok_or(Obstacle::UnknownWork),
            None if is_named => Err(Obstacle::OtherWorkTree),
            _ => self.call.world.work_tree(&folder).ok_or(Obstacle::UnknownWork),
        }
    }

    /// Returns the files of the work tree that are in no commit.
    fn work_of(&self, effect: &Effect, target: &Target) -> Result<Vec<String>, Obstacle> {
        let cleans = effect.kind == EffectKind::DiscardUntracked;
        if !cleans && effect.kind != EffectKind::DiscardChanges {
            return Ok(Vec::new());
        }
        let names = |path: &str| match cleans {
            true => self.call.world.untracked(path, super::git::untracked_kind(effect)),
            false => self.git.uncommitted(effect, path),
        };
        let paths = self.git.discarded_at(effect, target, &self.call.real(effect, target));
        self.paths(self.git.in_each(paths, &names))
    }

    /// Returns the paths of files of a work tree, except those that a build recreates.
    fn paths(&self, names: Affected<Names>) -> Result<Vec<String>, Obstacle> {
        let Names { names, count, more } = names.known().ok_or(Obstacle::UnknownWork)?;
        if more || count != names.len() {
            return Err(Obstacle::TooManyListed(count));
        }
        let paths = names.iter().map(|name| path::absolute(name, &self.call.event.workspace));
        let lasting: Vec<String> = paths.filter(|path| self.builds.is_regenerable(path) != Ternary::Yes).collect();
        lasting.iter().try_for_each(|path| plain(path))?;
        Ok(lasting)
    }

    /// Whether the call sets the location of a git repository by a variable or a setting.
    fn sets_git(&self) -> bool {
        let is_named = |(name, _): &(String, Value)| name.starts_with("GIT_");
        let is_set = |word: &Value| word.literal().is_none_or(|word| word.to_ascii_lowercase().starts_with("core."));
        let mut settings = self.call.analysis.texts_that_run().flat_map(|reading| &reading.settings);
        settings.any(|setting| setting.name.starts_with("GIT_"))
            || self.git_commands().any(|command| {
                let pairs = command.words.iter().zip(command.words.iter().skip(1));
                let mut options = pairs.filter(|(option, _)| option.literal().as_deref() == Some("-c"));
                command.assignments.iter().any(is_named) || options.any(|(_, value)| is_set(value))
            })
    }

    fn runs_in_submodules(&self) -> bool {
        self.git_commands().any(|command| subcommand(command) == Some("submodule"))
    }

    /// Whether the call may check out another commit, which changes committed files.
    fn moves_head(&self, folder: &str) -> bool {
        let changing =
            self.git_commands().filter(|command| !subcommand(command).is_some_and(|word| LOOKING.contains(&word)));
        let mut changing: Vec<&Command> = changing.collect();
        // The rounds of a loop run one command.
        changing.dedup_by(|next, command| next.words == command.words);
        let is_sole = changing.len() == 1;
        changing.is_empty()
            || !is_sole && !changing.iter().all(|command| only_discards(command))
            || changing.iter().any(|command| self.may_move_head(command, folder))
    }

    /// Whether a git command may check out another commit.
    fn may_move_head(&self, command: &Command, folder: &str) -> bool {
        let Some(invocation) = &command.invocation else { return true };
        let words = invocation.operands.iter().filter_map(|index| command.words.get(*index));
        let mut other = words.map(|word| match word.literal().as_deref() {
            Some("HEAD" | "@" | ".") => false,
            Some(word) => self.call.world.names_commit(folder, word) != Some(false),
            None => true,
        });
        let stays = matches!(subcommand(command), Some("stash" | "branch" | "clean" | "update-ref"));
        !stays && (other.any(|other| other) || invocation.has("source"))
    }

    fn git_commands(&self) -> impl Iterator<Item = &Command> {
        self.call
            .analysis
            .texts_that_run()
            .flat_map(|reading| &reading.commands)
            .filter(|command| command.name == "git")
    }

    /// Adds the files that the call moves. They are not lost, but they may replace a copied file, and restoring that
    /// one would lose them.
    fn moved_along(&self, at_stake: &mut AtStake) {
        let moved = self.call.analysis.effects.iter().filter(|effect| effect.kind == EffectKind::Move);
        let here = moved.filter(|effect| effect.site == ExecTarget::Here && self.starts(place_of(effect)).is_some());
        for (effect, target) in here.flat_map(|effect| effect.targets.iter().map(move |target| (effect, target))) {
            let Some(paths) = self.paths_of(effect, target).known() else {
                // A moved file that nothing else touches is still there, and a restoration keeps what it replaces.
                if self.call.analysis.effects.iter().any(removes) {
                    at_stake.obstacle.get_or_insert(Obstacle::UnknownMoves);
                    return;
                }
                continue;
            };
            at_stake
                .paths
                .extend(paths.into_iter().filter(|path| self.call.world.real(path, false).exists == Some(true)));
        }
    }
}

fn place_of(effect: &Effect) -> Starter {
    Starter { script: effect.script, command: effect.command }
}

fn subcommand(command: &Command) -> Option<&'static str> {
    command.invocation.as_ref()?.path.first().copied()
}

/// Whether an effect may remove files, also those that the call has moved.
fn removes(effect: &Effect) -> bool {
    let copies = effect.kind == EffectKind::Overwrite && effect.flags.contains(&"place");
    let harmless = matches!(effect.kind, EffectKind::Read | EffectKind::Move | EffectKind::SetVariable);
    !copies && !harmless
}

/// Whether a git command discards work and neither changes what git tracks nor adds files.
fn only_discards(command: &Command) -> bool {
    match subcommand(command) {
        Some("checkout" | "clean") => true,
        Some("reset") => command.invocation.as_ref().is_some_and(|invocation| invocation.has("hard")),
        _ => false,
    }
}

/// Whether the effect of a command on files is unknown.
fn is_unknown(command: &Command, keeping: Keeping) -> bool {
    let Some(invocation) = &command.invocation else { return true };
    let word = invocation.path.first().copied();
    let leaves = |word: &str| LOOKING.contains(&word) || KEEPING.contains(&word);
    // A copy of a repository is complete even if several of its commands change it.
    command.name == "git" && !word.is_some_and(|word| keeping == Keeping::Repository || leaves(word))
}

/// Rejects a name that is not valid UTF-8: its lossy form is another, nonexistent path.
fn plain(path: &str) -> Result<(), Obstacle> {
    if path.contains(char::REPLACEMENT_CHARACTER) { Err(Obstacle::NotUtf8) } else { Ok(()) }
}
