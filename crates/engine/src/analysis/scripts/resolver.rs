//! The call whose scripts are read, and what files hold when it runs them.

use super::queued_text::QueuedText;
use crate::analysis::aliases::{self, Aliases};
use crate::analysis::effects::{EffectExtractor, Input};
use crate::model::analysis::{Analysis, Script};
use crate::model::effect::{Effect, EffectKind, TargetPath};
use crate::model::event::{Action, Event};
use crate::model::mounts::MountTable;
use crate::model::path::{self, Folders};
use crate::model::world::{MAX_CONTENT, World};
use reflex_shell::{Value, work};
use reflex_tables::Tables;
use std::collections::VecDeque;
use std::rc::Rc;

pub(super) struct ScriptResolver<'a> {
    pub(super) input: Input<'a>,
    pub(super) event: &'a Event,
    pub(super) tables: Tables,
    pub(super) world: &'a dyn World,
    pub(super) analysis: &'a mut Analysis,
    /// Texts that wait to be read.
    pub(super) queue: VecDeque<QueuedText>,
}

impl<'a> ScriptResolver<'a> {
    pub(super) fn new(input: Input<'a>, analysis: &'a mut Analysis) -> ScriptResolver<'a> {
        let Input { event, tables, world, .. } = input;
        ScriptResolver { input, event, tables, world, analysis, queue: VecDeque::new() }
    }
}

impl ScriptResolver<'_> {
    /// Returns the length of the chain of scripts that leads to an effect; 0 in the call's own text.
    pub(super) fn level(&self, effect: &Effect) -> usize {
        self.script(effect).map_or(0, |script| script.level)
    }

    pub(super) fn script(&self, effect: &Effect) -> Option<&Script> {
        self.analysis.scripts.get(effect.script?)
    }

    /// Returns the mounts of the place in which an effect's command runs, and its folder there.
    pub(super) fn place(&self, effect: &Effect) -> (Option<Rc<MountTable>>, Option<String>) {
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
    pub(super) fn extractor<'e>(&'e self, effect: &Effect, effects: &'e mut Vec<Effect>) -> EffectExtractor<'e> {
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
            passes: self.input.passes,
            effects,
        }
    }

    /// Reports a file that is not read because it is too large.
    pub(super) fn report_size(&self, path: &str) {
        if self.world.is_too_large(path) {
            work::cut(|| format!("{path} is larger than {} KiB", MAX_CONTENT / 1024));
        }
    }

    /// Returns the text that contains the effect.
    pub(super) fn text_around(&self, effect: &Effect) -> &str {
        match (self.script(effect), self.event.actions.get(effect.action)) {
            (Some(script), _) => &script.text,
            (None, Some(Action::Shell { command, .. })) => command,
            (None, _) => "",
        }
    }

    /// Returns the values of variables set for one command, as far as they are known.
    pub(super) fn known(&self, assignments: &[(String, Value)]) -> Vec<(String, String)> {
        let known = |value: &Value| match path::lexical(value, self.folders(), &|name| self.world.variable(name)) {
            _ if value.literal().is_some() => value.literal().map(|text| text.into_owned()),
            TargetPath::Known { text, .. } => Some(text),
            TargetPath::None | TargetPath::Unknown => None,
        };
        assignments.iter().filter_map(|(name, value)| Some((name.clone(), known(value)?))).collect()
    }

    pub(super) fn folders(&self) -> Folders<'_> {
        let Event { cwd, workspace, home, .. } = self.event;
        Folders { cwd, start: cwd, workspace, home }
    }

    /// Returns the content that the same text has written to the file.
    pub(super) fn written_by_text(&self, effect: &Effect, path: &str) -> Option<String> {
        let reading = self.analysis.reading(effect).filter(|_| effect.script.is_none())?;
        let folder = effect.folder.as_deref().unwrap_or("/");
        let is_it =
            |name: &str| ["/", self.event.cwd.as_str(), folder].iter().any(|at| path::absolute(name, at) == path);
        reading.files.iter().find(|(name, _)| is_it(name)).map(|(_, text)| text.clone())
    }

    /// Returns the content of the file when it is run: the content that another action of this call wrote before,
    /// otherwise the world's content. A write by the same text is known to its reader; if the reader does not know it,
    /// the content is unknown.
    pub(super) fn content(&self, effect: &Effect, path: &str) -> Option<String> {
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

    /// Adds a text to be read after those that wait already.
    pub(super) fn enqueue(&mut self, text: QueuedText) {
        self.queue.push_back(text);
    }
}
