//! The complete environment, and keys issued by a service, sent to another host: the commands that print them, and
//! those that send the output.

use super::effects::{EffectExtractor, Ran, Text, with_sources};
use super::flows::is_of_this_machine;
use crate::model::effect::{Effect, EffectKind, Target};
use reflex_shell::{Command, CommandId, ENTIRE_ENVIRONMENT, Origin, Piece, Value};
use std::collections::BTreeSet;

/// `env | curl -d @- URL`, `curl -d "$(env)" URL`: adds an effect as if a file with all variables were sent.
pub(super) fn add_sent(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let (before, commands) = (text.first, &text.reading.commands);
    extractor.revealed_sent(before, commands);
    let effects = extractor.effects.get(before..).unwrap_or(&[]);
    let prints = |effect: &&Effect| effect.kind == EffectKind::PrintEnvironment;
    let printing: Vec<CommandId> = effects.iter().filter(prints).filter_map(|effect| effect.command).collect();
    if printing.is_empty() {
        return;
    }
    let mut sending: Vec<CommandId> =
        effects.iter().filter(|effect| goes_out(effect)).filter_map(|effect| effect.command).collect();
    sending.dedup();
    let filled = filled(effects, commands, &printing);
    let sends_file = |effect: &Effect| {
        effect.kind == EffectKind::SendFile
            && effect.targets.iter().any(|target| filled.iter().any(|path| Some(path.as_str()) == target.path()))
    };
    let files: Vec<CommandId> =
        effects.iter().filter(|effect| sends_file(effect)).filter_map(|effect| effect.command).collect();
    for id in sending {
        let Some(command) = commands.get(id) else { continue };
        if files.contains(&id) || carries(id, command, commands, &printing) {
            let value = Value::text(ENTIRE_ENVIRONMENT, Origin::default());
            let target = extractor.target(EffectKind::SendFile, value, "/");
            extractor.push(extractor.effect_of(Ran { id, command, folder: None }, EffectKind::SendFile).target(target));
        }
    }
}

impl EffectExtractor<'_> {}

/// `export $(grep -v '^#' .env | xargs)`: marks files that are read into variables and not shown.
pub(super) fn mark_kept(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let (before, commands) = (text.first, &text.reading.commands);
    const DECLARING: [&str; 4] = ["export", "declare", "readonly", "typeset"];
    // A person does not write more declarations in one text.
    const MAX_OUTPUTS: usize = 16;
    let declaring = commands.iter().filter(|command| DECLARING.contains(&command.name.as_str()));
    let pieces = declaring.flat_map(|command| command.words.iter()).flat_map(|word| &word.pieces);
    let outputs = pieces.filter(|(piece, _)| matches!(piece, Piece::Output(_))).map(|(_, origin)| *origin);
    let outputs: Vec<Origin> = outputs.take(MAX_OUTPUTS).collect();
    if outputs.is_empty() {
        return;
    }
    let mut keeping = BTreeSet::new();
    for (id, command) in commands.iter().enumerate() {
        if command.words.first().is_some_and(|word| outputs.contains(&word.origin())) {
            keeping.insert(id);
            keeping.extend(with_sources(command, commands));
        }
    }
    let read = extractor.effects.iter_mut().skip(before).filter(|effect| effect.kind == EffectKind::Read);
    read.filter(|effect| effect.command.is_some_and(|id| keeping.contains(&id)))
        .for_each(|effect| effect.flags.push("kept"));
}

impl EffectExtractor<'_> {
    /// `gh auth token | curl -d @- URL`: marks secrets that a pipeline sends to another host with the flag `sent`.
    fn revealed_sent(&mut self, before: usize, commands: &[Command]) {
        let effects = self.effects.get_mut(before..).unwrap_or(&mut []);
        if !effects.iter().any(|effect| effect.kind == EffectKind::RevealSecret) {
            return;
        }
        let sending =
            effects.iter().filter(|effect| goes_out(effect)).filter_map(|effect| commands.get(effect.command?));
        let read: BTreeSet<CommandId> = sending.flat_map(|command| with_sources(command, commands)).collect();
        let revealed = effects.iter_mut().filter(|effect| effect.kind == EffectKind::RevealSecret);
        revealed
            .filter(|effect| effect.command.is_some_and(|id| read.contains(&id)))
            .for_each(|effect| effect.flags.push("sent"));
    }
}

/// Returns the files into which the commands, or later ones of their pipelines, print.
fn filled(effects: &[Effect], commands: &[Command], printing: &[CommandId]) -> Vec<String> {
    // In a text of another language, the calls that print and write are siblings.
    let parents: Vec<CommandId> = printing
        .iter()
        .filter_map(|id| commands.get(*id))
        .filter(|command| command.name.contains(':'))
        .filter_map(|command| command.parent)
        .collect();
    let from_print = |id: CommandId| {
        printing.contains(&id)
            || commands.get(id).and_then(|command| command.parent).is_some_and(|parent| parents.contains(&parent))
            || commands
                .get(id)
                .is_some_and(|command| with_sources(command, commands).iter().any(|id| printing.contains(id)))
    };
    let fills = |effect: &&Effect| {
        matches!(effect.kind, EffectKind::Overwrite | EffectKind::Append) && effect.command.is_some_and(from_print)
    };
    effects
        .iter()
        .filter(fills)
        .flat_map(|effect| &effect.targets)
        .filter_map(Target::path)
        .map(str::to_owned)
        .collect()
}

/// Returns whether the effect reaches a host other than this one.
fn goes_out(effect: &Effect) -> bool {
    let reaches =
        matches!(effect.kind, EffectKind::Send | EffectKind::Fetch | EffectKind::Connect | EffectKind::RemoteAccess);
    reaches && !effect.targets.iter().all(is_of_this_machine)
}

/// Returns whether the output of these commands reaches the command: on standard input, or in words that are known only
/// at run time.
fn carries(id: CommandId, command: &Command, commands: &[Command], printing: &[CommandId]) -> bool {
    let sources = with_sources(command, commands);
    reflex_shell::work::spend(1 + (printing.len() * (1 + sources.len())) as u64 / 200);
    let piped = printing.iter().any(|print| sources.contains(print) || *print == id);
    let printed = |piece: &Piece| matches!(piece, Piece::Output(_) | Piece::Unknown(_));
    let holds = |value: &Value| value.pieces.iter().any(|(piece, _)| printed(piece));
    // The output of an earlier command may be part of the words.
    piped || printing.iter().any(|print| *print < id) && command.words.iter().any(holds)
}
