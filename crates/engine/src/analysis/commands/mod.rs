//! The effects of each command: those that the library describes for its program, its redirections, and the paths among
//! its words.

pub(crate) mod entries;
mod outputs;
mod runs;
mod words;

use super::discarded::{prints_nothing, writes_nothing};
use super::effects::{EffectExtractor, Ran, Text};
use crate::model::effect::{EffectKind, Target, TargetPath};
use crate::model::path;
use reflex_shell::{Access, Command, CommandId, Invocation, Program, work};

/// Cost of extracting the effects of one command, in units of [`work`]. Each effect and each target adds 2.
const COMMAND: u64 = 8;

/// Adds the effects of every command of the text, as they happen on this machine.
pub(super) fn add(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let commands = &text.reading.commands;
    for (id, command) in commands.iter().enumerate() {
        let first = extractor.effects.len();
        extractor.command(id, command, commands);
        if let Some(stayed) = extractor.without_missing_folder(id, command, commands) {
            extractor.command(id, &stayed, commands);
        }
        if let Some(table) = text.mounts_of(id) {
            extractor.mapped(first, table);
        }
        let targets: usize = extractor.effects.iter().skip(first).map(|effect| 1 + effect.targets.len()).sum();
        if !work::spend(COMMAND + 2 * targets as u64) {
            break;
        }
    }
}

impl EffectExtractor<'_> {
    /// Returns the command as it runs after a `cd` that fails and whose failure the text ignores: the folder of the
    /// `cd` does not exist, and no earlier command may have made it.
    fn without_missing_folder(&self, id: CommandId, command: &Command, all: &[Command]) -> Option<Command> {
        const MAKE_NOTHING: [&str; 10] = ["cd", "echo", "printf", "export", "set", "true", ":", "ls", "test", "rm"];
        let stayed = command.folder_without_cd.as_ref()?;
        let is_missing = self.world.real(&self.folder(command)?, true).exists == Some(false);
        let makes = |before: &Command| !MAKE_NOTHING.contains(&before.name.as_str()) && !before.name.is_empty();
        // A wrapper of the command has not made anything before it.
        let wrappers: Vec<CommandId> = std::iter::successors(command.parent, |id| all.get(*id)?.parent).collect();
        let mut before = all.iter().enumerate().take(id).filter(|(id, _)| !wrappers.contains(id));
        let may_be_made = before.any(|(_, before)| makes(before));
        (is_missing && !may_be_made).then(|| Command { folder: Some(stayed.clone()), ..command.clone() })
    }

    pub(super) fn command(&mut self, id: CommandId, command: &Command, commands: &[Command]) {
        let folder = self.folder(command);
        let ran = Ran { id, command, folder: folder.as_deref() };
        let acts = |invocation: &&Invocation| !invocation.asks_help(&command.words);
        if let Some(invocation) = command.invocation.as_ref().filter(acts) {
            for grammar in &invocation.grammars {
                for entry in grammar.effects() {
                    if entry.sure() && is_guess(command, commands) {
                        continue;
                    }
                    self.entry(ran, invocation, entry);
                }
                for entry in grammar.runs().filter(|entry| entry.escape()) {
                    self.escape(ran, invocation, entry);
                }
            }
        }
        if writes_nothing(command) {
            self.emptied(ran);
        }
        for redirect in &command.redirects {
            let kind = match redirect.access {
                Access::Read => EffectKind::Read,
                Access::Overwrite => EffectKind::Overwrite,
                Access::Append => EffectKind::Append,
            };
            let target = self.path_of(ran, redirect.target.clone());
            if target.path().is_some_and(path::is_connection) {
                self.connection(ran, target);
                continue;
            }
            let targets = self.touched(vec![target]);
            if targets.is_empty() {
                continue;
            }
            let is_emptied = || prints_nothing(command) || self.reads_itself(ran, &targets);
            if kind == EffectKind::Overwrite && is_emptied() {
                self.push(self.effect_of(ran, EffectKind::Truncate).targets(targets.clone()));
            }
            self.push(self.effect_of(ran, kind).targets(targets));
        }
        self.outputs(ran);
        self.run_by_path(ran);
        self.run_module(ran);
        self.touch(ran);
    }

    /// Returns whether the command, or one that pipes into it, reads the file to which its output goes. The shell
    /// empties that file before it is read.
    fn reads_itself(&self, Ran { id, command, .. }: Ran<'_>, written: &[Target]) -> bool {
        let is_part = |of: CommandId| of == id || command.stdin.sources().contains(&of);
        let mut reads = self.effects.iter().filter(|effect| effect.kind == EffectKind::Read);
        reads.any(|effect| {
            effect.script.is_none()
                && effect.action == self.action
                // The content of a commit is not affected.
                && !effect.flags.contains(&"committed")
                && effect.command.is_some_and(is_part)
                && effect.targets.iter().any(|read| written.iter().any(|target| is_same_file(read, target)))
        })
    }

    /// Adds a truncation of the files that a command replaces with empty or meaningless content.
    fn emptied(&mut self, ran: Ran<'_>) {
        let of_command = self.effects.iter().rev().take_while(|effect| effect.command == Some(ran.id));
        let replaced = of_command.filter(|effect| effect.kind == EffectKind::Overwrite);
        let targets: Vec<Target> = replaced.flat_map(|effect| effect.targets.clone()).collect();
        if !targets.is_empty() {
            self.push(self.effect_of(ran, EffectKind::Truncate).targets(targets));
        }
    }

    /// `/dev/tcp/HOST/PORT`: the command sends data there, or ties a shell to the connection.
    fn connection(&mut self, ran: Ran<'_>, target: Target) {
        let shell = ran.command.invocation.as_ref().and_then(Invocation::grammar).is_some_and(Program::reads_script);
        let kind = if shell { EffectKind::GiveShell } else { EffectKind::Connect };
        self.push(self.effect_of(ran, kind).target(Target::new(target.value, TargetPath::None)));
    }
}

/// Returns whether the command is a guess: it comes from the words of an unknown program, which may not run it.
fn is_guess(command: &Command, commands: &[Command]) -> bool {
    let parent = command.parent.and_then(|id| commands.get(id));
    parent.is_some_and(|parent| parent.invocation.is_none() && !parent.name.is_empty())
}

fn is_same_file(one: &Target, other: &Target) -> bool {
    !one.is_pattern() && one.path().is_some() && one.path() == other.path()
}
