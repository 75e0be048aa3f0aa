//! Orders in the texts that an event brings: a prompt, what a tool gave back.

use crate::injection::findings::findings;
use crate::model::effect::{Effect, EffectKind};
use crate::model::event::{Action, Event};
use crate::model::finding::Finding;
use reflex_tables::Tables;

/// What is said of the texts that an event brings.
pub(crate) fn inspect(event: &Event, tables: Tables) -> Vec<Finding> {
    heard(event).flat_map(|(place, text)| findings(text, place, tables)).collect()
}

/// Whether an effect is about a text which an event brings. What was done is done: of its effects only these are looked
/// at.
pub(crate) fn is_brought(effect: &Effect) -> bool {
    effect.kind == EffectKind::ExposeSecret && effect.flags.iter().any(|flag| BROUGHT.contains(flag))
}

/// Flags of effects that are about a text which an event brings.
const BROUGHT: [&str; 2] = ["output", "prompt"];

/// The texts that an event brings, each with the place it stands in.
fn heard(event: &Event) -> impl Iterator<Item = (&'static str, &str)> {
    let prompts = event.actions.iter().filter_map(|action| {
        let Action::Prompt { text } = action else { return None };
        Some(("prompt", text.as_str()))
    });
    prompts.chain(event.outcome.iter().map(|outcome| ("output", outcome.output.as_str())))
}
