//! Files that a text both fetches and runs.

use super::effects::{EffectExtractor, Text};
use crate::model::effect::{Effect, EffectKind, Target};
use reflex_shell::CommandId;

/// Marks files that the text both fetches and runs as fetched code.
pub(super) fn mark(extractor: &mut EffectExtractor<'_>, _: &Text<'_>) {
    let (action, script) = (extractor.action, extractor.script);
    let here = |effect: &&Effect| effect.action == action && effect.script == script;
    let fetching: Vec<CommandId> = extractor
        .effects
        .iter()
        .filter(here)
        .filter(|e| e.kind == EffectKind::Fetch)
        .filter_map(|e| e.command)
        .collect();
    if fetching.is_empty() {
        return;
    }
    let written: Vec<String> = extractor
        .effects
        .iter()
        .filter(here)
        .filter(|effect| {
            effect.kind == EffectKind::Overwrite && effect.command.is_some_and(|id| fetching.contains(&id))
        })
        .flat_map(|effect| effect.targets.iter().filter_map(Target::path))
        .map(str::to_owned)
        .collect();
    for effect in extractor
        .effects
        .iter_mut()
        .filter(|effect| effect.action == action && effect.script == script && effect.kind == EffectKind::RunFile)
    {
        if effect.targets.iter().filter_map(Target::path).any(|path| written.iter().any(|file| file == path)) {
            effect.kind = EffectKind::RunFetched;
        }
    }
}
