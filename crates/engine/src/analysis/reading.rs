//! Reads a text and runs the passes of the analysis over it.

use super::effects::{EffectExtractor, Text};
use super::loading::Loader;
use crate::model::effect::{Effect, EffectKind, TargetPath};
use reflex_shell::{CallInput, Language, Programs, Reading, Source, Surroundings};

impl EffectExtractor<'_> {
    /// Reads the text of an action and adds its effects.
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
        self.extract(text, &reading);
        keep_known_of_unchanged(self.effects, first, &reading);
        reading
    }

    /// Adds the effects of a text that has been read.
    pub(super) fn extract(&mut self, source: &str, reading: &Reading) {
        let (first, mounts) = (self.effects.len(), self.tables(&reading.commands));
        let text = Text { source, reading, first, mounts };
        self.passes.iter().for_each(|pass| pass(self, &text));
    }
}

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
