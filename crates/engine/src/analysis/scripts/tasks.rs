//! Commands of a task runner: the recipes of its file, of included files, and of the packages of a project.

use super::queued_text::QueuedText;
use super::resolver::ScriptResolver;
use crate::analysis::task_runners::{self, TaskFile};
use crate::model::effect::Effect;
use crate::model::path::{self, parent};
use reflex_shell::{CallInput, Command, Value, work};
use std::collections::BTreeSet;

/// Maximum number of files included in a makefile. Exceeding it is reported.
const MAX_INCLUDED: usize = 512;

/// Maximum number of packages of one project. Exceeding it is reported.
const MAX_PACKAGES: usize = 512;

/// Options that run a task in the packages of a project.
const WORKSPACES: [&str; 2] = ["workspace", "workspaces"];

impl ScriptResolver<'_> {
    /// Returns the recipes of the tasks that an effect runs.
    pub(super) fn task(&self, effect: &Effect) -> Option<QueuedText> {
        let kind = TaskFile::named(&effect.flags)?;
        let folder = effect.folder.as_deref()?;
        let command = self.analysis.command(effect)?;
        let invocation = command.invocation.as_ref()?;
        let option = |key: &str| invocation.values(key, &command.words).first().map(|value| value.shown());
        let folder = option("prefix").map_or_else(|| folder.to_owned(), |prefix| path::absolute(&prefix, folder));
        let above = std::iter::successors(Some(folder.as_str()), |at| {
            (*at != self.event.workspace && *at != "/").then(|| parent(at))
        });
        let in_folder = |at: &str| kind.file_names().iter().map(|name| path::absolute(name, at)).collect::<Vec<_>>();
        let files = match option("file") {
            Some(file) => vec![path::absolute(&file, &folder)],
            None if kind == TaskFile::Makefile => in_folder(&folder),
            None => above.flat_map(in_folder).collect(),
        };
        let (path, text) = files.into_iter().find_map(|file| {
            let content = match kind {
                // The reader of the text itself follows these.
                TaskFile::Makefile => None,
                TaskFile::Justfile | TaskFile::Package | TaskFile::Composer => self.written_by_text(effect, &file),
            };
            let content = content.or_else(|| self.content(effect, &file));
            if content.is_none() {
                self.report_size(&file);
            }
            content.map(|text| (file, text))
        })?;
        let mut parameters = arguments(command, effect.targets.first().map(|target| &target.value));
        let wanted = effect.targets.iter().map(|target| wanted(&target.value, &mut parameters)).collect::<Vec<_>>();
        let text = if kind == TaskFile::Makefile { self.with_includes(effect, text, &folder) } else { text };
        let text = if kind == TaskFile::Makefile { self.with_unset(effect, command, text) } else { text };
        let mut text = kind.recipe(&text, &wanted);
        if kind == TaskFile::Package && WORKSPACES.iter().any(|key| invocation.has(key)) {
            text.push_str(&self.of_workspaces(effect, &path, &wanted));
        }
        let folder = if kind == TaskFile::Makefile { folder } else { parent(&path).to_owned() };
        let assignments = self.known(&command.assignments);
        let (folder, input) = (Some(folder), CallInput { parameters, stdin: None });
        let (action, level) = (effect.action, self.level(effect) + 1);
        (!text.is_empty()).then(|| QueuedText {
            input,
            folder,
            assignments,
            ..QueuedText::new(path, text, action, level)
        })
    }

    /// Returns a makefile with its included files in place, each once.
    fn with_includes(&self, effect: &Effect, text: String, folder: &str) -> String {
        let mut makefile = String::with_capacity(text.len());
        let mut seen = BTreeSet::new();
        let mut open = vec![text.lines().map(str::to_owned).collect::<Vec<_>>().into_iter()];
        while let Some(lines) = open.last_mut() {
            let Some(line) = lines.next() else {
                open.pop();
                continue;
            };
            let Some(names) = task_runners::included(&line) else {
                makefile.push_str(&line);
                makefile.push('\n');
                continue;
            };
            for file in names.flat_map(|name| self.files_of(name, folder)).collect::<Vec<_>>().into_iter().rev() {
                if seen.len() >= MAX_INCLUDED {
                    work::cut(|| format!("the makefile in {folder} includes more than {MAX_INCLUDED} files"));
                    break;
                }
                if seen.insert(file.clone()) && work::spend(20) {
                    match self.content(effect, &file) {
                        Some(text) => open.push(text.lines().map(str::to_owned).collect::<Vec<_>>().into_iter()),
                        None => {
                            self.report_size(&file);
                            makefile.push_str(&line);
                            makefile.push('\n');
                        }
                    }
                }
            }
        }
        makefile
    }

    /// Returns a makefile preceded by empty assignments of the variables that are never set. Variables passed down from
    /// another makefile, or set by a file that does not exist yet, remain unknown.
    fn with_unset(&self, effect: &Effect, command: &Command, text: String) -> String {
        let is_open = text.lines().any(|line| line.starts_with("include "));
        if effect.script.is_some() || is_open || !work::spend_bytes(text.len(), 20) {
            return text;
        }
        let around = self.text_around(effect);
        let is_set = |name: &str| {
            let is_assigned = command.assignments.iter().any(|(known, _)| known == name);
            is_assigned || around.contains(name) || self.world.variable(name).is_some()
        };
        let unset = task_runners::never_set(&text).into_iter().filter(|name| !is_set(name));
        unset.map(|name| format!("{name} =\n")).collect::<String>() + &text
    }

    /// Returns the files that a name or a pattern refers to.
    fn files_of(&self, name: &str, folder: &str) -> Vec<String> {
        let path = path::absolute(name, folder);
        if name.contains(['*', '?', '[']) { self.world.expand(&path).known().unwrap_or_default() } else { vec![path] }
    }

    /// Returns the commands of a task in all packages of a project, or in the named ones.
    fn of_workspaces(&self, effect: &Effect, root: &str, wanted: &[String]) -> String {
        let named = self
            .analysis
            .command(effect)
            .and_then(|command| Some(command.invocation.as_ref()?.values("workspace", &command.words)));
        let named: Vec<String> = named.unwrap_or_default().iter().map(Value::shown).collect();
        let is_meant = |package: &str, text: &str| {
            let fits = |name: &String| {
                package.ends_with(name.trim_start_matches("./")) || text.contains(&format!("\"{name}\""))
            };
            named.is_empty() || named.iter().any(|name| name.contains('*') || fits(name))
        };
        let folder = parent(root);
        let mut texts = String::new();
        let patterns = self.content(effect, root).map(|text| task_runners::workspaces(&text)).unwrap_or_default();
        let mut count = 0;
        for pattern in patterns {
            let pattern = path::absolute(&format!("{}/package.json", pattern.trim_end_matches('/')), folder);
            let Some(files) = self.world.expand(&pattern).known() else {
                work::cut(|| format!("{pattern} names more packages than are looked at"));
                continue;
            };
            for file in files {
                count += 1;
                if count > MAX_PACKAGES || !work::spend(40) {
                    work::cut(|| format!("{root} has more than {MAX_PACKAGES} packages"));
                    return texts;
                }
                let package = parent(&file);
                let Some(text) = self.content(effect, &file).filter(|text| is_meant(package, text)) else { continue };
                let recipe = TaskFile::Package.recipe(&text, wanted);
                if !recipe.is_empty() {
                    texts.push_str(&format!("( cd {} || exit\n{recipe})\n", reflex_shell::quoted(package)));
                }
            }
        }
        texts
    }
}

/// Returns the words that a call passes to the task that it names: `npm run clean -- WORD`, `just clean WORD`. The
/// first is the task's own name.
fn arguments(command: &Command, task: Option<&Value>) -> Vec<Value> {
    let at = command.words.iter().position(|word| Some(word) == task).unwrap_or(command.words.len());
    let after = command.words.get(at..).unwrap_or(&[]);
    let is_mark = |word: &Value| word.literal().as_deref() == Some("--");
    let mark = after.iter().position(is_mark);
    let passed = after.iter().enumerate().skip(1).filter(|(at, word)| {
        // `npm` consumes the options before the mark.
        let is_npm_option =
            command.name == "npm" && mark.is_none_or(|mark| *at < mark) && word.prefix().starts_with('-');
        mark != Some(*at) && !is_npm_option
    });
    after.iter().take(1).cloned().chain(passed.map(|(_, word)| word.clone())).collect()
}

/// Returns a word that names a task or sets one of its variables. A partly known value becomes a further parameter, to
/// which the recipe refers by number.
fn wanted(word: &Value, parameters: &mut Vec<Value>) -> String {
    let prefix = word.prefix();
    let Some((name, _)) = prefix.split_once('=').filter(|_| word.literal().is_none()) else { return word.shown() };
    parameters.push(word.without_prefix(name.len() + 1));
    format!("{name}=${{{}}}", parameters.len() - 1)
}
