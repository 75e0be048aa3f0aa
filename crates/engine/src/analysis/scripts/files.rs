//! Files that a command runs, compiles, or gives to a database.

use super::language::language_of;
use super::queued_text::QueuedText;
use super::resolver::ScriptResolver;
use super::sourced;
use crate::analysis::compiled;
use crate::model::analysis::Usage;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::path;
use crate::text::json::lenient_json;
use reflex_shell::{CallInput, Command, ExecTarget, Stdin, Value, work};

/// Maximum number of sources read for one compile effect. Exceeding it is reported.
pub(super) const MAX_SOURCES: usize = 256;

impl ScriptResolver<'_> {
    /// Adds the statements in a file that a database client reads as queries, like queries in the call.
    pub(super) fn statements(&mut self, index: usize) {
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
    pub(super) fn compiled(&self, effect: &Effect) -> Option<QueuedText> {
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
        let (action, level, folder) = (effect.action, self.level(effect) + 1, effect.folder.clone());
        let path = first.unwrap_or_default();
        (!text.trim().is_empty()).then(|| QueuedText { usage, folder, ..QueuedText::new(path, text, action, level) })
    }

    pub(super) fn run_file(&self, effect: &Effect) -> Option<QueuedText> {
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
        let parameters = command.words.iter().skip(start).cloned().collect();
        Some(QueuedText {
            language,
            usage: Usage::Run,
            input: CallInput { parameters, stdin: stdin_of(command) },
            folder,
            assignments: self.known(&command.assignments),
            place,
            ..QueuedText::new(path.clone(), text, effect.action, self.level(effect) + 1)
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
}

/// Returns the text that a command reads on standard input, as far as it is known.
fn stdin_of(command: &Command) -> Option<Value> {
    match &command.stdin {
        Stdin::Text(text) | Stdin::Pipe(_, text) => Some(text.clone()),
        Stdin::Inherited | Stdin::File(_) => None,
    }
}

/// Reports an effect that has more sources than are read.
pub(super) fn report_number(effect: &Effect) {
    if effect.targets.len() > MAX_SOURCES {
        work::cut(|| format!("more than {MAX_SOURCES} files are given to one command"));
    }
}
