//! Files that an action writes: what they make other programs run or trust later.

use super::language::{is_code, language_by_itself, language_if_run, may_reach};
use super::queued_text::{Counted, QueuedText, TextOrigin};
use super::resolver::ScriptResolver;
use crate::analysis::about_guard;
use crate::analysis::config_files;
use crate::analysis::config_files::later::{Counts, DeferredExecution, Text};
use crate::analysis::replaced::replaced;
use crate::analysis::task_runners::TaskFile;
use crate::model::analysis::Usage;
use crate::model::effect::Effect;
use crate::model::event::{Action, AgentPath};
use crate::model::path;
use crate::model::world::MAX_CONTENT;
use reflex_shell::{ExecTarget, Language};
use std::borrow::Cow;

/// Budget, in units of work, for reading code that the call writes but does not run.
const MAX_CODE_WORK: u64 = 10_000;

impl ScriptResolver<'_> {
    /// Handles a file that the action writes without running it.
    pub(super) fn written(&mut self, index: usize, action: &Action) {
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
        let package = match path::name_of(&path) {
            "package.json" => Some(TaskFile::Package),
            "composer.json" => Some(TaskFile::Composer),
            _ => None,
        };
        let before = package.and_then(|_| self.world.content_before(&path)).unwrap_or_default();
        let made = package.and_then(|_| made(action, &before));
        let content = made.as_ref().unwrap_or(content);
        let Some(package) = package else { return self.code(index, &path, action) };
        let workspace = &self.event.workspace;
        let install = ["install".to_owned()];
        let recipe = QueuedText {
            usage: Usage::Written,
            folder: Some(workspace.clone()),
            origin: TextOrigin::Written,
            counted: Counted::Changed { old: package.recipe(&before, &install) },
            reports_gaps: false,
            ..QueuedText::new(path.clone(), package.recipe(content, &install), index, 1)
        };
        self.enqueue(recipe);
        let (text, old) = (package.others(content), package.others(&before));
        if !text.is_empty() {
            let (site, counts) = (ExecTarget::Here, Counts::Lasting);
            let script = Text { text, language: Language::Shell, site, counts };
            let counted = Counted::Deferred { site, counts, old };
            let text = QueuedText::of_written_file(path, script, index, workspace);
            self.enqueue(QueuedText { counted, reports_gaps: false, ..text });
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
        let (site, counts) = (ExecTarget::Here, Counts::Taken);
        let old = replaced(action, &self.event.cwd, self.world).into_owned();
        let script = Text { text: content.clone(), language, site, counts };
        let text = QueuedText::of_written_file(path.to_owned(), script, index, &self.event.workspace);
        let counted = Counted::Deferred { site, counts, old };
        self.enqueue(QueuedText { counted, reports_gaps: false, budget: Some(MAX_CODE_WORK), ..text });
    }

    /// Handles texts that a command prints into files, and text typed into a running program.
    pub(super) fn printed(&mut self, index: usize, action: &Action) {
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
        let effects = |text: &str| about_guard::effects(self.input, index, path, text);
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

    /// Adds the settings and commands that a written file makes other programs trust or run.
    fn later(&mut self, action: usize, path: &str, later: DeferredExecution) {
        let is_tool = |effect: &&mut Effect| effect.command.is_none() || effect.flags.contains(&"patched");
        let is_of_action = |effect: &&mut Effect| effect.action == action && effect.script.is_none() && is_tool(effect);
        self.analysis.effects.iter_mut().filter(is_of_action).for_each(|effect| effect.flags.push("understood"));
        for (flags, value) in later.settings {
            self.analysis.effects.push(Effect::configured(action, flags, &value));
        }
        for script in later.scripts {
            self.enqueue(QueuedText::of_written_file(path.to_owned(), script, action, &self.event.workspace));
        }
    }
}

/// Returns the content of the file after an edit, if the edit names the text that it replaces.
pub(super) fn made(action: &Action, before: &str) -> Option<String> {
    let Action::Edit { content, removed, .. } = action else { return None };
    let matches = !removed.is_empty() && before.contains(removed.as_str());
    matches.then(|| before.replacen(removed.as_str(), content, 1))
}
