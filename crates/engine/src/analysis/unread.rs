//! Code that a command runs and that is not part of the text: fetched, decoded, read from a file, or unknown.

use super::effects::{EffectExtractor, Ran, Text, with_printing};
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use reflex_shell::{Access, Code, Command, CommandId, Invocation, Origin, Piece, Program, Span, Value, work};

/// Adds effects for code that is run and not part of the text, by the source of that code.
pub(super) fn add(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let commands = &text.reading.commands;
    for (id, command) in commands.iter().enumerate() {
        let first = extractor.effects.len();
        extractor.unread(id, command, commands);
        if let Some(table) = text.mounts_of(id) {
            extractor.mapped(first, table);
        }
    }
}

impl EffectExtractor<'_> {
    /// Adds effects for code that is run but not part of the text, by the source of that code.
    pub(super) fn unread(&mut self, id: CommandId, command: &Command, commands: &[Command]) {
        let folder = self.folder(command);
        let ran = Ran { id, command, folder: folder.as_deref() };
        for (code, from) in &command.unread {
            if !work::spend(2 + self.effects.len() as u64 / 64) {
                return self.push(self.effect(EffectKind::ExceedLimit).at(command.origin));
            }
            let from = &with_printing(code.value(), from, commands);
            let (kind, targets) = match code {
                Code::File(path) => match self.source_of(path, from) {
                    (EffectKind::RunUnknown, targets) if from.iter().any(|id| is_decoder(commands.get(*id))) => {
                        (EffectKind::RunDecoded, targets)
                    }
                    (EffectKind::RunUnknown, _) => (EffectKind::RunFile, vec![self.path_of(ran, path.clone())]),
                    known => known,
                },
                Code::Stdin(value) => match command.redirects.iter().find(|file| file.access == Access::Read) {
                    Some(file) => {
                        // `python < a.py` is `python a.py`, but a file that a shell reads is a gap.
                        let shell = command.invocation.as_ref().and_then(Invocation::grammar);
                        let shell = shell.is_none_or(Program::reads_shell_text);
                        let kind = if shell { EffectKind::RunUnknown } else { EffectKind::RunFile };
                        (kind, vec![self.path_target(file.target.clone(), ran.folder)])
                    }
                    None => self.source_of(value, from),
                },
                Code::Text(value) => self.source_of(value, from),
                Code::Part(value) => match self.source_of(value, from) {
                    // The known part has been judged; the rest is an argument in nearly every case.
                    (EffectKind::RunUnknown, targets) if !targets.iter().any(|file| file.path().is_some()) => continue,
                    (EffectKind::RunUnknown, targets) => (EffectKind::RunFile, targets),
                    known => known,
                },
            };
            let effect = self.effect_of(ran, kind).targets(targets);
            let here = |effect: &&Effect| effect.action == self.action && effect.script == self.script;
            let sources = self
                .effects
                .iter()
                .filter(here)
                .filter(|effect| effect.command.is_some_and(|source| from.contains(&source)));
            let span = sources.map(|effect| effect.origin.span).fold(command.origin.span, Span::join);
            self.push(effect.at(Origin { span, ..command.origin }));
        }
    }

    fn source_of(&self, value: &Value, from: &[CommandId]) -> (EffectKind, Vec<Target>) {
        work::spend(1 + self.effects.len() as u64 / 32);
        let of_sources = |kind| {
            self.effects.iter().filter(move |effect| {
                effect.kind == kind
                    && effect.action == self.action
                    && effect.script == self.script
                    && effect.command.is_some_and(|id| from.contains(&id))
            })
        };
        let fetched: Vec<Target> = of_sources(EffectKind::Fetch).flat_map(|effect| effect.targets.clone()).collect();
        if of_sources(EffectKind::Fetch).next().is_some() {
            return (EffectKind::RunFetched, fetched);
        }
        // `$(cat f)`: the content is not known from the text, but the file is.
        let mut files: Vec<Target> = of_sources(EffectKind::Read).flat_map(|effect| effect.targets.clone()).collect();
        if files.len() == 1 && is_output_of(value, "cat") {
            return (EffectKind::RunUnknown, std::mem::take(&mut files));
        }
        let kind = if decodes(value) { EffectKind::RunDecoded } else { EffectKind::RunUnknown };
        (kind, vec![Target::new(value.clone(), TargetPath::None)])
    }
}

pub(super) fn is_decoder(command: Option<&Command>) -> bool {
    command.is_some_and(|command| DECODERS.contains(&command.name.as_str()))
}

const DECODERS: [&str; 10] =
    ["base64", "base32", "basenc", "xxd", "openssl", "gunzip", "uudecode", "zcat", "bzcat", "xzcat"];

fn is_output_of(value: &Value, program: &str) -> bool {
    matches!(value.pieces.as_slice(), [(Piece::Output(reflex_shell::Printed::Program(name)), _)] if name == program)
}

fn decodes(value: &Value) -> bool {
    value.pieces.iter().any(|(piece, _)| {
        matches!(piece, Piece::Output(reflex_shell::Printed::Program(name)) if DECODERS.contains(&name.as_str()))
    })
}
