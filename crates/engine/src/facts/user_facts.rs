//! Facts for the rules and policies that people write.

use super::call::Call;
use super::meaning::Pattern;
use super::patterns::{fixed_part, meets};
use crate::analysis::command_pattern::{is_plain, is_plainly_written};
use crate::analysis::replaced::replaced;
use crate::model::affected::Affected;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::event::Action;
use crate::model::path::{self, is_within};
use crate::model::truth::Ternary;
use crate::text::glob;
use reflex_shell::{Command, Value};
use reflex_tables::Texts;
use std::borrow::Cow;

/// Facts for the rules and policies that people write.
#[derive(Clone, Copy)]
pub(crate) struct UserFacts<'f> {
    pub(super) call: &'f Call<'f>,
}

impl<'f> UserFacts<'f> {
    /// Returns the content of a file, or of a part of it, before an action that writes it.
    pub(crate) fn replaced<'e>(&self, action: &'e Action) -> Cow<'e, str> {
        replaced(action, &self.call.event.cwd, self.call.world)
    }

    /// Returns the files that match the target, if it is a pattern and they can be listed.
    pub(crate) fn found_by(&self, effect: &Effect, target: &Target) -> Option<Vec<String>> {
        match &self.call.seen(effect, target).pattern {
            Some(Pattern::Written(pattern)) => self.call.world.expand(pattern).known(),
            Some(Pattern::Tree(_)) | None => None,
        }
    }

    /// Whether an effect removes a folder that contains the path, unless the path does not exist.
    pub(crate) fn takes_along(&self, effect: usize, folder: &str, path: &str) -> bool {
        let takes = [EffectKind::Delete, EffectKind::Move, EffectKind::DiscardUntracked];
        let effect = self.call.analysis.effects.get(effect).filter(|effect| takes.contains(&effect.kind));
        effect.is_some() && is_within(path, folder) && self.call.exists(path) != Some(false)
    }

    /// Returns the number of files that the call would delete, as far as known. The content of a folder or pattern is
    /// counted one level deep.
    pub(crate) fn deletes(&self) -> usize {
        let kinds = [EffectKind::Delete, EffectKind::DiscardUntracked];
        let deleting = self.call.analysis.effects.iter().filter(|effect| kinds.contains(&effect.kind));
        let count = |effect: &Effect, target: &Target| {
            let held = match &self.call.seen(effect, target).pattern {
                Some(Pattern::Written(pattern) | Pattern::Tree(pattern)) => self.call.world.expand(pattern),
                None => target.path().map_or(Affected::Unknown, |path| self.call.world.expand(&format!("{path}/*"))),
            };
            held.known().map_or(1, |held| held.len().max(1))
        };
        deleting.flat_map(|effect| effect.targets.iter().map(move |target| count(effect, target))).sum()
    }

    /// Whether a target matches a person's pattern: `infra/prod/**`, `.env`, `/srv/data`. Removing a folder, or sharing
    /// it with a container, includes its contents.
    pub(crate) fn lies_at(&self, effect: &Effect, target: &Target, pattern: &str) -> Ternary {
        let seen = self.call.seen(effect, target);
        let (home, workspace) = (self.call.event.home.as_str(), self.call.event.workspace.as_str());
        let folder = pattern.strip_suffix("/**").unwrap_or(pattern);
        let fits = |path: &String| {
            [pattern, folder].iter().any(|pattern| self.fits_here(pattern, path, home))
                || is_within(path, &path::absolute(folder, workspace))
        };
        if seen.paths.iter().any(fits) {
            return Ternary::Yes;
        }
        if let Some(Pattern::Written(written)) = &seen.pattern
            && meets(written, pattern, home)
        {
            return Ternary::Yes;
        }
        let takes_along = matches!(
            effect.kind,
            EffectKind::Delete | EffectKind::Move | EffectKind::DiscardUntracked | EffectKind::ShareFolder
        );
        let rooted = match pattern.strip_prefix("~/") {
            Some(rest) => path::absolute(rest, home),
            None => path::absolute(pattern, workspace),
        };
        let holds = takes_along && is_within(fixed_part(&rooted), &seen.real.path);
        Ternary::from(holds && self.call.world.real(fixed_part(&rooted), false).exists != Some(false))
    }

    fn fits_here(&self, pattern: &str, path: &str, home: &str) -> bool {
        match self.call.world.folds_case() {
            true => glob::fits(&pattern.to_lowercase(), &path.to_lowercase(), &home.to_lowercase()),
            false => glob::fits(pattern, path, home),
        }
    }

    /// Whether every target of an effect matches one of these patterns, by each of its paths.
    pub(crate) fn all_lie_at(&self, effect: usize, patterns: Texts<'_>) -> bool {
        let Some(effect) = self.call.analysis.effects.get(effect) else { return false };
        let inside = |path: &String| {
            let here = path.strip_prefix(self.call.event.workspace.as_str()).map(|rest| rest.trim_start_matches('/'));
            patterns.iter().any(|pattern| {
                let anchored = !pattern.starts_with(['/', '~']);
                let relative = here.filter(|_| anchored && is_within(path, &self.call.event.workspace));
                match relative {
                    Some(relative) => glob::glob(pattern.as_bytes(), relative.as_bytes()),
                    None => !anchored && glob::fits(pattern, path, &self.call.event.home),
                }
            })
        };
        let covered = |target: &Target| {
            let seen = self.call.seen(effect, target);
            target.path().is_some() && seen.pattern.is_none() && seen.paths.iter().all(inside)
        };
        !effect.targets.is_empty() && effect.targets.iter().all(covered)
    }

    /// Whether an effect on a target stays within these patterns of paths below `root`, by each of the target's paths.
    /// A pattern without a wildcard also covers everything in the folder of that name.
    pub(crate) fn lies_in_scope(&self, effect: &Effect, target: &Target, root: &str, scope: &[&str]) -> bool {
        let seen = self.call.seen(effect, target);
        let folds = self.call.world.folds_case() || path::drive_length(root).is_some();
        let folded = |text: &str| if folds { text.to_lowercase() } else { text.to_owned() };
        let root = folded(root);
        let inside = |path: &str| {
            let path = folded(path);
            let below = path.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
            let Some(below) = below.or((path == root).then_some("")) else { return false };
            scope.iter().any(|pattern| {
                let pattern = folded(pattern).replace('\\', "/");
                let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
                let folder = pattern.strip_suffix("/**").unwrap_or(pattern);
                let is_all = matches!(pattern, "" | "." | "**");
                is_all
                    || glob::glob(pattern.as_bytes(), below.as_bytes())
                    || (!folder.contains(['*', '?', '[']) && is_within(below, folder))
            })
        };
        match &seen.pattern {
            // A pattern determines only the folder of its matches.
            Some(Pattern::Written(written) | Pattern::Tree(written)) => inside(&format!("{}/x", fixed_part(written))),
            None => seen.paths.iter().all(|path| inside(path)),
        }
    }

    /// Returns the text of an action that runs in a shell.
    pub(crate) fn shell_text(&self, action: usize) -> Option<&'f str> {
        match self.call.event.actions.get(action) {
            Some(Action::Shell { command, .. }) => Some(command),
            _ => None,
        }
    }

    /// Whether an effect follows from the call itself, not from a file that it runs.
    pub(crate) fn is_in_call(&self, effect: usize) -> bool {
        self.call.analysis.effects.get(effect).is_none_or(|effect| effect.script.is_none())
    }

    /// Returns the command of an action that consists of one plain command.
    pub(crate) fn sole_command(&self, action: usize) -> Option<&'f Command> {
        let reading = self.call.analysis.readings.get(action)?;
        let is_complete = reading.gaps.is_empty() && reading.settings.is_empty() && reading.changes.is_empty();
        let (first, wrapped) = reading.commands.split_first()?;
        let plain = is_complete && is_plain(first) && wrapped.iter().all(is_plainly_written);
        // `sudo ls` runs `ls`: every word of the inner command is in the call.
        let mut outer = first;
        let are_seen = wrapped.iter().enumerate().all(|(index, inner)| {
            let seen = inner.parent == Some(index) && ends_with(outer, inner);
            outer = inner;
            seen
        });
        (plain && are_seen).then_some(first)
    }
}

/// Whether the words of one command are the last words of another.
fn ends_with(outer: &Command, inner: &Command) -> bool {
    let skipped = outer.words.len().checked_sub(inner.words.len());
    let last = skipped.map(|skipped| outer.words.iter().skip(skipped));
    last.is_some_and(|last| last.map(Value::shown).eq(inner.words.iter().map(Value::shown)))
}
