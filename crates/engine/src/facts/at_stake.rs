//! What would have to be kept before a call so that nothing of it is lost: paths, and repositories.
//!
//! It is all or nothing. A target that is not known, something that an earlier part of the call may make or change, or a
//! place on another system is an obstacle, and then the call is asked about as if nothing could be kept.

use super::cache::{Facts, Pattern};
use super::paths::MAX_LANDINGS;
use crate::analysis::aliases;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::finding::Finding;
use crate::model::path;
use crate::model::truth::Ternary;
use crate::model::verdict::{AtStake, RepositoryAtStake};
use crate::model::world::Names;
use reflex_shell::{Command, ExecTarget};

/// More paths than these are not kept for one call.
const MAX_PATHS: usize = 2000;

/// What may make or change any file before the rest of the call runs.
const OPAQUE: [EffectKind; 9] = [
    EffectKind::RunFile,
    EffectKind::RunTask,
    EffectKind::RunUnknown,
    EffectKind::RunFetched,
    EffectKind::RunDecoded,
    EffectKind::Unreadable,
    EffectKind::StartAgent,
    EffectKind::ApplyPatch,
    EffectKind::Unjudged,
];

/// Commands of git that leave commits, the index and the work tree as they are. What `add` takes up, `reset` deletes.
const LOOKING: [&str; 9] = ["status", "log", "diff", "show", "rev-parse", "ls-files", "fetch", "blame", "config"];

/// What a rule says is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeping {
    /// The targets of the effect.
    Files,
    /// The changes of the work tree, the index and the refs.
    Repository,
}

impl Facts<'_> {
    /// Whether what a finding tells of is a loss that can be kept first.
    pub(crate) fn can_be_kept(&self, finding: &Finding) -> bool {
        self.keeping(finding).is_some()
    }

    fn keeping(&self, finding: &Finding) -> Option<Keeping> {
        let effect = self.analysis.effects.get(finding.effect?)?;
        let rules = self.tables.get("triggers").get(effect.kind.name());
        let rule = rules.items().find(|rule| rule.get("id").text() == finding.id)?;
        match rule.get("undo").text() {
            "files" => Some(Keeping::Files),
            "repository" => Some(Keeping::Repository),
            _ => None,
        }
    }

    /// What these findings tell would be lost.
    pub(crate) fn at_stake<'f>(&self, findings: impl Iterator<Item = &'f Finding>) -> AtStake {
        let mut at_stake = AtStake::default();
        for finding in findings {
            let effect = finding.effect.and_then(|index| self.analysis.effects.get(index));
            let (Some(effect), Some(keeping)) = (effect, self.keeping(finding)) else { continue };
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
            at_stake.obstacle.get_or_insert("what would be lost is not there yet".into());
        }
        at_stake
    }

    fn stake(&self, effect: &Effect, keeping: Keeping, into: &mut AtStake) -> Result<(), String> {
        if effect.site != ExecTarget::Here {
            return Err("it lies on another system".into());
        }
        if effect.script.is_some() {
            return Err("a script decides what is lost".into());
        }
        if self.comes_after_opaque(effect) {
            return Err("an earlier part of the call may change what is lost".into());
        }
        match keeping {
            Keeping::Files => self.stake_files(effect, into),
            Keeping::Repository => self.stake_repository(effect, into),
        }?;
        if into.paths.len() > MAX_PATHS {
            return Err(format!("at least {} files would be lost", into.paths.len()));
        }
        Ok(())
    }

    /// Whether something runs before that may make or change any file.
    fn comes_after_opaque(&self, effect: &Effect) -> bool {
        let is_before = |other: &&Effect| {
            other.action < effect.action
                || other.action == effect.action && other.origin.span.start < effect.origin.span.start
                || other.action == effect.action && other.script.is_some()
        };
        self.analysis.effects.iter().filter(is_before).any(|other| OPAQUE.contains(&other.kind))
    }

    fn stake_files(&self, effect: &Effect, into: &mut AtStake) -> Result<(), String> {
        let unknown = || "which files would be lost is unknown".to_owned();
        for target in &effect.targets {
            for path in self.paths_of(effect, target).ok_or_else(unknown)? {
                let is_there = self.world.real(&path, false).exists;
                if is_there.ok_or_else(unknown)? && self.is_regenerable(&path) != Ternary::Yes {
                    into.paths.push(path);
                }
            }
        }
        Ok(())
    }

    /// Every path that a target stands for, if that is known.
    fn paths_of(&self, effect: &Effect, target: &Target) -> Option<Vec<String>> {
        target.path()?;
        if matches!(effect.kind, EffectKind::Overwrite | EffectKind::Populate) {
            let written = self.written(effect, target)?;
            // Of many sources not all landings are looked at, and those of a pattern have no names.
            let is_whole = aliases::sources(effect, self.analysis).count() <= MAX_LANDINGS;
            return Some(written).filter(|paths| is_whole && !paths.iter().any(|path| path.contains(['*', '?', '['])));
        }
        let seen = self.seen(effect, target);
        match &seen.pattern {
            // What fits is another matter for a search, and once the shell is told to read patterns otherwise.
            Some(Pattern::Written(pattern)) if pattern.contains("**") || self.changes_patterns() => None,
            Some(Pattern::Written(pattern)) => self.world.expand(pattern),
            Some(Pattern::Tree(_)) | None => Some(vec![seen.real.path.clone()]),
        }
    }

    fn changes_patterns(&self) -> bool {
        let mut commands = self.analysis.readings.iter().flat_map(|reading| &reading.commands);
        commands.any(|command| matches!(command.name.as_str(), "shopt" | "setopt" | "unsetopt" | "emulate"))
    }

    fn stake_repository(&self, effect: &Effect, into: &mut AtStake) -> Result<(), String> {
        let unknown = || "what git would throw away is unknown".to_owned();
        let command = self.analysis.command(effect).filter(|command| command.name == "git").ok_or_else(unknown)?;
        let folder = effect.folder.clone().ok_or_else(unknown)?;
        let places = ["git-dir", "work-tree", "submodules", "submodule", "pointer"];
        if places.iter().any(|flag| effect.flags.contains(flag)) || self.runs_in_submodules() {
            return Err("it reaches into another work tree".into());
        }
        // An option names the folder: that of the target is then the repository's.
        let folder = match effect.targets.iter().find_map(Target::path) {
            Some(target) if command.words.iter().any(|word| word.literal().as_deref() == Some("-C")) => {
                self.world.work_tree(target).ok_or_else(unknown)?
            }
            _ => self.world.work_tree(&folder).ok_or_else(unknown)?,
        };
        let mut files = Vec::new();
        for target in effect.targets.iter().filter(|target| target.path().is_some()) {
            files.extend(self.work_of(effect, target)?);
        }
        let moves = self.moves_head(&folder);
        let cleans = effect.kind == EffectKind::DiscardUntracked;
        let unlinks = match effect.kind {
            EffectKind::DiscardUntracked => moves,
            EffectKind::DiscardChanges => moves || effect.flags.contains(&"staged"),
            _ => true,
        };
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

    /// The files of the work tree that git has in no commit.
    fn work_of(&self, effect: &Effect, target: &Target) -> Result<Vec<String>, String> {
        let real = self.real(effect, target);
        let path = self.meant(effect, &real).into_owned();
        let names = match effect.kind {
            EffectKind::DiscardChanges => self.uncommitted(effect, &path),
            EffectKind::DiscardUntracked => {
                self.lasting(self.world.untracked(&path, super::git::untracked_kind(effect)))
            }
            _ => return Ok(Vec::new()),
        };
        let Names { names, count, more } = names.ok_or("what git would throw away is unknown")?;
        if more || count != names.len() {
            return Err(format!("at least {count} files would be lost, more than are kept"));
        }
        Ok(names.iter().map(|name| path::absolute(name, &self.event.workspace)).collect())
    }

    fn runs_in_submodules(&self) -> bool {
        self.git_commands().any(|command| subcommand(command) == Some("submodule"))
    }

    /// Whether the call may check out another commit, so that files change which are in one.
    fn moves_head(&self, folder: &str) -> bool {
        let changing =
            self.git_commands().filter(|command| !subcommand(command).is_some_and(|word| LOOKING.contains(&word)));
        let changing: Vec<&Command> = changing.collect();
        let [sole] = changing.as_slice() else { return true };
        let Some(invocation) = &sole.invocation else { return true };
        let words = invocation.operands.iter().filter_map(|index| sole.words.get(*index));
        let mut other = words.map(|word| match word.literal().as_deref() {
            Some("HEAD" | "@" | ".") => false,
            Some(word) => self.world.names_commit(folder, word) != Some(false),
            None => true,
        });
        let stays = matches!(subcommand(sole), Some("stash" | "branch" | "clean" | "update-ref"));
        !stays && (other.any(|other| other) || invocation.has("source"))
    }

    fn git_commands(&self) -> impl Iterator<Item = &Command> {
        self.analysis.readings.iter().flat_map(|reading| &reading.commands).filter(|command| command.name == "git")
    }

    /// What the call moves is not lost; where it was moved over something that is kept, giving that back would lose it.
    fn moved_along(&self, at_stake: &mut AtStake) {
        let moved = self.analysis.effects.iter().filter(|effect| effect.kind == EffectKind::Move);
        let here = moved.filter(|effect| effect.site == ExecTarget::Here && effect.script.is_none());
        for (effect, target) in here.flat_map(|effect| effect.targets.iter().map(move |target| (effect, target))) {
            let paths = self.paths_of(effect, target);
            let Some(paths) = paths else {
                at_stake.obstacle.get_or_insert("which files would be moved is unknown".into());
                return;
            };
            at_stake.paths.extend(paths.into_iter().filter(|path| self.world.real(path, false).exists == Some(true)));
        }
    }
}

fn subcommand(command: &Command) -> Option<&'static str> {
    command.invocation.as_ref()?.path.first().copied()
}
