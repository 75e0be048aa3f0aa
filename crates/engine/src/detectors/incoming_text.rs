//! Instructions in the texts that an event brings: a prompt, the output of a tool.

use crate::injection::findings::findings;
use crate::model::effect::{Effect, EffectKind};
use crate::model::event::{Action, Event};
use crate::model::finding::Finding;
use reflex_tables::Tables;

/// Returns the findings for the texts that an event brings.
pub(crate) fn inspect(event: &Event, tables: Tables) -> Vec<Finding> {
    texts(event).flat_map(|(place, text)| findings(text, place, tables)).collect()
}

/// Whether an effect concerns a text that an event brings. After execution, these are the only effects that are judged.
pub(crate) fn is_brought(effect: &Effect) -> bool {
    effect.kind == EffectKind::ExposeSecret && effect.flags.iter().any(|flag| BROUGHT.contains(flag))
}

/// Flags of effects that concern a text which an event brings.
const BROUGHT: [&str; 2] = ["output", "prompt"];

/// The texts that an event brings, with their places.
fn texts(event: &Event) -> impl Iterator<Item = (&'static str, &str)> {
    let prompts = event.actions.iter().filter_map(|action| {
        let Action::Prompt { text } = action else { return None };
        Some(("prompt", text.as_str()))
    });
    prompts.chain(event.outcome.iter().map(|outcome| ("output", outcome.output.as_str())))
}
