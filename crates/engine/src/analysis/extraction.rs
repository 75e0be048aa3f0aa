//! Commands that write a tree of names below a folder: unpacked archives and git checkouts. A checkout has an effect of
//! its own only outside the workspace; writes of git in the workspace are covered by other effects.

use super::effects::{EffectExtractor, Ran, Text};
use crate::model::effect::{Effect, EffectKind};
use crate::model::path::is_within;
use reflex_shell::{Command, CommandId, Origin, Reading, Value};

/// Subcommands of git that write the work tree.
const CHECKING_OUT: [&str; 10] =
    ["checkout", "switch", "restore", "reset", "read-tree", "checkout-index", "stash", "clean", "merge", "pull"];

/// Adds the folders that the commands of a text populate. `before` is the number of effects before theirs.
pub(super) fn add(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let (before, reading) = (text.first, text.reading);
    let effects = extractor.effects.get(before..).unwrap_or(&[]);
    let unpacked = effects.iter().filter(|effect| effect.flags.contains(&"unpacked"));
    let mut archives: Vec<(CommandId, Value)> =
        unpacked.filter_map(|effect| Some((effect.command?, effect.targets.first()?.value.clone()))).collect();
    archives.dedup_by_key(|(id, _)| *id);
    // The program's own entry is more precise.
    let is_populated =
        |id: CommandId| effects.iter().any(|effect| effect.kind == EffectKind::Populate && effect.command == Some(id));
    archives.retain(|(id, _)| !is_populated(*id));
    for (id, archive) in archives {
        extractor.unpacked(id, archive, reading);
    }
    for (id, command) in reading.commands.iter().enumerate().filter(|(_, command)| command.name == "git") {
        extractor.checked_out(id, command, reading);
    }
}

impl EffectExtractor<'_> {
    fn unpacked(&mut self, id: CommandId, archive: Value, reading: &Reading) {
        let Some(command) = reading.commands.get(id) else { return };
        let Some(invocation) = &command.invocation else { return };
        // For `tar`, `--directory` is the folder of the command itself.
        let option = if command.name == "tar" { "top-level" } else { "directory" };
        let place = invocation.values(option, &command.words).into_iter().next();
        let mut flags = vec!["archive"];
        flags.extend(invocation.has("absolute-names").then_some("absolute"));
        if let Some((source, commit)) = packed(command, reading) {
            // `git archive` packs the content of a commit.
            let folder = self.folder(source);
            let effect = self.populate((id, command), place, commit, vec!["git"]);
            self.effects.extend(effect.map(|effect| Effect { folder, ..effect }));
            return;
        }
        let opened = self.opened(command, archive, reading);
        let effect = self.populate((id, command), place, opened, flags);
        self.effects.extend(effect);
    }

    /// Returns the path of the archive that a command reads: its own, or the one on standard input.
    fn opened(&self, command: &Command, archive: Value, reading: &Reading) -> Option<Value> {
        const POURING: [&str; 6] = ["cat", "zcat", "gzcat", "gzip", "gunzip", "pv"];
        let is_input = archive.literal().is_some_and(|name| name == "-");
        let source = command.stdin.sources().first().and_then(|id| reading.commands.get(*id));
        let redirected = command.redirects.iter().find(|redirect| redirect.access == reflex_shell::Access::Read);
        let (by, value) = match (is_input, redirected, source) {
            (false, _, _) => (command, archive),
            (true, Some(redirect), _) => (command, redirect.target.clone()),
            (true, None, Some(source)) if POURING.contains(&source.name.as_str()) => {
                let operands = &source.invocation.as_ref()?.operands;
                (source, source.words.get(*operands.first()?)?.clone())
            }
            (true, None, _) => return None,
        };
        // The archive is opened before the folder of an option is entered.
        let start = self.start.as_deref()?;
        let moved = by.folder.as_ref()?;
        let here = if moved.pieces.is_empty() { Some(start.to_owned()) } else { self.resolved(moved, start) }?;
        Some(Value::text(self.resolved(&value, &here)?, value.origin()))
    }

    fn resolved(&self, value: &Value, cwd: &str) -> Option<String> {
        self.target(EffectKind::Read, value.clone(), cwd).path().map(str::to_owned)
    }

    /// Adds a git checkout. The work tree may differ from the one around the folder: `--work-tree`, `GIT_WORK_TREE`,
    /// `--prefix`.
    fn checked_out(&mut self, id: CommandId, command: &Command, reading: &Reading) {
        let Some(invocation) = &command.invocation else { return };
        let word = invocation.path.first().and_then(|word| CHECKING_OUT.iter().find(|known| *known == word));
        let Some(word) = word.copied() else { return };
        let option = |key: &str| invocation.values(key, &command.words).into_iter().next();
        let of_command = command.assignments.iter().rev().find(|(name, _)| name == "GIT_WORK_TREE");
        let tree = option("work-tree")
            .or_else(|| option("prefix").filter(|_| word == "checkout-index"))
            .or_else(|| of_command.map(|(_, value)| value.clone()))
            .or_else(|| self.exported("GIT_WORK_TREE", reading));
        let operand = || invocation.operands.first().and_then(|index| command.words.get(*index)).cloned();
        // Files named individually have effects of their own.
        let after = invocation.dashes.and_then(|before| invocation.operands.get(before..)).unwrap_or(&[]);
        let mut paths = after.iter().filter_map(|index| command.words.get(*index));
        let means_all =
            |path: &Value| path.prefix().starts_with([':', '*']) || path.literal().is_some_and(|text| text == ".");
        if !after.is_empty() && !paths.any(means_all) {
            return;
        }
        let mut flags = vec!["git", word];
        flags.extend(invocation.has("untracked").then_some("untracked"));
        let effect = self.populate((id, command), tree, option("source").or_else(operand), flags);
        self.effects.extend(effect);
    }

    /// Returns the effect; `None` for a checkout in the workspace.
    fn populate(
        &self,
        (id, command): (CommandId, &Command),
        place: Option<Value>,
        argument: Option<Value>,
        mut flags: Vec<&'static str>,
    ) -> Option<Effect> {
        let folder = self.folder(command);
        let ran = Ran { id, command, folder: folder.as_deref() };
        let target = self.path_of(ran, place.unwrap_or_else(|| Value::text(".", command.origin)));
        let inside = target.path().is_some_and(|path| is_within(path, &self.event.workspace));
        if inside && flags.contains(&"git") {
            return None;
        }
        flags.sort_unstable();
        Some(self.effect_of(ran, EffectKind::Populate).target(target).marks(flags).argument(argument))
    }

    /// Returns the value of a variable set by the text or by the environment.
    fn exported(&self, name: &str, reading: &Reading) -> Option<Value> {
        let of_text = reading.settings.iter().rev().find(|setting| setting.name == name);
        let of_environment = || self.variable(name).map(|value| Value::text(value, Origin::default()));
        of_text.map_or_else(of_environment, |setting| setting.value.clone())
    }
}

/// Returns the `git archive` command whose output the command reads, if any, and the commit that it packs.
fn packed<'r>(command: &Command, reading: &'r Reading) -> Option<(&'r Command, Option<Value>)> {
    let source = reading.commands.get(*command.stdin.sources().first()?)?;
    let invocation = source.invocation.as_ref().filter(|_| source.name == "git")?;
    let packs = invocation.path.first().is_some_and(|word| *word == "archive");
    let word = invocation.operands.first().and_then(|index| source.words.get(*index)).cloned();
    packs.then_some((source, word))
}
