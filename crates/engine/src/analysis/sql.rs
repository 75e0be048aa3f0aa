//! Statements given to a database: fetched ones, and those in a file that it reads.

use super::effects::{EffectExtractor, Ran, Text, with_sources};
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use reflex_shell::{Access, Command, CommandId, ExecTarget, Stdin};
use reflex_tables::views::EffectEntry;

/// `curl URL | psql`: the database runs statements that have not been reviewed.
pub(super) fn add_fetched(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let commands = &text.reading.commands;
    let (action, script) = (extractor.action, extractor.script);
    let here = |effect: &&Effect| effect.action == action && effect.script == script;
    let fetched: Vec<_> =
        extractor.effects.iter().filter(here).filter(|effect| effect.kind == EffectKind::Fetch).collect();
    let fetched: Vec<(CommandId, Vec<Target>)> =
        fetched.into_iter().filter_map(|effect| Some((effect.command?, effect.targets.clone()))).collect();
    if fetched.is_empty() {
        return;
    }
    for (id, command) in commands.iter().enumerate() {
        let sources = with_sources(command, commands);
        let from = fetched.iter().filter(|(fetching, _)| sources.contains(fetching));
        let targets: Vec<Target> = from.flat_map(|(_, targets)| targets.clone()).collect();
        if !targets.is_empty() && takes_statements(command) {
            let ran = Ran { id, command, folder: None };
            extractor.push(extractor.effect_of(ran, EffectKind::RunFetched).targets(targets));
        }
    }
}

/// `psql < FILE`, `cat FILE | psql`, `docker exec -i c psql < FILE`: the database runs the content of the file.
pub(super) fn add_files(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let commands = &text.reading.commands;
    for (id, command) in commands.iter().enumerate() {
        let reads = |command: &Command| command.redirects.iter().any(|file| file.access == Access::Read);
        let parent = command.parent.and_then(|id| commands.get(id)).filter(|parent| reads(parent));
        let piped = matches!(&command.stdin, Stdin::Pipe(sources, _) if sources.len() == 1);
        if !(reads(command) || parent.is_some() || piped) || !takes_statements(command) {
            continue;
        }
        let opener = if reads(command) { Some(command) } else { parent };
        let files = match opener {
            Some(reader) => extractor.read_by(reader),
            None => extractor.printed_for(command, commands),
        };
        if files.iter().any(|file| matches!(file.path, TargetPath::Known { .. })) {
            let ran = Ran { id, command, folder: None };
            // The shell of this machine opens the file, wherever the client runs.
            let site = if parent.is_some() { ExecTarget::Here } else { command.site };
            extractor.push(extractor.effect_of(ran, EffectKind::RunSqlFile).targets(files).on(site));
        }
    }
}

impl EffectExtractor<'_> {
    /// Returns the file that a redirection opens.
    fn read_by(&self, command: &Command) -> Vec<Target> {
        let folder = self.folder(command);
        let opened = command.redirects.iter().rfind(|file| file.access == Access::Read);
        opened.map(|file| self.path_target(file.target.clone(), folder.as_deref())).into_iter().collect()
    }

    /// Returns the files that `cat` prints for a command.
    fn printed_for(&self, command: &Command, commands: &[Command]) -> Vec<Target> {
        let Some(source) = command.stdin.sources().first().copied() else { return Vec::new() };
        if commands.get(source).is_none_or(|command| command.name != "cat") {
            return Vec::new();
        }
        let reads = |effect: &&Effect| {
            effect.kind == EffectKind::Read
                && effect.command == Some(source)
                && effect.action == self.action
                && effect.script == self.script
        };
        self.effects.iter().filter(reads).flat_map(|effect| effect.targets.clone()).collect()
    }
}

/// Returns whether the command reads database statements on standard input.
fn takes_statements(command: &Command) -> bool {
    let Some(invocation) = &command.invocation else { return false };
    let entries = invocation.grammars.iter().flat_map(|grammar| grammar.effects());
    let queries = |entry: EffectEntry<'_>| entry.kind() == "sql" && entry.to() == Some("input");
    entries.filter(|entry| reflex_shell::applies(entry.conditions(), invocation)).any(queries)
}
