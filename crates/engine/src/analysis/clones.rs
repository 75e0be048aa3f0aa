//! Repositories that a call clones.

use crate::model::analysis::Analysis;
use crate::model::effect::Effect;
use crate::model::path;
use crate::model::session::{RemnantKind, Taint};
use crate::secrets::redaction::redacted;
use reflex_shell::Command;
use reflex_tables::Tables;

/// Returns the folder of a clone.
pub(crate) fn cloned(analysis: &Analysis, effect: &Effect, tables: Tables) -> Option<Taint> {
    if !effect.flags.contains(&"cloned") {
        return None;
    }
    let command = analysis.command(effect)?;
    let source = effect.targets.first()?.value.shown();
    let operands = operands(command);
    let at = operands.iter().position(|operand| *operand == source)?;
    let named = operands.get(at + 1).cloned().unwrap_or_else(|| {
        let name = source.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or("");
        name.strip_suffix(".git").unwrap_or(name).to_owned()
    });
    let folder = path::absolute(&named, effect.folder.as_deref()?);
    Some(Taint { kind: RemnantKind::Fetched, path: folder, from: redacted(&source, tables) })
}

fn operands(command: &Command) -> Vec<String> {
    let Some(invocation) = &command.invocation else { return Vec::new() };
    invocation.operands.iter().filter_map(|at| command.words.get(*at)).map(|word| word.shown()).collect()
}
