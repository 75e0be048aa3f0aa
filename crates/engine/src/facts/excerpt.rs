//! Excerpts of a call for display: truncated and without secrets. Text from files is quoted.

use crate::facts::cache::Facts;
use crate::model::effect::{Effect, EffectKind};
use crate::model::event::Action;
use crate::secrets::redaction::redacted;
use crate::text::excerpt::{first_words, shortened, words};

/// Returns the part of the call that an effect comes from.
pub(crate) fn guilty_part(effect: &Effect, facts: &Facts<'_>) -> String {
    if let Some(script) = effect.script.and_then(|script| facts.analysis.scripts.get(script)) {
        let excerpt =
            facts.analysis.command(effect).map_or_else(|| effect.origin.span.slice(&script.text).to_owned(), words);
        let place = script.place(effect.origin.span.start);
        let place = place.strip_prefix(&format!("{}/", facts.event.workspace)).unwrap_or(&place);
        let excerpt = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        // The author of text in a file is unknown, so it must not be able to end the quotation.
        return shortened(&redacted(&format!("{place}: {excerpt}").replace('`', "'"), facts.tables));
    }
    let action = facts.event.actions.get(effect.action);
    let is_written = matches!(action, Some(Action::Write { .. } | Action::Edit { .. }));
    if effect.kind == EffectKind::ExposeSecret && !is_written {
        // The text at its position contains the secret, so only its kind is shown.
        return shortened(&effect.argument.as_ref().map_or(String::new(), |about| about.shown()));
    }
    // A call in another language appears as written; its command is only Reflex's internal form.
    let derived = effect.origin.derivation.and_then(|_| facts.analysis.command(effect));
    let derived = derived.filter(|command| !command.name.contains(':')).map(words);
    let part = |command: &'_ str| derived.clone().unwrap_or_else(|| effect.origin.span.slice(command).to_owned());
    of_action(facts, effect.action, &part)
}

/// Returns a complete action.
pub(crate) fn action_part(facts: &Facts<'_>, action: usize) -> String {
    of_action(facts, action, &str::to_owned)
}

fn of_action(facts: &Facts<'_>, action: usize, part: &dyn Fn(&str) -> String) -> String {
    let action = facts.event.actions.get(action);
    let command = match action {
        Some(Action::Shell { command, .. }) => part(command),
        _ => String::new(),
    };
    let text = match action {
        Some(Action::Shell { .. }) => &command,
        Some(Action::Read { path } | Action::Search { path, .. } | Action::Delete { path }) => &path.text,
        Some(Action::Write { path, .. } | Action::Edit { path, .. }) => &path.text,
        Some(Action::Fetch { url }) => url,
        Some(Action::McpCall { tool, .. }) => tool,
        Some(Action::Skill { name }) => name,
        Some(Action::Prompt { .. } | Action::SpawnAgent { .. } | Action::Input { .. } | Action::Other { .. })
        | None => "",
    };
    let named = matches!(action, Some(Action::Shell { .. })) || facts.event.tool.is_empty();
    let folded = first_words(text);
    shortened(&redacted(&if named { folded } else { format!("{} {folded}", facts.event.tool) }, facts.tables))
}
