//! Files that a command runs by their path, by the name of a module, or because the call has just put them there.

use super::super::effects::{EffectExtractor, Ran};
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::path;
use reflex_shell::{Command, Language, Origin, Selector, Value, work};
use reflex_tables::views::RunEntry;

impl EffectExtractor<'_> {
    /// `./tool`, `bin/x`: runs the file itself.
    pub(super) fn run_by_path(&mut self, ran: Ran<'_>) {
        let command = ran.command;
        let Some(first) = command.words.first() else { return };
        let by_path = first.prefix().contains('/');
        let put = || self.put_here(first, ran);
        let target = match &command.invocation {
            None if by_path || is_file_of_windows(command) => Some(self.path_of(ran, first.clone())),
            None => put().or_else(|| self.guard_elsewhere(&command.name)),
            // A file need not be the program of its name: the call may have put it there, or it may be a copy of the
            // guard.
            Some(_) if by_path => put().or_else(|| self.guard_at(ran, first)),
            Some(_) => put(),
        };
        if let Some(target) = target {
            self.push(self.effect_of(ran, EffectKind::RunFile).target(target));
        }
    }

    /// `python3 -m pkg.tool`: runs the file of a module of the project. Modules of the language and of packages are not
    /// found there.
    pub(super) fn run_module(&mut self, ran: Ran<'_>) {
        let (Some(invocation), Some(folder)) = (&ran.command.invocation, ran.folder) else { return };
        let mut entries = invocation.grammars.iter().flat_map(|grammar| grammar.runs());
        let names_module = |entry: &RunEntry<'static>| {
            entry.module().is_some() && reflex_shell::applies(entry.conditions(), invocation)
        };
        let Some(entry) = entries.find(names_module) else { return };
        let values = Selector(entry.module().unwrap_or_default()).values(invocation, &ran.command.words);
        let Some((name, word)) = values.first().and_then(|word| Some((word.literal()?.replace('.', "/"), word))) else {
            return;
        };
        let source = path::absolute("src", folder);
        let searched = ran.command.assignments.iter().filter(|(variable, _)| variable == "PYTHONPATH");
        let searched = searched.filter_map(|(_, value)| value.literal());
        let mut folders = vec![folder.to_owned()];
        folders.extend(
            searched.flat_map(|list| list.split(':').map(|one| path::absolute(one, folder)).collect::<Vec<_>>()),
        );
        folders.push(source);
        let endings: Vec<&str> = entry.endings().iter().collect();
        let mut files = folders.iter().flat_map(|folder| {
            let base = path::absolute(&name, folder);
            endings.iter().map(move |ending| format!("{base}{ending}"))
        });
        let Some(file) = files.find(|file| self.is_there(file)) else { return };
        let path = TargetPath::Known { text: file, climbing: None, follows: false, contents: false };
        self.push(self.effect_of(ran, EffectKind::RunFile).target(Target::new(word.clone(), path)));
    }

    /// Whether a file exists, or an earlier part of the text makes it.
    fn is_there(&self, file: &str) -> bool {
        let makes = |effect: &Effect| {
            matches!(effect.kind, EffectKind::Overwrite | EffectKind::Append)
                && effect.targets.iter().any(|target| target.path() == Some(file))
        };
        work::spend(4);
        self.world.real(file, true).exists == Some(true) || self.effects.iter().rev().take(64).any(makes)
    }

    /// Returns the file that a program's name refers to, if the call has just put it there: at its path, or for a bare
    /// name into any folder, since that folder may be in the search path.
    fn put_here(&self, first: &Value, ran: Ran<'_>) -> Option<Target> {
        // Files put there earlier are on disk by the next call.
        const NEAR: usize = 64;
        let puts =
            |effect: &&Effect| matches!(effect.kind, EffectKind::Overwrite | EffectKind::Link | EffectKind::Move);
        let near = self.effects.iter().rev().take(NEAR).filter(puts).filter(|effect| effect.action == self.action);
        let mut paths = near.flat_map(|effect| &effect.targets).filter_map(Target::path).peekable();
        paths.peek()?;
        if first.prefix().contains('/') {
            let target = self.path_of(ran, first.clone());
            let path = target.path()?;
            return paths.any(|put| put == path || put == path::parent(path)).then_some(target);
        }
        let name = ran.command.name.as_str();
        let path = paths.find(|path| path::name_of(path) == name)?.to_owned();
        Some(self.path_target(Value::text(path, first.origin()), Some("/")))
    }

    /// Returns the target if the path leads to a copy of the guard's program.
    fn guard_at(&self, ran: Ran<'_>, first: &Value) -> Option<Target> {
        let target = self.path_of(ran, first.clone());
        target.path().is_some_and(|path| self.world.is_guard_program(path)).then_some(target)
    }

    /// Returns the guard's program if an unknown program name resolves to a copy of it.
    fn guard_elsewhere(&self, name: &str) -> Option<Target> {
        let path = self.world.program(name).filter(|path| self.world.is_guard_program(path))?;
        Some(self.path_target(Value::text(path, Origin::default()), Some("/")))
    }
}

/// `.\tool`, and in cmd also `tool.exe`, which cmd looks up in the working directory.
fn is_file_of_windows(command: &Command) -> bool {
    let name = command.words.first().map(|word| word.prefix().to_lowercase()).unwrap_or_default();
    let looked_for = [".exe", ".bat", ".cmd", ".com", ".vbs"].iter().any(|end| name.ends_with(end));
    command.language.is_windows() && (name.contains('\\') || (command.language == Language::Cmd && looked_for))
}
