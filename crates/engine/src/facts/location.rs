//! The location of a finding: the text, the span in it, and the derivation of the guilty part.

use super::cache::Facts;
use crate::model::analysis::Usage;
use crate::model::effect::{Effect, EffectKind};
use crate::model::finding::At;
use crate::secrets::redaction::redacted;
use reflex_shell::Derivation;

/// Returns the location of an effect.
pub(crate) fn at(effect: &Effect, facts: &Facts<'_>) -> At {
    let reading = facts.analysis.reading(effect);
    let mut derived = Vec::new();
    let mut step = effect.origin.derivation;
    while let Some(derivation) = step.and_then(|id| reading?.derivations.get(id.0 as usize)) {
        let text = redacted(&derivation.text, facts.tables);
        derived.insert(0, Derivation { text, ..derivation.clone() });
        step = derivation.from.derivation;
    }
    if let Some(script) = effect.script.and_then(|script| facts.analysis.scripts.get(script)) {
        let span = if script.usage == Usage::Task { Default::default() } else { effect.origin.span };
        return At { within: format!("file:{}", script.path), span, derived };
    }
    let exposed = |flag| effect.kind == EffectKind::ExposeSecret && effect.flags.contains(&flag);
    let within = if exposed("written") && effect.command.is_none() {
        "arg:content"
    } else if exposed("output") {
        "output"
    } else if exposed("prompt") {
        "prompt"
    } else if effect.command.is_some() || !effect.origin.span.eq(&Default::default()) {
        "command"
    } else {
        "arg:file_path"
    };
    At { within: within.into(), span: effect.origin.span, derived }
}
