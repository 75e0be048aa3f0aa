//! Paths among a command's words that its other effects do not cover.

use crate::analysis::effects::{EffectExtractor, Ran};
use crate::analysis::paths_in_code::paths_in_code;
use crate::model::effect::{EffectKind, TargetKind};
use reflex_shell::{Piece, Program, Value};
use std::collections::BTreeSet;

impl EffectExtractor<'_> {
    /// Adds paths among the command's words that none of its effects covers: all words of an unknown program, the
    /// operands of a known one. The rules decide by class which paths matter.
    pub(super) fn touch(&mut self, ran: Ran<'_>) {
        let Ran { id, command, folder } = ran;
        let words: Vec<&Value> = match &command.invocation {
            Some(invocation) if invocation.grammars.iter().any(|grammar| takes_over(*grammar)) => Vec::new(),
            Some(invocation) => invocation.operands.iter().filter_map(|index| command.words.get(*index)).collect(),
            None => command.words.iter().skip(1).collect(),
        };
        let invocation = command.invocation.as_ref();
        let is_code = invocation.is_none_or(|known| known.grammars.iter().any(|grammar| runs_by_the_way(*grammar)));
        let mut paths: Vec<Value> = words.iter().filter_map(|word| path_in(word)).collect();
        paths.extend(command.words.iter().skip(1).filter(|_| is_code).flat_map(paths_in_code));
        if paths.is_empty() {
            return;
        }
        let known = self.effects.iter().rev().take_while(|effect| effect.command == Some(id));
        let known: BTreeSet<String> = known
            .filter(|effect| effect.kind.target_kind() == TargetKind::Path)
            .flat_map(|effect| &effect.targets)
            .map(|target| target.value.shown())
            .collect();
        paths.retain(|path| !known.contains(&path.shown()));
        let targets = self.touched(paths.into_iter().map(|value| self.path_target(value, folder)).collect());
        if !targets.is_empty() {
            self.push(self.effect_of(ran, EffectKind::PathArgument).targets(targets));
        }
    }
}

fn takes_over(grammar: Program) -> bool {
    grammar.has_opaque_operands() || grammar.runs_operands()
}

/// Returns whether the program's words may run code although the program has another purpose.
fn runs_by_the_way(grammar: Program) -> bool {
    grammar.runs().any(|entry| entry.escape() || entry.language() == Some("other"))
}

/// Returns the path that a word names: the complete word, or the part after its first `=`, `@` or `:`.
fn path_in(word: &Value) -> Option<Value> {
    let leads = |value: &Value| {
        let text = value.prefix();
        (text.starts_with('/') && !text.starts_with("//"))
            || text.starts_with("~/")
            || matches!(value.pieces.first(), Some((Piece::Home(_), _)))
    };
    if leads(word) {
        return Some(word.clone());
    }
    let prefix = word.prefix();
    // `SHELL=/bin/sh`, as make takes it, is a variable.
    let is_variable = |at: usize| prefix.bytes().take(at).all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let separator = prefix.find(['=', '@', ':']).filter(|at| !is_variable(*at));
    let after = separator.map(|at| word.without_prefix(at + 1)).filter(leads);
    let relative = || prefix.contains('/') && !prefix.contains([' ', '\n', ':']) && !prefix.starts_with('-');
    after.or_else(|| relative().then(|| word.clone()))
}
