//! Processes that a search names and that another command ends.

use super::effects::{EffectExtractor, Text, with_printing};
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use reflex_shell::{Command, CommandId, Value};

/// `kill $(pgrep x)`, `pgrep x | xargs kill`: the search pattern names the processes to kill.
pub(super) fn add_targets(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let commands = &text.reading.commands;
    let looked_for = |effect: &Effect| -> Vec<Target> {
        let Some(command) = effect.command.and_then(|id| commands.get(id)) else { return Vec::new() };
        let fed = command.parent.and_then(|id| commands.get(id)).into_iter().chain([command]);
        let mut sources: Vec<CommandId> = fed.flat_map(|command| command.stdin.sources()).copied().collect();
        sources.extend(effect.targets.iter().flat_map(|target| with_printing(&target.value, &[], commands)));
        let named = sources.iter().filter_map(|id| commands.get(*id)).flat_map(operands);
        named.map(|value| Target::new(value, TargetPath::None)).collect()
    };
    for effect in extractor.effects.iter_mut().skip(text.first).filter(|effect| effect.kind == EffectKind::Kill) {
        let found = looked_for(effect);
        // A PID alone does not identify a process, but the parent of an agent's shell is the agent.
        let is_parent = |target: &Target| target.value.origin().span.slice(text.source).contains("PPID");
        if effect.targets.iter().any(is_parent) {
            effect.flags.push("own-parent");
        }
        effect.targets.extend(found);
    }
}

/// Returns the operands of a command, or all words but options if its program is unknown.
fn operands(command: &Command) -> Vec<Value> {
    match &command.invocation {
        Some(invocation) => invocation.operands.iter().filter_map(|at| command.words.get(*at)).cloned().collect(),
        None => command.words.iter().skip(1).filter(|word| !word.prefix().starts_with('-')).cloned().collect(),
    }
}
