//! Files that a program reads unasked, whatever its words are: their content runs with it. The library lists them
//! (`library/loads`).

use super::forms::{self, Wanted};
use super::queued_text::{Counted, QueuedText, TextOrigin};
use super::resolver::ScriptResolver;
use crate::analysis::effects::EffectExtractor;
use crate::analysis::loading;
use crate::model::analysis::Usage;
use crate::model::effect::{Effect, EffectKind};
use crate::model::path::{self, parent};
use reflex_shell::{CallInput, CommandId, ExecTarget, Value, work};
use reflex_tables::Texts;
use reflex_tables::views::Load;

/// Maximum number of files looked up for one entry.
const MAX_FILES: usize = 64;

/// Maximum number of parent folders visited.
const MAX_ABOVE: usize = 32;

/// Maximum length in bytes of an unchanged committed file that is read. Longer ones are not settings.
const MAX_UNCHANGED: usize = 64 * 1024;

/// Options with which a program only prints information about itself.
const INFORMS: [&str; 3] = ["--help", "-h", "--version"];

/// A command that reads files unasked.
struct Reader {
    entry: Load<'static>,
    id: CommandId,
    name: String,
    words: Vec<String>,
    folder: String,
    assignments: Vec<(String, Value)>,
}

impl ScriptResolver<'_> {
    /// Reads the files that the commands of a text read unasked. The index counts the actions' own texts first, then
    /// the scripts.
    pub(super) fn loaded(&mut self, text: usize) {
        let readings = self.analysis.readings.len();
        let (action, script) = match text.checked_sub(readings) {
            None => (text, None),
            Some(script) => {
                let known = self.analysis.scripts.get(script);
                if known.is_none_or(|known| known.usage == Usage::Written) {
                    return;
                }
                let of_script = |effect: &&Effect| effect.script == Some(script);
                let action = self.analysis.effects.iter().find(of_script).map_or(0, |effect| effect.action);
                (action, Some(script))
            }
        };
        for reader in self.readers(action, script) {
            if !work::spend(50) {
                return;
            }
            let level = script.and_then(|at| self.analysis.scripts.get(at)).map_or(0, |script| script.level) + 1;
            let effect = self.as_effect(&reader, action, script);
            for path in self.files_of_reader(&reader) {
                let Some(text) = self.text_of_reader(&reader, &effect, path) else { continue };
                // Files not made in this session count as far as they are read.
                let reports_gaps = self.world.is_of_session(&text.path) == Some(true);
                self.enqueue(QueuedText { level, reports_gaps, ..text });
            }
        }
    }

    /// Returns the commands of a text that read files unasked.
    fn readers(&self, action: usize, script: Option<usize>) -> Vec<Reader> {
        let (reading, start) = match script.and_then(|script| self.analysis.scripts.get(script)) {
            Some(script) => (Some(&script.reading), script.folder.clone()),
            None => (self.analysis.readings.get(action), Some(self.event.cwd.clone())),
        };
        let mut none = Vec::new();
        let (event, world, tables) = (self.event, self.world, self.tables);
        let (place, passes) = (None, &[][..]);
        let variables = &[][..];
        let drafter = EffectExtractor {
            event,
            world,
            tables,
            action,
            script,
            start,
            variables,
            place,
            passes,
            effects: &mut none,
        };
        let programs = tables.library().loads().programs();
        let mut readers = Vec::new();
        for (id, command) in reading.into_iter().flat_map(|reading| reading.commands.iter().enumerate()) {
            if command.site != ExecTarget::Here || command.name.is_empty() {
                continue;
            }
            let entries = programs.get(&command.name).iter();
            for entry in entries {
                let words: Vec<String> = command.words.iter().skip(1).map(Value::shown).collect();
                let has_one_of = |known: Texts<'_>| words.iter().any(|word| known.iter().any(|one| one == word));
                let is_meant = entry.when().is_empty() || has_one_of(entry.when());
                let informs = words.iter().any(|word| INFORMS.contains(&word.as_str())) || has_one_of(entry.unless());
                let Some(folder) = drafter.folder(command).filter(|_| is_meant && !informs) else { continue };
                let (name, assignments) = (command.name.clone(), command.assignments.clone());
                readers.push(Reader { entry, id, name, words, folder, assignments });
            }
        }
        readers
    }

    /// Returns the paths of the files that a command reads, as its entry names them.
    fn files_of_reader(&self, reader: &Reader) -> Vec<String> {
        let Reader { entry, words, folder, .. } = reader;
        let root = self.event.workspace.as_str();
        let up = |from: &str| -> Vec<String> {
            let above = std::iter::successors(Some(from), |at| path::is_below(at, root).then(|| parent(at)));
            above.take(MAX_ABOVE).map(str::to_owned).collect()
        };
        let mut folders = vec![folder.clone()];
        if entry.beside() {
            for word in words.iter().filter(|word| !word.starts_with('-')) {
                let named = path::absolute(word.split("::").next().unwrap_or(word), folder);
                if path::is_within(&named, root) {
                    folders.extend(up(&named));
                }
            }
        }
        if entry.above() {
            folders.extend(up(folder));
        }
        let mut paths: Vec<String> = Vec::new();
        for at in &folders {
            for file in entry.files().iter() {
                let path = path::absolute(&file.replace("{program}", &reader.name), at);
                let found =
                    if file.contains('*') { self.world.expand(&path).known().unwrap_or_default() } else { vec![path] };
                paths.extend(found);
            }
        }
        let endings: Vec<&str> = entry.named().iter().collect();
        let value = |word: &String| word.rsplit_once('=').map_or(word.clone(), |(_, value)| value.to_owned());
        let named = words.iter().map(value).filter(|word| endings.iter().any(|ending| word.ends_with(ending)));
        paths.extend(named.map(|word| path::absolute(&word, folder)));
        let mut seen = std::collections::BTreeSet::new();
        paths.retain(|path| seen.insert(path.clone()));
        paths.truncate(MAX_FILES);
        paths
    }

    /// Returns a file that a command reads, with the part of it that runs.
    fn text_of_reader(&self, reader: &Reader, effect: &Effect, path: String) -> Option<QueuedText> {
        if !work::spend(20) {
            return None;
        }
        let written = self.written_by_text(effect, &path);
        let runs = |id: CommandId| {
            let reading = self.analysis.reading(effect);
            reading.is_some_and(|reading| reading.commands.iter().any(|command| command.parent == Some(id)))
        };
        if written.is_some() && runs(reader.id) {
            // Files that the text itself writes and runs are already known to its reader.
            return None;
        }
        let content = written.or_else(|| self.content(effect, &path));
        let Some(content) = content else {
            self.report_size(&path);
            return None;
        };
        if content.len() > MAX_UNCHANGED && loading::is_unchanged(self.world, &path) {
            return None;
        }
        let entry = reader.entry;
        let when: Vec<&str> = entry.when().iter().collect();
        let names = reader.words.iter().filter(|word| !word.starts_with('-') && !when.contains(&word.as_str()));
        let wanted = Wanted {
            names: names.cloned().collect(),
            assignments: self.known(&reader.assignments),
            only: entry.tasks(),
            arguments: entry.given(),
        };
        let (language, text) = forms::read(entry.form(), (self.tables, &path, &content), &wanted)?;
        let words = self.analysis.command(effect).map(|command| command.words.to_vec()).unwrap_or_default();
        let parameters = words.into_iter().skip_while(|word| word.literal().as_deref() != Some("--")).collect();
        (!text.trim().is_empty()).then(|| QueuedText {
            language,
            input: CallInput { parameters, stdin: None },
            folder: Some(reader.folder.clone()),
            assignments: self.known(&reader.assignments),
            origin: TextOrigin::Reader,
            counted: if entry.tasks() { Counted::All } else { Counted::WithoutBranches },
            ..QueuedText::new(path, text, effect.action, 1)
        })
    }

    /// Returns an effect that serves to request the content of the reader's files.
    fn as_effect(&self, reader: &Reader, action: usize, script: Option<usize>) -> Effect {
        let (command, folder) = (Some(reader.id), Some(reader.folder.clone()));
        Effect { action, script, command, folder, ..Effect::of(EffectKind::RunTask) }
    }
}
