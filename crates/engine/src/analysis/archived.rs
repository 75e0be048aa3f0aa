//! Content that a call saves before it deletes or replaces it: `tar czf a.tgz d && rm -rf d` loses nothing.

use super::effects::Input;
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::event::{Action, Event};
use crate::model::path::{self, is_within};
use reflex_shell::{Command, ExecTarget};

/// Programs that pack or copy complete trees; `cp` requires an option for that.
const PACKERS: [&str; 9] = ["tar", "gtar", "bsdtar", "zip", "7z", "7za", "rsync", "ditto", "cp"];

/// Maximum number of targets of a deletion that may count as tidying up, and of packing effects considered.
const MAX_CHECKED: usize = 16;

/// Adds the flag `kept` to an effect that deletes or replaces files, if all of them were packed or copied elsewhere
/// before and are lost only if that succeeded.
pub(super) fn mark(input: Input<'_>, analysis: &mut Analysis) {
    let packs = |effect: &&Effect| effect.kind == EffectKind::Read && effect.flags.contains(&"copied");
    let loses =
        |effect: &Effect| matches!(effect.kind, EffectKind::Delete | EffectKind::Overwrite | EffectKind::Truncate);
    if !analysis.effects.iter().any(loses) {
        return;
    }
    let packed: Vec<Effect> = analysis.effects.iter().filter(packs).take(MAX_CHECKED).cloned().collect();
    if packed.is_empty() {
        return;
    }
    let is_kept = |effect: &Effect| {
        let here = loses(effect) && effect.site == ExecTarget::Here && effect.script.is_none();
        let few = !effect.targets.is_empty() && effect.targets.len() <= MAX_CHECKED;
        let covers = |target: &Target| packed.iter().any(|pack| covers(input.event, analysis, pack, effect, target));
        here && few && effect.targets.iter().all(covers)
    };
    let kept: Vec<bool> = analysis.effects.iter().map(is_kept).collect();
    let marked = analysis.effects.iter_mut().zip(kept).filter(|(_, kept)| *kept);
    marked.for_each(|(effect, _)| effect.flags.push("kept"));
}

fn covers(event: &Event, analysis: &Analysis, pack: &Effect, effect: &Effect, target: &Target) -> bool {
    let (Some(path), Some(command)) = (target.path().filter(|_| !target.is_pattern()), analysis.command(pack)) else {
        return false;
    };
    let (Some(Action::Shell { command: text, .. }), Some(folder)) = (event.actions.get(pack.action), &pack.folder)
    else {
        return false;
    };
    let same = (pack.action, pack.script, pack.site) == (effect.action, effect.script, effect.site);
    let packed =
        pack.targets.iter().any(|source| !source.is_pattern() && source.path().is_some_and(|at| is_within(path, at)));
    let taken = text.get(pack.origin.span.end as usize..effect.origin.span.start as usize).unwrap_or("");
    // The deletion must depend on the success of the packing. A command after a bar or a newline runs in any case.
    let tied = taken.contains("&&") && !taken.contains([';', '|', '\n']) && !taken.replace("&&", "").contains('&');
    same && packed
        && tied
        && packs_all(command, effect)
        && lies_elsewhere(command, path, folder, pack)
        && stays(analysis, pack, effect)
}

/// Returns whether the copy is written to a file that no other part of the call loses.
fn stays(analysis: &Analysis, pack: &Effect, loss: &Effect) -> bool {
    let of_pack = |effect: &&Effect| (effect.action, effect.command) == (pack.action, pack.command);
    let writes = |effect: &&Effect| matches!(effect.kind, EffectKind::Overwrite | EffectKind::Populate);
    let written = analysis.effects.iter().filter(of_pack).filter(writes).flat_map(|effect| &effect.targets);
    let copies: Vec<&str> = written.filter_map(Target::path).collect();
    let loses = |effect: &&Effect| {
        matches!(effect.kind, EffectKind::Delete | EffectKind::Overwrite | EffectKind::Truncate)
            && !of_pack(effect)
            && !std::ptr::eq(*effect, loss)
    };
    let mut lost = analysis.effects.iter().filter(loses).flat_map(|effect| &effect.targets).filter_map(Target::path);
    let overlaps_copy = |lost: &str| copies.iter().any(|copy| is_within(copy, lost) || is_within(lost, copy));
    !copies.iter().any(|copy| is_within(copy, "/dev")) && !lost.any(overlaps_copy)
}

/// Returns whether the command packs everything. `cp` copies a complete folder only with an option; an overwritten
/// target is a file.
fn packs_all(command: &Command, effect: &Effect) -> bool {
    let words = || command.words.iter().skip(1).filter_map(|word| word.literal());
    let partial = ["--exclude", "--include", "-x", "--dry-run", "--list-only", "--attributes-only", "--symbolic-link"];
    let option = |word: &str| partial.iter().any(|option| word.starts_with(option)) || leaves_out(&command.name, word);
    let is_lost = |word: &str| word == "/dev/null" || word.ends_with("=/dev/null");
    let recursive =
        words().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R', 'a']));
    PACKERS.contains(&command.name.as_str())
        && !words().any(|word| option(&word) || is_lost(&word))
        && (command.name != "cp" || recursive || effect.kind != EffectKind::Delete)
}

/// Short options with which less than everything is copied: dry runs, links, only missing or older files.
fn leaves_out(program: &str, word: &str) -> bool {
    let chars = match program {
        "rsync" => "nu",
        "cp" => "snu",
        _ => return false,
    };
    word.starts_with('-') && !word.starts_with("--") && word.contains(|ch| chars.contains(ch))
}

/// Returns whether all names of the packer, except the sources, are outside the deleted path.
fn lies_elsewhere(command: &Command, deleted: &str, folder: &str, pack: &Effect) -> bool {
    let names: Option<Vec<String>> =
        command.words.iter().skip(1).map(|word| word.literal().map(|word| path::absolute(&word, folder))).collect();
    let source = |name: &String| pack.targets.iter().any(|target| target.path() == Some(name.trim_end_matches('/')));
    names.is_some_and(|names| names.iter().filter(|name| !source(name)).all(|name| !is_within(name, deleted)))
}
