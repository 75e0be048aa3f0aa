//! The effects of a program that a supervisor sees start.

use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind};
use crate::model::words::WordList;
use reflex_tables::Tables;

/// Leaves the effects that the start itself has. The programs in a shell's text are starts of their own and are judged
/// then, with their real arguments; the shell itself opens what its text redirects to, and ends processes. A hook is the
/// way in which an agent calls the guard, and a made-up call only in the text of a call. Returns whether it is a shell.
pub(crate) fn leave_own(analysis: &mut Analysis, tables: Tables) -> bool {
    let shells = WordList::Shells.read(tables);
    let first = analysis.readings.first().and_then(|reading| reading.commands.first());
    let is_shell = first.is_some_and(|command| shells.has(command.name.rsplit('/').next().unwrap_or_default()));
    let is_own = |effect: &Effect| {
        let is_hook = effect.kind == EffectKind::ChangeGuard && effect.flags.contains(&"told");
        !is_hook && (!is_shell || effect.kind == EffectKind::Kill || is_redirected(analysis, effect))
    };
    let own: Vec<bool> = analysis.effects.iter().map(is_own).collect();
    let mut own = own.into_iter();
    analysis.effects.retain(|_| own.next().unwrap_or(true));
    analysis.number();
    is_shell
}

fn is_redirected(analysis: &Analysis, effect: &Effect) -> bool {
    let redirects = analysis.command(effect).map(|command| command.redirects.as_slice()).unwrap_or_default();
    let is_target = |value: &reflex_shell::Value| effect.targets.iter().any(|target| target.value == *value);
    redirects.iter().any(|redirect| is_target(&redirect.target))
}
