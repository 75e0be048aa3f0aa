//! Second step of the analysis: the files that a call runs and the scripts that it writes. Their text is read like the
//! call's own, and their effects belong to the call. File contents are requested from the world only for files that are
//! run.

mod executed;
mod folders;
mod forms;
mod language;
mod loaded;
mod patched;
mod sourced;
mod started;
mod tasks;
mod texts;

use super::about_guard::{self, Analyst, Analyze};
use super::aliases::{self, Aliases};
use super::compiled;
use super::config_files;
use super::config_files::later::{Counts, DeferredExecution, Text};
use super::effects::{self, EffectExtractor};
use super::loading::{self, Loader};
use super::mcp;
use super::replaced::replaced;
use super::task_runners::TaskFile;
use crate::model::analysis::{Analysis, Script, Starter, Usage};
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::event::{Action, AgentPath, Event};
use crate::model::mounts::MountTable;
use crate::model::path::{self, Folders, parent};
use crate::model::world::{MAX_CONTENT, World};
use crate::text::glob;
use crate::text::json::lenient_json;
use language::{is_code, language_by_itself, language_if_run, language_of, may_reach};
use reflex_shell::{
    CallInput, Command, CommandId, ExecTarget, Language, Piece, Programs, Source, Span, Stdin, Surroundings,
    UnknownReason, Value, work,
};
use reflex_tables::{Tables, Texts};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Effects that take something from other systems or people, give something to them or destroy something of theirs. No
/// legitimate project code has them.
const REACHES_OTHERS: [EffectKind; 19] = [
    EffectKind::RunFetched,
    EffectKind::RunDecoded,
    EffectKind::GiveShell,
    EffectKind::StartShell,
    EffectKind::Connect,
    EffectKind::Send,
    EffectKind::SendText,
    EffectKind::SendFile,
    EffectKind::PrintEnvironment,
    EffectKind::RevealSecret,
    EffectKind::OpenTunnel,
    EffectKind::MineCrypto,
    EffectKind::Format,
    EffectKind::Exhaust,
    EffectKind::ChangeGuard,
    EffectKind::ConfigureAgent,
    EffectKind::PushForce,
    EffectKind::DeleteRemoteRef,
    EffectKind::DestroyRemote,
];

/// Changes a script makes to the machine on which it runs and that no build needs.
const CHANGES_MACHINE: [EffectKind; 4] =
    [EffectKind::Persist, EffectKind::WipeTraces, EffectKind::SwitchOffProtection, EffectKind::ChangeAccounts];

/// Maximum number of scripts read for one call. Exceeding it is reported.
const MAX_SCRIPTS: usize = 512;

/// Maximum number of sources read for one compile effect. Exceeding it is reported.
const MAX_SOURCES: usize = 256;

/// Budget, in units of work, for reading code that the call writes but does not run.
const MAX_CODE_WORK: u64 = 10_000;

/// Maximum depth of a chain of scripts that run scripts. Deeper scripts are not read, which is reported.
const MAX_LEVELS: usize = 64;

/// Reads the files that the call runs and writes, and in turn the files that those run.
pub(super) fn follow(event: &Event, analyst: Analyst<'_>, analysis: &mut Analysis) {
    let Analyst { tables, world, analyze } = analyst;
    let mut follower = ScriptResolver { event, tables, world, analyze, analysis };
    for (index, action) in event.actions.iter().enumerate() {
        if let Action::McpCall { tool, arguments, .. } = action {
            mcp::written(tool, arguments).iter().for_each(|action| follower.written(index, action));
        }
        follower.written(index, action);
        follower.printed(index, action);
    }
    let (mut next, mut text) = (0, 0);
    loop {
        while next < follower.analysis.effects.len() {
            follower.effect(next);
            next += 1;
        }
        if text >= follower.analysis.readings.len() + follower.analysis.scripts.len() {
            break;
        }
        follower.loaded(text);
        text += 1;
    }
}

struct ScriptResolver<'a> {
    event: &'a Event,
    tables: Tables,
    world: &'a dyn World,
    /// The analysis of a text that names the guard's commands.
    analyze: Analyze,
    analysis: &'a mut Analysis,
}

/// A text about to be read as a script.
struct Found {
    path: String,
    text: String,
    language: Language,
    usage: Usage,
    input: CallInput,
    folder: Option<String>,
    assignments: Vec<(String, String)>,
    /// The mounts of the place in which it runs.
    place: Option<Rc<MountTable>>,
}

impl ScriptResolver<'_> {
    fn effect(&mut self, index: usize) {
        let Some(effect) = self.analysis.effects.get(index) else { return };
        let level = self.level(effect) + 1;
        if self.usage(effect) == Some(Usage::Written) {
            // A script that is only written is followed further when it is run.
            return;
        }
        if effect.kind == EffectKind::RunSqlFile {
            return self.statements(index);
        }
        if effect.kind == EffectKind::ApplyPatch {
            return self.patched(index);
        }
        if effect.kind == EffectKind::RunTask && effect.flags.contains(&"compose") {
            return self.started(index, level);
        }
        if effect.kind == EffectKind::RunTask && effect.flags.contains(&"dev-container") {
            return self.dev_container(index, level);
        }
        if effect.kind == EffectKind::Compile && effect.flags.contains(&"image") {
            return self.image(index, level);
        }
        if effect.site != ExecTarget::Here {
            return;
        }
        let found: Vec<Found> = match self.in_each_folder(effect) {
            Some(effects) => effects.iter().filter_map(|effect| self.text_of(effect)).collect(),
            None => self.text_of(effect).into_iter().collect(),
        };
        let action = effect.action;
        let starter = Starter { script: effect.script, command: effect.command };
        if found.is_empty() {
            return;
        }
        if let Some(effect) =
            self.analysis.effects.get_mut(index).filter(|effect| effect.kind == EffectKind::RunUnknown)
        {
            effect.kind = EffectKind::RunFile;
        }
        for found in found {
            self.run(found, level, action, starter);
        }
    }

    /// Returns the text that an effect runs.
    fn text_of(&self, effect: &Effect) -> Option<Found> {
        if matches!(effect.kind, EffectKind::RunFile | EffectKind::RunUnknown) {
            self.run_file(effect)
        } else if effect.kind == EffectKind::RunTask {
            self.task(effect)
        } else if effect.kind == EffectKind::Compile {
            self.compiled(effect)
        } else {
            None
        }
    }

    /// Reads a text that a command of the call runs.
    fn run(&mut self, found: Found, level: usize, action: usize, starter: Starter) {
        let again =
            |script: &&mut Script| script.path == found.path && script.text == found.text && starter.script.is_some();
        if let Some(known) = self.analysis.scripts.iter_mut().find(again) {
            known.starter = None;
            return;
        }
        if level > MAX_LEVELS {
            return work::cut(|| {
                format!("the chain of scripts that ends in {} is longer than {MAX_LEVELS} files", found.path)
            });
        }
        if self.has_room(&found.path) {
            let runs = found.usage != Usage::Written;
            self.read(action, level, found);
            if let Some(script) = self.analysis.scripts.last_mut() {
                script.starter = Some(starter);
            }
            self.report_gaps(runs);
        }
    }

    /// Returns whether one more script may be read. Reports the limit if not.
    fn has_room(&self, path: &str) -> bool {
        let has_room = self.analysis.scripts.len() < MAX_SCRIPTS;
        if !has_room {
            work::cut(|| format!("{path} would be read after {MAX_SCRIPTS} other texts"));
        }
        has_room
    }

    /// Reports parts of the last script that the reader left out because of a limit, if the script is run.
    fn report_gaps(&self, runs: bool) {
        let Some(script) = self.analysis.scripts.last().filter(|_| runs) else { return };
        let is_cut = script.reading.gaps.iter().any(|gap| gap.why == UnknownReason::Limit);
        // Code that the project has committed and that other code of the project runs counts as far as it is read, like
        // a program of the project.
        if is_cut && (script.level <= 1 || !loading::is_unchanged(self.world, &script.path)) {
            work::cut(|| format!("{} is larger or nested deeper than what is read", script.path));
        }
    }

    fn level(&self, effect: &Effect) -> usize {
        self.script(effect).map_or(0, |script| script.level)
    }

    fn usage(&self, effect: &Effect) -> Option<Usage> {
        self.script(effect).map(|script| script.usage)
    }

    fn script(&self, effect: &Effect) -> Option<&Script> {
        self.analysis.scripts.get(effect.script?)
    }

    /// Adds the statements in a file that a database client reads as queries, like queries in the call.
    fn statements(&mut self, index: usize) {
        let Some(effect) = self.analysis.effects.get(index).filter(|effect| effect.site == ExecTarget::Here) else {
            return;
        };
        let text = |path: &str| self.written_by_text(effect, path).or_else(|| self.content(effect, path));
        let texts = effect.targets.iter().filter_map(|target| Some((target, text(target.path()?)?)));
        let site = self.analysis.command(effect).map_or(ExecTarget::Here, |command| command.site);
        let queries: Vec<Effect> = texts
            .map(|(target, text)| Effect {
                kind: EffectKind::Sql,
                targets: vec![Target::new(target.value.clone(), TargetPath::None)],
                flags: vec!["file"],
                argument: Some(Value::text(text, target.value.origin())),
                site,
                ..effect.clone()
            })
            .collect();
        let mut none = Vec::new();
        let extractor = self.extractor(effect, &mut none);
        let commands = self.analysis.reading(effect).map_or(&[][..], |reading| &reading.commands);
        let edits: Vec<Effect> = queries.iter().filter_map(|query| extractor.database_edit(query, commands)).collect();
        self.analysis.effects.extend(queries);
        self.analysis.effects.extend(edits);
    }

    /// Returns the program given to a compiler. The result may never run, so its usage is `Run` only if the command
    /// runs it at once.
    fn compiled(&self, effect: &Effect) -> Option<Found> {
        let mut text = String::new();
        let mut first = None;
        report_number(effect);
        for target in effect.targets.iter().filter_map(Target::path).take(MAX_SOURCES) {
            let mains = || compiled::MAINS.iter().map(|name| path::absolute(name, target));
            let files: Vec<String> =
                if compiled::is_source(target) { vec![target.to_owned()] } else { mains().collect() };
            for file in files {
                let Some(content) = self.written_by_text(effect, &file).or_else(|| self.content(effect, &file)) else {
                    continue;
                };
                text.push_str(&compiled::commands(&content));
                text.push('\n');
                first.get_or_insert(file);
            }
        }
        let usage = if effect.flags.contains(&"runs") { Usage::Run } else { Usage::Written };
        (!text.trim().is_empty()).then(|| Found {
            path: first.unwrap_or_default(),
            text,
            language: Language::Shell,
            usage,
            input: CallInput::default(),
            folder: effect.folder.clone(),
            assignments: Vec::new(),
            place: None,
        })
    }

    fn run_file(&self, effect: &Effect) -> Option<Found> {
        let target = effect.targets.first()?;
        let TargetPath::Known { text: path, .. } = &target.path else { return None };
        if self.analysis.reading(effect).is_some_and(|reading| reading.has_loaded(path)) {
            return None;
        }
        let command = self.analysis.command(effect)?;
        let Some((path, mut text)) = self.run_content(effect, command, path) else {
            self.report_size(path);
            return None;
        };
        let path = &path;
        if path::is_within(path, &self.event.workspace) {
            text.push_str(&sourced::calls(self.analysis, effect, &text, self.text_around(effect)));
        }
        let language = language_of(command, path, &text)?;
        let start = command.words.iter().position(|word| *word == target.value).unwrap_or(0);
        let (place, folder) = self.place(effect);
        Some(Found {
            path: path.clone(),
            text,
            language,
            usage: Usage::Run,
            input: CallInput {
                parameters: command.words.iter().skip(start).cloned().collect(),
                stdin: stdin_of(command),
            },
            folder,
            assignments: self.known(&command.assignments),
            place,
        })
    }

    /// Returns the file that a command runs by this path, with its content: for a folder, or a name without its ending,
    /// the one that the program looks for.
    fn run_content(&self, effect: &Effect, command: &Command, path: &str) -> Option<(String, String)> {
        if let Some(text) = self.content(effect, path) {
            return Some((path.to_owned(), text));
        }
        let invocation = command.invocation.as_ref()?;
        let mut entries = invocation.grammars.iter().flat_map(|grammar| grammar.runs());
        let entry =
            entries.find(|entry| entry.file().is_some() && reflex_shell::applies(entry.conditions(), invocation))?;
        let mut paths = Vec::new();
        if let Some(manifest) = entry.manifest() {
            let manifest = self.content(effect, &path::absolute(manifest, path));
            let main = manifest.and_then(|text| Some(lenient_json(&text)?.get("main")?.as_str()?.to_owned()));
            paths.extend(main.map(|main| path::absolute(&main, path)));
        }
        paths.push(path.to_owned());
        let endings = || entry.endings().iter();
        let files = paths.iter().flat_map(|path| {
            std::iter::once(path.clone()).chain(endings().map(move |ending| format!("{path}{ending}")))
        });
        files.skip_while(|file| file == path).find_map(|file| Some((file.clone(), self.content(effect, &file)?)))
    }

    /// Returns the mounts of the place in which an effect's command runs, and its folder there.
    fn place(&self, effect: &Effect) -> (Option<Rc<MountTable>>, Option<String>) {
        let here = || (None, effect.folder.clone());
        let (Some(reading), Some(id)) = (self.analysis.reading(effect), effect.command) else { return here() };
        let Some(command) = reading.commands.get(id) else { return here() };
        if command.parent.is_none() && self.script(effect).is_none_or(|script| script.place.is_none()) {
            return here();
        }
        let mut none = Vec::new();
        let extractor = self.extractor(effect, &mut none);
        match extractor.tables(&reading.commands).get(id).cloned().flatten() {
            Some(table) => (Some(table), extractor.folder(command)),
            None => here(),
        }
    }

    /// Returns an extractor for the text that contains the effect.
    fn extractor<'e>(&'e self, effect: &Effect, effects: &'e mut Vec<Effect>) -> EffectExtractor<'e> {
        let script = self.script(effect);
        EffectExtractor {
            event: self.event,
            world: self.world,
            tables: self.tables,
            action: effect.action,
            script: effect.script,
            start: script.map_or_else(|| Some(self.event.cwd.clone()), |script| script.folder.clone()),
            variables: &[],
            place: script.and_then(|script| script.place.clone()),
            effects,
        }
    }

    /// Reports a file that is not read because it is too large.
    fn report_size(&self, path: &str) {
        if self.world.is_too_large(path) {
            work::cut(|| format!("{path} is larger than {} KiB", MAX_CONTENT / 1024));
        }
    }

    /// Returns the text that contains the effect.
    fn text_around(&self, effect: &Effect) -> &str {
        match (self.script(effect), self.event.actions.get(effect.action)) {
            (Some(script), _) => &script.text,
            (None, Some(Action::Shell { command, .. })) => command,
            (None, _) => "",
        }
    }

    /// Returns the values of variables set for one command, as far as they are known.
    fn known(&self, assignments: &[(String, Value)]) -> Vec<(String, String)> {
        let known = |value: &Value| match path::lexical(value, self.folders(), &|name| self.world.variable(name)) {
            _ if value.literal().is_some() => value.literal().map(|text| text.into_owned()),
            TargetPath::Known { text, .. } => Some(text),
            TargetPath::None | TargetPath::Unknown => None,
        };
        assignments.iter().filter_map(|(name, value)| Some((name.clone(), known(value)?))).collect()
    }

    fn folders(&self) -> Folders<'_> {
        let Event { cwd, workspace, home, .. } = self.event;
        Folders { cwd, start: cwd, workspace, home }
    }

    /// Handles a file that the action writes without running it.
    fn written(&mut self, index: usize, action: &Action) {
        let (Action::Write { path, content } | Action::Edit { path, content, .. }) = action else { return };
        let path = path::absolute(&path.with_slashes(), &self.event.cwd);
        self.about_guard(index, &path, content, action);
        let is_executed = self.executed(index, &path, action);
        if let Some(mut later) = config_files::deferred(self.tables, &path, content) {
            let mut old = replaced(action, &self.event.cwd, self.world);
            // An edit of one line may change the meaning of others, such as the trigger of a workflow.
            let previous = self.world.content_before(&path).filter(|_| matches!(action, Action::Edit { .. }));
            if let Some((edited, previous)) = previous.and_then(|previous| Some((made(action, &previous)?, previous))) {
                later = config_files::deferred(self.tables, &path, &edited).unwrap_or_default();
                old = Cow::Owned(previous);
            }
            let before = config_files::deferred(self.tables, &path, &old).unwrap_or_default();
            return self.later(index, &path, later.beyond(&before));
        }
        if is_executed {
            return;
        }
        let package = match crate::model::path::name_of(&path) {
            "package.json" => Some(TaskFile::Package),
            "composer.json" => Some(TaskFile::Composer),
            _ => None,
        };
        let before = package.and_then(|_| self.world.content_before(&path)).unwrap_or_default();
        let made = package.and_then(|_| made(action, &before));
        let content = made.as_ref().unwrap_or(content);
        let install = ["install".to_owned()];
        let Some(package) = package else { return self.code(index, &path, action) };
        let (language, text) = (Language::Shell, package.recipe(content, &install));
        let folder = Some(self.event.workspace.clone());
        let found = Found {
            path,
            text,
            language,
            usage: Usage::Written,
            input: CallInput::default(),
            folder,
            assignments: Vec::new(),
            place: None,
        };
        let first = self.analysis.effects.len();
        let text = found.text.clone();
        let path = found.path.clone();
        self.read(index, 1, found);
        if self.analysis.effects.len() > first {
            self.forget_unchanged(first, &text, &package.recipe(&before, &install));
        }
        let (others, first) = (package.others(content), self.analysis.effects.len());
        if !others.is_empty() {
            let script = Text { text: others.clone(), language, site: ExecTarget::Here, counts: Counts::Lasting };
            self.later_text(index, &path, script);
        }
        if self.analysis.effects.len() > first {
            self.forget_unchanged(first, &others, &package.others(&before));
        }
    }

    /// Handles a written script or code of the project. It runs only when another command names it, and is judged then.
    /// Until then only effects that no project's code needs are reported: giving a shell away, running fetched code or
    /// handing out keys.
    fn code(&mut self, index: usize, path: &str, action: &Action) {
        let (Action::Write { content, .. } | Action::Edit { content, .. }) = action else { return };
        let language = language_if_run(path, content)
            .or_else(|| language_by_itself(path, content).filter(|_| is_code(path) && may_reach(content)));
        let Some(language) = language.filter(|_| content.len() <= MAX_CONTENT) else { return };
        let first = self.analysis.effects.len();
        let text = Text { text: content.clone(), language, site: ExecTarget::Here, counts: Counts::Taken };
        work::aside(MAX_CODE_WORK, || self.later_text(index, path, text));
        self.forget_unchanged(first, content, &replaced(action, &self.event.cwd, self.world));
    }

    /// Handles texts that a command prints into files, and text typed into a running program.
    fn printed(&mut self, index: usize, action: &Action) {
        let files = self.analysis.readings.get(index).into_iter().flat_map(|reading| &reading.files);
        let files: Vec<_> = files.cloned().collect();
        for (name, text) in files {
            let path = path::absolute(&name, &self.event.cwd);
            if about_guard::may_mention(&text) {
                self.about_guard(index, &path, &text, action);
            }
            if self.starts_by_itself(&path) {
                let written = Action::Write { path: AgentPath::new(path.as_str()), content: text.clone() };
                self.executed(index, &path, &written);
            }
            // Other commands of the file count when they run.
            if let Some(mut later) = config_files::deferred(self.tables, &path, &text) {
                later.scripts.retain(Text::is_unasked);
                if later.is_empty() {
                    continue;
                }
                let previous = self.world.content_before(&path).unwrap_or_default();
                let before = config_files::deferred(self.tables, &path, &previous).unwrap_or_default();
                self.later(index, &path, later.beyond(&before));
            }
        }
        if let Action::Input { text } = action {
            self.about_guard(index, "", text, action);
        }
    }

    /// Adds the effects of a text that mentions the guard, without those that the replaced text already has.
    fn about_guard(&mut self, index: usize, path: &str, text: &str, action: &Action) {
        let analyst = Analyst { tables: self.tables, world: self.world, analyze: self.analyze };
        let effects = |text: &str| about_guard::effects((self.event, index), (path, text), analyst);
        let mut found = effects(text);
        if !found.is_empty() {
            let old = replaced(action, &self.event.cwd, self.world);
            let previous = if old.is_empty() { Vec::new() } else { effects(&old) };
            let again = |effect: &Effect| {
                previous.iter().any(|known| (&known.flags, &known.argument) == (&effect.flags, &effect.argument))
            };
            found.retain(|effect| !again(effect));
        }
        self.analysis.effects.append(&mut found);
    }

    /// Removes effects on lines that were removed and added again unchanged, since they are not a change.
    fn forget_unchanged(&mut self, first: usize, text: &str, old: &str) {
        if old.is_empty() {
            return;
        }
        let previous: BTreeSet<&str> = old.lines().map(str::trim).collect();
        let mut index = 0;
        self.analysis.effects.retain(|effect| {
            index += 1;
            let span = effect.origin.span;
            let lines = lines_around(text, span);
            index <= first
                || span == Span::default()
                || lines.is_empty()
                || !lines.lines().all(|line| previous.contains(line.trim()))
        });
    }

    /// Adds the settings and commands that a written file makes other programs trust or run.
    fn later(&mut self, action: usize, path: &str, later: DeferredExecution) {
        let is_tool = |effect: &&mut Effect| effect.command.is_none() || effect.flags.contains(&"patched");
        let is_of_action = |effect: &&mut Effect| effect.action == action && effect.script.is_none() && is_tool(effect);
        self.analysis.effects.iter_mut().filter(is_of_action).for_each(|effect| effect.flags.push("understood"));
        for (flags, value) in later.settings {
            self.analysis.effects.push(Effect::configured(action, flags, &value));
        }
        for script in later.scripts {
            if self.has_room(path) {
                self.later_text(action, path, script);
                self.report_gaps(true);
            }
        }
    }

    fn later_text(&mut self, action: usize, path: &str, script: Text) {
        let is_unasked = script.is_unasked();
        let first = self.analysis.effects.len();
        let found = Found {
            path: path.to_owned(),
            text: script.text,
            language: script.language,
            usage: Usage::Written,
            input: CallInput::default(),
            folder: Some(self.event.workspace.clone()),
            assignments: Vec::new(),
            place: None,
        };
        let written = self.analysis.scripts.len();
        self.read(action, 1, found);
        self.analysis.scripts.iter_mut().skip(written).for_each(|script| script.is_unasked = is_unasked);
        let mut index = 0;
        let Event { cwd, workspace, home, .. } = self.event;
        let folders = Folders { cwd, start: cwd, workspace, home };
        let is_lasting = script.site == ExecTarget::Here && script.counts == Counts::Lasting;
        let changes_machine = |effect: &Effect| {
            is_lasting && (CHANGES_MACHINE.contains(&effect.kind) || is_beyond(effect, folders, self.tables))
        };
        let counts = |effect: &Effect| {
            REACHES_OTHERS.contains(&effect.kind) || takes_home(effect, folders) || changes_machine(effect)
        };
        self.analysis.effects.retain(|effect| {
            index += 1;
            index <= first || matches!(script.counts, Counts::All | Counts::Unasked) || counts(effect)
        });
        let added = self.analysis.effects.iter_mut().skip(first);
        added.filter(|effect| effect.site == ExecTarget::Here).for_each(|effect| effect.site = script.site);
        let on_demand = script.site == ExecTarget::Container || script.counts == Counts::Taken;
        self.mark(first, if on_demand { "on-demand" } else { "by-tool" });
    }

    /// Marks the effects from `first` on with the way in which the written text comes to run.
    fn mark(&mut self, first: usize, flag: &'static str) {
        self.analysis.effects.iter_mut().skip(first).for_each(|effect| effect.flags.push(flag));
    }

    fn read(&mut self, action: usize, level: usize, found: Found) {
        let world = self.world;
        let begins = found.folder.clone().unwrap_or_else(|| parent(&found.path).to_owned());
        let loader = Loader::new(self.event, self.tables, world, &begins);
        let variables = found.assignments;
        let assigned = |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let surroundings = Surroundings {
            programs: Programs::new(self.tables),
            variable: &|name| assigned(name).or_else(|| world.variable(name)),
            alias: &|program, name| if program.is_empty() { None } else { world.alias(program, name) },
            input: found.input,
            source: Source { path: &found.path, load: Some(&|name| loader.load(name)) },
        };
        let reading = reflex_shell::read_as(found.language, &found.text, &surroundings);
        let first = self.analysis.effects.len();
        let script = Some(self.analysis.scripts.len());
        let start = found.folder.clone();
        let (event, tables) = (self.event, self.tables);
        EffectExtractor {
            event,
            world,
            tables,
            action,
            script,
            start,
            variables: &variables,
            place: found.place.clone(),
            effects: &mut self.analysis.effects,
        }
        .draft(&found.text, &reading);
        // A script that the call names runs with the variables of its environment.
        let is_named = found.usage == Usage::Run && level == 1 && found.language == Language::Shell;
        let is_in_progress = found.usage == Usage::Run && level == 1 && self.is_work_in_progress(&found.path);
        let unclear = keep_known(&mut self.analysis.effects, first, &|effect| {
            is_named && deletes_by_unset(effect, world) || is_in_progress && deletes_unknown(effect)
        });
        let (path, text, usage, folder) = (found.path, found.text, found.usage, found.folder);
        let place = found.place;
        let is_unasked = false;
        let script =
            Script { path, text, reading, usage, is_unasked, folder, place, action, level, starter: None, unclear };
        self.analysis.scripts.push(script);
    }

    /// Returns whether the file belongs to the project and its current content is in no git commit. Such a file counts
    /// as code of the call itself.
    fn is_work_in_progress(&self, path: &str) -> bool {
        let is_changed = || match self.world.is_tracked(path) {
            Some(true) => self.world.uncommitted(path).is_something(),
            Some(false) => self.world.is_ignored(path) == Some(false),
            None => false,
        };
        path::is_within(path, &self.event.workspace) && is_changed()
    }

    /// Returns the content that the same text has written to the file.
    fn written_by_text(&self, effect: &Effect, path: &str) -> Option<String> {
        let reading = self.analysis.reading(effect).filter(|_| effect.script.is_none())?;
        let folder = effect.folder.as_deref().unwrap_or("/");
        let is_it =
            |name: &str| ["/", self.event.cwd.as_str(), folder].iter().any(|at| path::absolute(name, at) == path);
        reading.files.iter().find(|(name, _)| is_it(name)).map(|(_, text)| text.clone())
    }

    /// Returns the content of the file when it is run: the content that another action of this call wrote before,
    /// otherwise the world's content. A write by the same text is known to its reader; if the reader does not know it,
    /// the content is unknown.
    fn content(&self, effect: &Effect, path: &str) -> Option<String> {
        if !work::spend(self.analysis.effects.len() as u64 / 64) {
            return None;
        }
        let writes = |other: &&Effect| {
            matches!(other.kind, EffectKind::Overwrite | EffectKind::Append)
                && other.script == effect.script
                && (other.action, other.command) < (effect.action, effect.command)
                && other.targets.iter().any(|target| target.path() == Some(path))
        };
        match self.analysis.effects.iter().rfind(writes).map(|other| self.event.actions.get(other.action)) {
            Some(Some(Action::Write { content, .. })) => Some(content.clone()),
            Some(_) => self.content_of_source(effect, path),
            None => self.world.content(path).or_else(|| self.content_of_source(effect, path)),
        }
    }

    /// Returns the content of a file that the call itself links, copies, moves or prints to `path`.
    fn content_of_source(&self, effect: &Effect, path: &str) -> Option<String> {
        if !work::spend(self.analysis.effects.len() as u64 / 8) {
            return None;
        }
        let aliases = Aliases::from_analysis(self.analysis, self.folders(), &|name| self.world.variable(name));
        let linked = aliases.linked(effect, path, true);
        let sources = aliases.sources(&linked).into_iter().chain(aliases::poured_into(self.analysis, &linked));
        let linked = Some(linked.clone()).filter(|linked| linked != path);
        linked.into_iter().chain(sources).find_map(|source| self.world.content(&source))
    }
}

/// Returns the content of the file after an edit, if the edit names the text that it replaces.
fn made(action: &Action, before: &str) -> Option<String> {
    let Action::Edit { content, removed, .. } = action else { return None };
    let matches = !removed.is_empty() && before.contains(removed.as_str());
    matches.then(|| before.replacen(removed.as_str(), content, 1))
}

/// Returns the text that a command reads on standard input, as far as it is known.
fn stdin_of(command: &Command) -> Option<Value> {
    match &command.stdin {
        Stdin::Text(text) | Stdin::Pipe(_, text) => Some(text.clone()),
        Stdin::Inherited | Stdin::File(_) => None,
    }
}

/// Reports an effect that has more sources than are read.
fn report_number(effect: &Effect) {
    if effect.targets.len() > MAX_SOURCES {
        work::cut(|| format!("more than {MAX_SOURCES} files are given to one command"));
    }
}

/// Returns the complete lines that contain the span.
fn lines_around(text: &str, span: Span) -> &str {
    let (start, end) = (span.start as usize, span.end as usize);
    let from = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let to = text.get(end..).and_then(|after| after.find('\n')).map_or(text.len(), |at| end + at);
    text.get(from..to).unwrap_or("")
}

/// Returns whether the effect deletes the home folder, a folder above it, or a path in it outside the project and the
/// hidden folders of programs. No build needs that.
fn takes_home(effect: &Effect, Folders { home, workspace, .. }: Folders<'_>) -> bool {
    let is_personal = |path: &str| {
        let below = path.strip_prefix(home).and_then(|rest| rest.strip_prefix('/'));
        below.is_some_and(|below| !below.starts_with('.')) && !path::is_within(path, workspace)
    };
    let above = |target: &Target| target.path().is_some_and(|path| path::is_within(home, path) || is_personal(path));
    effect.kind == EffectKind::Delete && effect.site == ExecTarget::Here && effect.targets.iter().any(above)
}

/// Returns whether the effect writes a startup file outside the project or reads keys there. No build needs that.
fn is_beyond(effect: &Effect, Folders { home, workspace, .. }: Folders<'_>, tables: Tables) -> bool {
    const WRITES: [EffectKind; 4] = [EffectKind::Overwrite, EffectKind::Append, EffectKind::Edit, EffectKind::Link];
    let classes: &[&str] = if WRITES.contains(&effect.kind) {
        &["shell-startup", "system-startup"]
    } else if effect.kind == EffectKind::Read {
        &["secret"]
    } else {
        return false;
    };
    let places = tables.library().places();
    let is_listed = |path: &str| {
        let class = |class: &&str| {
            places.get(class).iter().any(|place| {
                let fits = |list: Texts<'_>| list.iter().any(|pattern| glob::fits(pattern, path, home));
                fits(place.paths()) && !fits(place.except())
            })
        };
        !path::is_within(path, workspace) && classes.iter().any(class)
    };
    effect.site == ExecTarget::Here && effect.targets.iter().filter_map(Target::path).any(is_listed)
}

/// Drops targets of a script that are known only at run time: callers usually pass the right ones. In the call itself
/// they count. Returns the commands that lost a target and may create or move any file.
fn keep_known(effects: &mut Vec<Effect>, first: usize, counts: &dyn Fn(&Effect) -> bool) -> Vec<Option<CommandId>> {
    let (mut index, mut unclear) = (0, Vec::new());
    effects.retain_mut(|effect| {
        index += 1;
        let targets = effect.targets.len();
        let is_kept = index <= first || counts(effect) || effects::keep_known(effect);
        let is_complete = is_kept && effect.targets.len() == targets;
        if !is_complete && (effect.kind.is_opaque() || effect.kind == EffectKind::Move) {
            unclear.push(effect.command);
        }
        is_kept
    });
    unclear
}

/// `rm -rf "$NAME"/*` with an unset variable deletes the rest of the path.
fn deletes_by_unset(effect: &Effect, world: &dyn World) -> bool {
    let is_unset = |target: &Target| match target.value.pieces.first() {
        Some((Piece::Variable(name), _)) => target.path == TargetPath::Unknown && world.variable(name).is_none(),
        Some(_) | None => false,
    };
    let deletes_here = effect.kind == EffectKind::Delete && effect.site == ExecTarget::Here;
    deletes_here && effect.flags.contains(&"recursive") && effect.targets.iter().any(is_unset)
}

/// `rmtree(os.environ["D"])`: a tree whose path is unknown before the call runs.
fn deletes_unknown(effect: &Effect) -> bool {
    let is_unknown = |target: &Target| target.path == TargetPath::Unknown;
    effect.kind == EffectKind::Delete
        && effect.site == ExecTarget::Here
        && effect.flags.contains(&"recursive")
        && effect.targets.iter().any(is_unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyze;
    use crate::library::{event, shell, tables, world};
    use crate::model::event::AgentPath;

    /// The deletions of a call, each with the usage of the script that contains it.
    fn deleted(event: &Event, files: &[(&str, &str)]) -> Vec<(String, Option<Usage>)> {
        let analysis = analyze(event, tables(), &world(files));
        let usage =
            |effect: &Effect| effect.script.and_then(|script| analysis.scripts.get(script)).map(|script| script.usage);
        let deleting = analysis.effects.iter().filter(|effect| effect.kind == EffectKind::Delete);
        deleting.flat_map(|effect| effect.targets.iter().map(move |target| (target.shown(), usage(effect)))).collect()
    }

    #[track_caller]
    fn check(command: &str, files: &[(&str, &str)], expected: &[(&str, Option<Usage>)]) {
        let expected: Vec<_> = expected.iter().map(|(path, usage)| ((*path).to_owned(), *usage)).collect();
        assert_eq!(deleted(&shell(command), files), expected, "{command}");
    }

    #[test]
    fn a_script_does_what_its_text_does_where_it_is_run() {
        let files = [
            ("x.sh", "rm -rf build\n"),
            ("sub/y.sh", "cd ..; bash x.sh"),
            ("z.py", "import shutil\nshutil.rmtree('out')"),
        ];
        check("bash x.sh", &files, &[("/repo/build", Some(Usage::Run))]);
        check("./x.sh", &files, &[("/repo/build", Some(Usage::Run))]);
        check("cd sub && sh y.sh", &files, &[("/repo/build", Some(Usage::Run))]);
        check("python3 z.py", &files, &[("/repo/out", Some(Usage::Run))]);
        check("cat x.sh", &files, &[]);
        check("bash missing.sh", &files, &[]);
    }

    #[test]
    fn a_parameter_of_the_call_is_in_the_script() {
        check("bash x.sh /srv", &[("x.sh", "rm -rf \"$1\"")], &[("/srv", Some(Usage::Run))]);
        let run = |path| [(path, Some(Usage::Run))];
        let js = [("x.js", "require('fs').rmSync(process.argv[2], {recursive: true})")];
        check("node x.js out", &js, &run("/repo/out"));
        check("bun x.js out", &js, &run("/repo/out"));
        let options = "import argparse, shutil\np = argparse.ArgumentParser()\np.add_argument('dir')\n\
            p.add_argument('-k', '--keep', action='store_true')\np.add_argument('--log-dir', default='logs')\n\
            a = p.parse_args()\nshutil.rmtree(a.dir)\nshutil.rmtree(a.log_dir)";
        let both = |dir, logs| [(dir, Some(Usage::Run)), (logs, Some(Usage::Run))];
        check("python3 o.py --keep out", &[("o.py", options)], &both("/repo/out", "/repo/logs"));
        check("python3 o.py --log-dir=x out", &[("o.py", options)], &both("/repo/out", "/repo/x"));
    }

    #[test]
    fn the_input_of_the_call_is_that_of_the_script() {
        let files = [("x.py", "import os, sys\nfor line in sys.stdin:\n  os.remove(line.strip())\n")];
        check("echo a | python3 x.py", &files, &[("/repo/a", Some(Usage::Run))]);
        check(
            "printf 'a\\nb\\n' | python3 x.py",
            &files,
            &[("/repo/a", Some(Usage::Run)), ("/repo/b", Some(Usage::Run))],
        );
        check("ls -d out/* | python3 x.py", &files, &[("everything in /repo/out", Some(Usage::Run))]);
    }

    #[test]
    fn words_of_the_call_reach_the_task() {
        let files = [
            ("package.json", r#"{"scripts": {"w": "rm -rf"}}"#),
            ("justfile", "w DIR='build':\n  rm -rf {{DIR}}\n"),
            (
                "Taskfile.yml",
                "tasks:\n  w:\n    cmds: ['rm -rf {{.DIR}}']\n  x:\n    cmds:\n      - rm {{.CLI_ARGS}}\n",
            ),
            ("Makefile", "DIRS ?= build\nclean:\n\trm -rf $(DIRS)\n"),
        ];
        let task = |path| [(path, Some(Usage::Task))];
        check("npm run w -- out", &files, &task("/repo/out"));
        check("yarn w out", &files, &task("/repo/out"));
        check("npm run w --silent", &files, &[]);
        check("just w out", &files, &task("/repo/out"));
        check("just w", &files, &task("/repo/build"));
        check("task w DIR=out", &files, &task("/repo/out"));
        check("DIR=out task w", &files, &task("/repo/out"));
        check("task x -- out", &files, &task("/repo/out"));
        check("make clean DIRS=~/x", &files, &task("/home/me/x"));
    }

    #[test]
    fn a_task_does_what_its_recipe_does() {
        let files = [
            ("Makefile", "all:\n\ttrue\nclean:\n\trm -rf build\n"),
            ("package.json", r#"{"scripts": {"reset": "rm -rf dist"}}"#),
        ];
        check("make clean", &files, &[("/repo/build", Some(Usage::Task))]);
        check("make", &files, &[]);
        check("npm run reset", &files, &[("/repo/dist", Some(Usage::Task))]);
    }

    #[test]
    fn a_script_that_is_only_written_is_marked_so() {
        let write = |path: &str| {
            event(Action::Write { path: AgentPath::new(path), content: "#!/bin/sh\nrm -rf ~ /srv\n".into() })
        };
        assert_eq!(
            deleted(&write("clean.sh"), &[]),
            [("/home/me".to_owned(), Some(Usage::Written)), ("/srv".to_owned(), Some(Usage::Written))]
        );
        assert_eq!(deleted(&write("notes.txt"), &[]), []);
    }

    #[test]
    fn scripts_that_run_each_other_come_to_an_end() {
        let files = [("a.sh", "bash b.sh"), ("b.sh", "bash a.sh; rm x")];
        let analysis = analyze(&shell("bash a.sh"), tables(), &world(&files));
        assert!(
            analysis.scripts.len() < MAX_LEVELS
                && analysis.effects.iter().any(|effect| effect.kind == EffectKind::Delete)
        );
    }

    #[test]
    fn a_chain_that_is_too_long_is_reported() {
        let chain: Vec<_> = (0..MAX_LEVELS + 2).map(|at| (format!("{at}.sh"), format!("bash {}.sh", at + 1))).collect();
        let files: Vec<_> = chain.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let unread = work::within(u64::MAX / 2, || {
            analyze(&shell("bash 0.sh"), tables(), &world(&files));
            work::unread()
        });
        assert!(unread.is_some_and(|report| report.contains("chain of scripts")));
    }

    #[test]
    fn a_patch_changes_what_it_names() {
        let patch = "--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1 +1 @@\n-a\n+b\n";
        let analysis = analyze(&shell("git apply a.patch"), tables(), &world(&[("a.patch", patch)]));
        let edited = analysis.effects.iter().filter(|effect| effect.kind == EffectKind::Edit);
        assert_eq!(
            edited.flat_map(|effect| &effect.targets).map(Target::shown).collect::<Vec<_>>(),
            ["/repo/src/x.rs"]
        );
    }
}
