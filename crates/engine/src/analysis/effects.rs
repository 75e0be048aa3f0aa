//! The effects of one text: the effects of each of its commands and of each action of another tool.

pub(crate) mod entries;
mod outputs;

use super::agent_paths::{agent_path_value, without_scheme};
use super::discarded::{prints_nothing, writes_nothing};
use super::loading::Loader;
use super::paths_in_code::paths_in_code;
use super::tool_call;
use super::tool_call::call::called;
use crate::model::effect::{Effect, EffectKind, Target, TargetKind, TargetPath};
use crate::model::event::{Action, AgentPath, Event};
use crate::model::guard::GUARD_PROGRAMS;
use crate::model::mounts::MountTable;
use crate::model::path::{self, Folders};
use crate::model::world::World;
use crate::text::encoded_paths;
use reflex_shell::{
    Access, CallInput, Code, Command, CommandId, Gap, Invocation, Language, Origin, Piece, Program, Programs, Reading,
    Selector, Setting, Source, Span, Surroundings, UnknownReason, Value, work,
};
use reflex_tables::Tables;
use reflex_tables::views::RunEntry;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Cost of extracting the effects of one command, in units of [`work`]. Each effect and each target adds 2.
const COMMAND: u64 = 8;

/// Drops unknown targets, and effects left without a known target, of loaded code that is unchanged from its project's
/// history.
fn keep_known_of_unchanged(effects: &mut Vec<Effect>, first: usize, reading: &Reading) {
    let mut index = 0;
    effects.retain_mut(|effect| {
        index += 1;
        index <= first || !reading.is_of_unchanged(effect.origin) || keep_known(effect)
    });
}

/// Removes targets that are known only at run time, and returns whether anything is left of the effect.
pub(super) fn keep_known(effect: &mut Effect) -> bool {
    let named = !effect.targets.is_empty();
    effect.targets.retain(|target| target.path != TargetPath::Unknown);
    let gap = matches!(effect.kind, EffectKind::ExceedLimit | EffectKind::Unreadable);
    let unknown = effect.kind == EffectKind::RunUnknown && !effect.targets.iter().any(|target| target.path().is_some());
    !gap && !unknown && (!named || !effect.targets.is_empty())
}

/// A command of the text, with the folder in which it runs if that is known.
#[derive(Clone, Copy)]
pub(super) struct Ran<'a> {
    pub(super) id: CommandId,
    pub(super) command: &'a Command,
    pub(super) folder: Option<&'a str>,
}

/// Extracts the effects of one text.
pub(crate) struct EffectExtractor<'a> {
    pub(crate) event: &'a Event,
    pub(crate) world: &'a dyn World,
    pub(crate) tables: Tables,
    /// The action that runs the text.
    pub(crate) action: usize,
    /// The script that contains the text; `None` for the action's own text.
    pub(crate) script: Option<usize>,
    /// The folder in which the text starts, if that is known.
    pub(crate) start: Option<String>,
    /// Variables set for the text.
    pub(crate) variables: &'a [(String, String)],
    /// The mounts of the place in which the text runs, if it is not this machine.
    pub(crate) place: Option<Rc<MountTable>>,
    pub(crate) effects: &'a mut Vec<Effect>,
}

impl EffectExtractor<'_> {
    pub(super) fn action(&mut self, action: &Action) -> Reading {
        match action {
            Action::Shell { command, language } => return self.shell(command, *language),
            Action::Read { path } | Action::Search { path, .. } => self.file(EffectKind::Read, path),
            Action::Write { path, .. } => self.file(EffectKind::Overwrite, path),
            Action::Edit { path, .. } => self.file(EffectKind::Edit, path),
            Action::Delete { path } => self.file(EffectKind::Delete, path),
            Action::Fetch { url } => {
                self.push(self.effect_on(EffectKind::Fetch, url));
                let path = without_scheme(url);
                if path != url {
                    self.file(EffectKind::Read, &AgentPath::new(path));
                }
            }
            Action::McpCall { arguments, .. } | Action::Other { arguments } => {
                self.mention_in_arguments(arguments);
                if let Some(called) = called(self.event, action) {
                    let call = tool_call::read(called, self.tables);
                    // A search pattern is not a path; the searched folder is an action of its own.
                    if !call.is_search {
                        self.paths_in(arguments);
                    }
                    self.addresses_in(arguments);
                    self.served(called, &call);
                }
            }
            Action::Prompt { .. } | Action::SpawnAgent { .. } | Action::Skill { .. } | Action::Input { .. } => {}
        }
        Reading::default()
    }

    pub(super) fn file(&mut self, kind: EffectKind, path: &AgentPath) {
        let written = path.with_slashes();
        let plain = without_scheme(&written);
        let mut targets = vec![self.target(kind, agent_path_value(plain), &self.event.cwd)];
        let hidden = encoded_paths::disguise(without_scheme(&path.text));
        for other in hidden.paths {
            let target = self.target(kind, agent_path_value(&other), &self.event.cwd);
            if targets.iter().all(|known| known.path() != target.path()) {
                targets.push(target);
            }
        }
        let is_disguised = targets.len() > 1;
        let flags = [
            is_disguised.then_some("disguised"),
            hidden.malformed.then_some("malformed"),
            is_share(&written).then_some("share"),
        ];
        self.push(self.effect(kind).targets(targets).marks(flags.into_iter().flatten()));
    }

    /// Returns an effect of the action whose only target is a name.
    pub(super) fn effect_on(&self, kind: EffectKind, text: &str) -> Effect {
        self.effect(kind).target(Target::new(Value::text(text, Origin::default()), TargetPath::None))
    }

    /// Returns an effect of the text, without targets.
    pub(super) fn effect(&self, kind: EffectKind) -> Effect {
        let folder = Some(self.event.cwd.clone());
        Effect { action: self.action, script: self.script, folder, ..Effect::of(kind) }
    }

    /// Returns an effect of a command of the text, without targets.
    pub(super) fn effect_of(&self, ran: Ran<'_>, kind: EffectKind) -> Effect {
        Effect {
            action: self.action,
            script: self.script,
            command: Some(ran.id),
            origin: ran.command.origin,
            site: ran.command.site,
            folder: ran.folder.map(str::to_owned),
            ..Effect::of(kind)
        }
    }

    /// Adds an effect.
    pub(super) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(super) fn shell(&mut self, text: &str, language: Language) -> Reading {
        let world = self.world;
        let loader = Loader::new(self.event, self.tables, world, &self.event.cwd);
        let surroundings = Surroundings {
            programs: Programs::new(self.tables),
            variable: &|name| world.variable(name),
            alias: &|program, name| world.alias(program, name),
            input: CallInput::default(),
            source: Source { path: "", load: Some(&|name| loader.load(name)) },
        };
        let reading = reflex_shell::read_as(language, text, &surroundings);
        let first = self.effects.len();
        self.draft(text, &reading);
        keep_known_of_unchanged(self.effects, first, &reading);
        reading
    }

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

    /// Adds the effects of everything that the text runs.
    pub(crate) fn draft(&mut self, text: &str, reading: &Reading) {
        let before = self.effects.len();
        let tables = self.tables(&reading.commands);
        let table = |id: CommandId| tables.get(id).and_then(Option::as_deref);
        for (id, command) in reading.commands.iter().enumerate() {
            let first = self.effects.len();
            self.command(id, command, &reading.commands);
            if let Some(stayed) = self.without_missing_folder(id, command, &reading.commands) {
                self.command(id, &stayed, &reading.commands);
            }
            if let Some(table) = table(id) {
                self.mapped(first, table);
            }
            let targets: usize = self.effects.iter().skip(first).map(|effect| 1 + effect.targets.len()).sum();
            if !work::spend(COMMAND + 2 * targets as u64) {
                break;
            }
        }
        for (id, command) in reading.commands.iter().enumerate() {
            let first = self.effects.len();
            self.unread(id, command, &reading.commands);
            if let Some(table) = table(id) {
                self.mapped(first, table);
            }
        }
        self.populated(before, reading);
        self.found_processes(text, before, &reading.commands);
        self.environment_sent(before, &reading.commands);
        self.kept_in_variables(before, &reading.commands);
        self.variables_shown(reading);
        self.environment_shown(before, reading);
        self.flows(before, reading);
        self.mentions(&reading.commands);
        self.downloads_that_run();
        self.fetched_statements(&reading.commands);
        self.statements_of_files(&reading.commands);
        self.database_files(before, &reading.commands);
        self.decoded_code(reading);
        self.disguises(text, &reading.commands);
        self.nested_decoding(&reading.commands);
        for setting in &reading.settings {
            let is_loaded = setting.origin.derivation.is_some() && reading.is_loaded(setting.origin);
            self.push(self.setting(setting).marks(is_loaded.then_some("loaded")));
        }
        for origin in &reading.multiplying {
            self.push(self.effect(EffectKind::Exhaust).at(*origin));
        }
        reading.gaps.iter().for_each(|gap| self.gap(gap, text));
    }

    /// Adds the effect of a part that the reader could not read.
    fn gap(&mut self, gap: &Gap, text: &str) {
        let effect = match gap.why {
            UnknownReason::Limit => self.effect(EffectKind::ExceedLimit),
            UnknownReason::Unparsed => self.effect(EffectKind::Unreadable),
            UnknownReason::Unfinished => self.effect(EffectKind::Unreadable).mark("unfinished"),
            UnknownReason::NotEvaluated => {
                let written = Value::text(gap.origin.span.slice(text), gap.origin);
                self.effect(EffectKind::RunUnknown).target(Target::new(written, TargetPath::None))
            }
            UnknownReason::Branches | UnknownReason::Arithmetic | UnknownReason::Input => return,
        };
        self.push(effect.at(gap.origin));
    }

    fn setting(&self, setting: &Setting) -> Effect {
        let name = Target::new(Value::text(setting.name.clone(), setting.origin), TargetPath::None);
        let effect = self.effect(EffectKind::SetVariable).target(name).argument(setting.value.clone());
        effect.at(setting.origin).on(setting.site)
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

    /// Adds paths among the command's words that none of its effects covers: all words of an unknown program, the
    /// operands of a known one. The rules decide by class which paths matter.
    pub(super) fn touch(&mut self, ran: Ran<'_>) {
        let Ran { id, command, folder } = ran;
        let words: Vec<&Value> = match &command.invocation {
            Some(invocation) if invocation.grammars.iter().any(|grammar| takes_over(*grammar)) => Vec::new(),
            Some(invocation) => invocation.operands.iter().filter_map(|index| command.words.get(*index)).collect(),
            None => command.words.iter().skip(1).collect(),
        };
        let invocation = command.invocation.as_ref();
        let is_code = invocation.is_none_or(|known| known.grammars.iter().any(|grammar| runs_by_the_way(*grammar)));
        let mut paths: Vec<Value> = words.iter().filter_map(|word| path_in(word)).collect();
        paths.extend(command.words.iter().skip(1).filter(|_| is_code).flat_map(paths_in_code));
        if paths.is_empty() {
            return;
        }
        let known = self.effects.iter().rev().take_while(|effect| effect.command == Some(id));
        let known: BTreeSet<String> = known
            .filter(|effect| effect.kind.target_kind() == TargetKind::Path)
            .flat_map(|effect| &effect.targets)
            .map(|target| target.value.shown())
            .collect();
        paths.retain(|path| !known.contains(&path.shown()));
        let targets = self.touched(paths.into_iter().map(|value| self.path_target(value, folder)).collect());
        if !targets.is_empty() {
            self.push(self.effect_of(ran, EffectKind::PathArgument).targets(targets));
        }
    }

    /// `/dev/tcp/HOST/PORT`: the command sends data there, or ties a shell to the connection.
    fn connection(&mut self, ran: Ran<'_>, target: Target) {
        let shell = ran.command.invocation.as_ref().and_then(Invocation::grammar).is_some_and(Program::reads_script);
        let kind = if shell { EffectKind::GiveShell } else { EffectKind::Connect };
        self.push(self.effect_of(ran, kind).target(Target::new(target.value, TargetPath::None)));
    }

    /// `./tool`, `bin/x`: runs the file itself.
    fn run_by_path(&mut self, ran: Ran<'_>) {
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
    fn run_module(&mut self, ran: Ran<'_>) {
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

    /// `$(which reflex)`: returns the path of the guard's program, as far as the world knows it.
    fn guard_program(&self, value: &Value) -> Option<String> {
        let [(Piece::Output(_), _), (Piece::Text(after), _)] = value.pieces.as_slice() else { return None };
        let name = after.strip_prefix('/').filter(|name| GUARD_PROGRAMS.contains(name))?;
        let known = self.world.guard().into_iter().find(|program| path::name_of(program) == name);
        Some(known.unwrap_or_else(|| format!("{}/.local/bin/{name}", self.event.home)))
    }

    /// Drops targets that are harmless devices, such as the null device, zeros or the terminal. Shared memory may hold a
    /// home or a project.
    pub(super) fn touched(&self, targets: Vec<Target>) -> Vec<Target> {
        let lives_there = |path: &str| {
            [&self.event.home, &self.event.workspace].iter().any(|folder| {
                folder.starts_with("/dev/shm/") && (path::is_within(path, folder) || path::is_within(folder, path))
            })
        };
        let is_harmless = |path: &str| path::is_harmless_device(path) && !lives_there(path);
        targets.into_iter().filter(|target| !target.path().is_some_and(is_harmless)).collect()
    }

    /// Adds effects for code that is run but not part of the text, by the source of that code.
    pub(super) fn unread(&mut self, id: CommandId, command: &Command, commands: &[Command]) {
        let folder = self.folder(command);
        let ran = Ran { id, command, folder: folder.as_deref() };
        for (code, from) in &command.unread {
            if !work::spend(2 + self.effects.len() as u64 / 64) {
                return self.push(self.effect(EffectKind::ExceedLimit).at(command.origin));
            }
            let from = &with_printing(code.value(), from, commands);
            let (kind, targets) = match code {
                Code::File(path) => match self.source_of(path, from) {
                    (EffectKind::RunUnknown, targets) if from.iter().any(|id| is_decoder(commands.get(*id))) => {
                        (EffectKind::RunDecoded, targets)
                    }
                    (EffectKind::RunUnknown, _) => (EffectKind::RunFile, vec![self.path_of(ran, path.clone())]),
                    known => known,
                },
                Code::Stdin(value) => match command.redirects.iter().find(|file| file.access == Access::Read) {
                    Some(file) => {
                        // `python < a.py` is `python a.py`, but a file that a shell reads is a gap.
                        let shell = command.invocation.as_ref().and_then(Invocation::grammar);
                        let shell = shell.is_none_or(Program::reads_shell_text);
                        let kind = if shell { EffectKind::RunUnknown } else { EffectKind::RunFile };
                        (kind, vec![self.path_target(file.target.clone(), ran.folder)])
                    }
                    None => self.source_of(value, from),
                },
                Code::Text(value) => self.source_of(value, from),
                Code::Part(value) => match self.source_of(value, from) {
                    // The known part has been judged; the rest is an argument in nearly every case.
                    (EffectKind::RunUnknown, targets) if !targets.iter().any(|file| file.path().is_some()) => continue,
                    (EffectKind::RunUnknown, targets) => (EffectKind::RunFile, targets),
                    known => known,
                },
            };
            let effect = self.effect_of(ran, kind).targets(targets);
            let here = |effect: &&Effect| effect.action == self.action && effect.script == self.script;
            let sources = self
                .effects
                .iter()
                .filter(here)
                .filter(|effect| effect.command.is_some_and(|source| from.contains(&source)));
            let span = sources.map(|effect| effect.origin.span).fold(command.origin.span, Span::join);
            self.push(effect.at(Origin { span, ..command.origin }));
        }
    }

    fn source_of(&self, value: &Value, from: &[CommandId]) -> (EffectKind, Vec<Target>) {
        work::spend(1 + self.effects.len() as u64 / 32);
        let of_sources = |kind| {
            self.effects.iter().filter(move |effect| {
                effect.kind == kind
                    && effect.action == self.action
                    && effect.script == self.script
                    && effect.command.is_some_and(|id| from.contains(&id))
            })
        };
        let fetched: Vec<Target> = of_sources(EffectKind::Fetch).flat_map(|effect| effect.targets.clone()).collect();
        if of_sources(EffectKind::Fetch).next().is_some() {
            return (EffectKind::RunFetched, fetched);
        }
        // `$(cat f)`: the content is not known from the text, but the file is.
        let mut files: Vec<Target> = of_sources(EffectKind::Read).flat_map(|effect| effect.targets.clone()).collect();
        if files.len() == 1 && is_output_of(value, "cat") {
            return (EffectKind::RunUnknown, std::mem::take(&mut files));
        }
        let kind = if decodes(value) { EffectKind::RunDecoded } else { EffectKind::RunUnknown };
        (kind, vec![Target::new(value.clone(), TargetPath::None)])
    }

    /// Marks files that the text both fetches and runs as fetched code.
    fn downloads_that_run(&mut self) {
        let (action, script) = (self.action, self.script);
        let here = |effect: &&Effect| effect.action == action && effect.script == script;
        let fetching: Vec<CommandId> = self
            .effects
            .iter()
            .filter(here)
            .filter(|e| e.kind == EffectKind::Fetch)
            .filter_map(|e| e.command)
            .collect();
        if fetching.is_empty() {
            return;
        }
        let written: Vec<String> = self
            .effects
            .iter()
            .filter(here)
            .filter(|effect| {
                effect.kind == EffectKind::Overwrite && effect.command.is_some_and(|id| fetching.contains(&id))
            })
            .flat_map(|effect| effect.targets.iter().filter_map(Target::path))
            .map(str::to_owned)
            .collect();
        for effect in self
            .effects
            .iter_mut()
            .filter(|effect| effect.action == action && effect.script == script && effect.kind == EffectKind::RunFile)
        {
            if effect.targets.iter().filter_map(Target::path).any(|path| written.iter().any(|file| file == path)) {
                effect.kind = EffectKind::RunFetched;
            }
        }
    }

    /// `kill $(pgrep x)`, `pgrep x | xargs kill`: the search pattern names the processes to kill.
    fn found_processes(&mut self, text: &str, before: usize, commands: &[Command]) {
        let looked_for = |effect: &Effect| -> Vec<Target> {
            let Some(command) = effect.command.and_then(|id| commands.get(id)) else { return Vec::new() };
            let fed = command.parent.and_then(|id| commands.get(id)).into_iter().chain([command]);
            let mut sources: Vec<CommandId> = fed.flat_map(|command| command.stdin.sources()).copied().collect();
            sources.extend(effect.targets.iter().flat_map(|target| with_printing(&target.value, &[], commands)));
            let named = sources.iter().filter_map(|id| commands.get(*id)).flat_map(operands);
            named.map(|value| Target::new(value, TargetPath::None)).collect()
        };
        for effect in self.effects.iter_mut().skip(before).filter(|effect| effect.kind == EffectKind::Kill) {
            let found = looked_for(effect);
            // A PID alone does not identify a process, but the parent of an agent's shell is the agent.
            let is_parent = |target: &Target| target.value.origin().span.slice(text).contains("PPID");
            if effect.targets.iter().any(is_parent) {
                effect.flags.push("own-parent");
            }
            effect.targets.extend(found);
        }
    }

    fn target_in(&self, kind: EffectKind, value: Value, ran: Ran<'_>) -> Target {
        match kind.target_kind() {
            TargetKind::Name if kind == EffectKind::OpenContainer => {
                Target::new(self.with_home(value), TargetPath::None)
            }
            TargetKind::Name => Target::new(value, TargetPath::None),
            TargetKind::Path if is_standard_input(kind, &value) => Target::new(value, TargetPath::None),
            TargetKind::Path => self.path_of(ran, value),
        }
    }

    /// Replaces the home folder in `/home/me:/x` or `source=/home/me,target=/x` with a tilde.
    fn with_home(&self, value: Value) -> Value {
        let home = self.event.home.trim_end_matches('/');
        let Some(text) = value.literal().filter(|text| !home.is_empty() && text.contains(home)) else { return value };
        let ends_path = |rest: &str| {
            rest.is_empty() || rest.starts_with([':', ',']) || rest.starts_with("/:") || rest.starts_with("/,")
        };
        let short = match text.strip_prefix(home).filter(|rest| ends_path(rest)) {
            Some(rest) => format!("~{rest}"),
            None => match text.split_once(&format!("={home}")).filter(|(_, rest)| ends_path(rest)) {
                Some((before, rest)) => format!("{before}=~{rest}"),
                None => return value,
            },
        };
        Value::text(short, value.origin())
    }

    /// Returns the target of a path operand, with separators by the language of its command.
    pub(super) fn path_of(&self, ran: Ran<'_>, value: Value) -> Target {
        if !ran.command.language.is_windows() {
            return self.path_target(value, ran.folder);
        }
        let target = self.path_target(with_slashes(&value), ran.folder);
        Target { value, ..target }
    }

    pub(crate) fn path_target(&self, value: Value, folder: Option<&str>) -> Target {
        match folder {
            Some(folder) => self.target(EffectKind::Read, value, folder),
            None if is_absolute(&value) => self.target(EffectKind::Read, value, "/"),
            None => Target::new(value, TargetPath::Unknown),
        }
    }

    pub(super) fn target(&self, kind: EffectKind, value: Value, folder: &str) -> Target {
        if kind.target_kind() == TargetKind::Name {
            return Target::new(value, TargetPath::None);
        }
        let folders = Folders {
            cwd: folder,
            start: self.start.as_deref().unwrap_or(folder),
            workspace: &self.event.workspace,
            home: &self.event.home,
        };
        let guard = self.guard_program(&value).map(|path| Value::text(path, value.origin()));
        let path = path::lexical(guard.as_ref().unwrap_or(&value), folders, &|name| self.variable(name));
        Target::new(value, path)
    }

    pub(super) fn variable(&self, name: &str) -> Option<String> {
        let set = self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        set.or_else(|| self.world.variable(name))
    }

    /// Returns the folder in which a command runs, including `-C` and similar options.
    pub(crate) fn folder(&self, command: &Command) -> Option<String> {
        let start = self.start.as_deref()?;
        let base = Folders { cwd: start, start, workspace: &self.event.workspace, home: &self.event.home };
        let resolve =
            |value: &Value, cwd: &str| match path::lexical(value, Folders { cwd, ..base }, &|name| self.variable(name))
            {
                // Each folder in it, as of `work/*`.
                TargetPath::Known { text, contents: true, .. } => Some(format!("{text}/*")),
                TargetPath::Known { text, .. } => Some(text),
                TargetPath::None | TargetPath::Unknown => None,
            };
        let moved = command.folder.as_ref()?;
        let folder = if moved.pieces.is_empty() { start.to_owned() } else { resolve(moved, start)? };
        let changes = command.invocation.as_ref().map(|invocation| invocation.values("directory", &command.words));
        let is_git = command.name == "git" || command.name == "make" || command.name == "tar";
        changes
            .unwrap_or_default()
            .iter()
            .filter(|_| is_git)
            .try_fold(folder, |folder, change| resolve(change, &folder))
    }
}

/// `cat -`, `curl -d @-`: programs that read take a dash for their standard input, never for a file of that name.
fn is_standard_input(kind: EffectKind, value: &Value) -> bool {
    matches!(kind, EffectKind::Read | EffectKind::SendFile) && value.literal().as_deref() == Some("-")
}

/// Returns whether the command is a guess: it comes from the words of an unknown program, which may not run it.
fn is_guess(command: &Command, commands: &[Command]) -> bool {
    let parent = command.parent.and_then(|id| commands.get(id));
    parent.is_some_and(|parent| parent.invocation.is_none() && !parent.name.is_empty())
}

/// Returns the commands that print the value, including those whose output was first stored in a variable.
fn with_printing(value: &Value, from: &[CommandId], commands: &[Command]) -> Vec<CommandId> {
    let printed = value.pieces.iter().filter(|(piece, _)| matches!(piece, Piece::Output(_))).map(|(_, origin)| *origin);
    let printed: Vec<Origin> = printed.collect();
    let mut sources = from.to_vec();
    if !printed.is_empty() {
        work::spend(1 + commands.len() as u64 / 64);
    }
    for (id, command) in commands.iter().enumerate().filter(|_| !printed.is_empty()) {
        if command.words.first().is_some_and(|word| printed.contains(&word.origin())) {
            sources.push(id);
            sources.extend(command.stdin.sources());
        }
    }
    sources
}

/// Returns the operands of a command, or all words but options if its program is unknown.
fn operands(command: &Command) -> Vec<Value> {
    match &command.invocation {
        Some(invocation) => invocation.operands.iter().filter_map(|at| command.words.get(*at)).cloned().collect(),
        None => command.words.iter().skip(1).filter(|word| !word.prefix().starts_with('-')).cloned().collect(),
    }
}

pub(super) fn is_decoder(command: Option<&Command>) -> bool {
    command.is_some_and(|command| DECODERS.contains(&command.name.as_str()))
}

const DECODERS: [&str; 10] =
    ["base64", "base32", "basenc", "xxd", "openssl", "gunzip", "uudecode", "zcat", "bzcat", "xzcat"];

fn is_same_file(one: &Target, other: &Target) -> bool {
    !one.is_pattern() && one.path().is_some() && one.path() == other.path()
}

fn takes_over(grammar: Program) -> bool {
    grammar.has_opaque_operands() || grammar.runs_operands()
}

/// Returns whether the program's words may run code although the program has another purpose.
fn runs_by_the_way(grammar: Program) -> bool {
    grammar.runs().any(|entry| entry.escape() || entry.language() == Some("other"))
}

/// Returns the path that a word names: the complete word, or the part after its first `=`, `@` or `:`.
fn path_in(word: &Value) -> Option<Value> {
    let leads = |value: &Value| {
        let text = value.prefix();
        (text.starts_with('/') && !text.starts_with("//"))
            || text.starts_with("~/")
            || matches!(value.pieces.first(), Some((Piece::Home(_), _)))
    };
    if leads(word) {
        return Some(word.clone());
    }
    let prefix = word.prefix();
    // `SHELL=/bin/sh`, as make takes it, is a variable.
    let is_variable = |at: usize| prefix.bytes().take(at).all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let separator = prefix.find(['=', '@', ':']).filter(|at| !is_variable(*at));
    let after = separator.map(|at| word.without_prefix(at + 1)).filter(leads);
    let relative = || prefix.contains('/') && !prefix.contains([' ', '\n', ':']) && !prefix.starts_with('-');
    after.or_else(|| relative().then(|| word.clone()))
}

fn is_output_of(value: &Value, program: &str) -> bool {
    matches!(value.pieces.as_slice(), [(Piece::Output(reflex_shell::Printed::Program(name)), _)] if name == program)
}

fn decodes(value: &Value) -> bool {
    value.pieces.iter().any(|(piece, _)| {
        matches!(piece, Piece::Output(reflex_shell::Printed::Program(name)) if DECODERS.contains(&name.as_str()))
    })
}

fn is_absolute(value: &Value) -> bool {
    match value.pieces.first() {
        Some((Piece::Text(text), _)) => path::is_absolute(text),
        Some((Piece::Home(_) | Piece::Output(_) | Piece::Variable(_), _)) => true,
        Some((Piece::Glob(_) | Piece::Resolved | Piece::Unknown(_), _)) | None => false,
    }
}

/// `.\tool`, and in cmd also `tool.exe`, which cmd looks up in the working directory.
fn is_file_of_windows(command: &Command) -> bool {
    let name = command.words.first().map(|word| word.prefix().to_lowercase()).unwrap_or_default();
    let looked_for = [".exe", ".bat", ".cmd", ".com", ".vbs"].iter().any(|end| name.ends_with(end));
    command.language.is_windows() && (name.contains('\\') || (command.language == Language::Cmd && looked_for))
}

/// Returns the value with slashes as path separators.
fn with_slashes(value: &Value) -> Value {
    let slashed = |piece: &Piece| match piece {
        Piece::Text(text) => Piece::Text(text.replace('\\', "/")),
        Piece::Glob(_)
        | Piece::Home(_)
        | Piece::Variable(_)
        | Piece::Output(_)
        | Piece::Resolved
        | Piece::Unknown(_) => piece.clone(),
    };
    let mut slashed = Value { pieces: value.pieces.iter().map(|(piece, origin)| (slashed(piece), *origin)).collect() };
    // PowerShell expands a tilde to the home folder even in quotes.
    let tilde = slashed.prefix().strip_prefix('~').is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if tilde {
        let origin = slashed.origin();
        slashed = slashed.without_prefix(1);
        slashed.pieces.insert(0, (Piece::Home(String::new()), origin));
    }
    slashed
}

/// `//host/share`: a folder of another machine, which learns who requests it.
fn is_share(path: &str) -> bool {
    let host = path.strip_prefix("//").and_then(|rest| rest.split('/').next()).unwrap_or("");
    let local = ["?", ".", "localhost", "127.0.0.1", "wsl$", "wsl.localhost"];
    !host.is_empty() && host.starts_with(|ch: char| ch.is_ascii_alphanumeric()) && !local.contains(&host)
}

/// Returns the commands whose output it reads, also through a pipeline.
pub(super) fn with_sources(command: &Command, commands: &[Command]) -> BTreeSet<CommandId> {
    let mut found: BTreeSet<CommandId> = command.stdin.sources().iter().copied().collect();
    let mut open: Vec<CommandId> = found.iter().copied().collect();
    while let Some(source) = open.pop().and_then(|id| commands.get(id)) {
        open.extend(source.stdin.sources().iter().copied().filter(|id| found.insert(*id)));
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::analysis::analyze;
    use crate::library::{event, shell, tables, world};
    use crate::model::event::{Action, AgentPath, Event};

    fn effects(event: &Event) -> Vec<String> {
        let shown = |target: &crate::model::effect::Target| format!(" {}", target.shown());
        let analysis = analyze(event, tables(), &world(&[]));
        let one = |effect: &crate::model::effect::Effect| {
            let targets: String = effect.targets.iter().map(shown).collect();
            let site = if effect.site == reflex_shell::ExecTarget::Here { "" } else { effect.site.name() };
            format!("{}{targets} {site}", effect.kind.name()).trim_end().to_owned()
        };
        analysis.effects.iter().map(one).collect()
    }

    #[track_caller]
    fn check(command: &str, expected: &[&str]) {
        assert_eq!(effects(&shell(command)), expected, "{command}");
    }

    #[test]
    fn a_program_does_what_its_entry_says_to_its_operands() {
        check("rm -rf a /b", &["delete /repo/a /b"]);
        check("cd sub && rm a", &["delete /repo/sub/a"]);
        check("sudo env X=1 rm a", &["raise-privilege", "delete /repo/a", "set-variable X"]);
        check("true", &[]);
    }

    #[test]
    fn a_home_in_shared_memory_is_a_home() {
        let of = |home: &str, command: &str| effects(&Event { home: home.into(), ..shell(command) });
        assert_eq!(of("/dev/shm/me", "rm -rf ~ /dev/shm/x 2> /dev/null"), ["delete /dev/shm/me"]);
        assert_eq!(of("/home/me", "rm -rf /dev/shm/x"), [""; 0]);
        assert_eq!(of("/", "ls 2> /dev/null"), [""; 0]);
    }

    #[test]
    fn redirections_are_effects_of_their_own() {
        check("true > a", &["truncate /repo/a", "overwrite /repo/a"]);
    }

    #[test]
    fn on_another_system_it_happens_there() {
        let effects = effects(&shell("ssh host rm -rf /srv"));
        assert!(effects.contains(&"delete /srv remote".to_owned()), "{effects:?}");
        assert!(!effects.contains(&"delete /srv".to_owned()), "{effects:?}");
    }

    #[test]
    fn a_tool_without_a_shell_has_its_effect_too() {
        let path = || AgentPath::new("src/a.rs");
        assert_eq!(effects(&event(Action::Delete { path: path() })), ["delete /repo/src/a.rs"]);
        assert_eq!(effects(&event(Action::Read { path: path() })), ["read /repo/src/a.rs"]);
        assert_eq!(
            effects(&event(Action::Write { path: path(), content: String::new() })),
            ["overwrite /repo/src/a.rs"]
        );
    }

    #[test]
    fn every_effect_and_target_has_an_id_of_its_own() {
        let analysis = analyze(&shell("rm a b; mv c d; cat e > f"), tables(), &world(&[]));
        let effects: Vec<_> = analysis.effects.iter().map(|effect| effect.id.index()).collect();
        let targets: Vec<_> =
            analysis.effects.iter().flat_map(|effect| &effect.targets).map(|one| one.id.index()).collect();
        assert!(effects.len() > 3 && targets.len() > 5);
        assert_eq!(effects, (0..effects.len()).map(Some).collect::<Vec<_>>());
        assert_eq!(targets, (0..targets.len()).map(Some).collect::<Vec<_>>());
    }
}
