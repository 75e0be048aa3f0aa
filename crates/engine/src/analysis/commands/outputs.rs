//! Options with the same meaning in nearly every program: an output file, and operands edited in place. They apply only
//! if no grammar knows the option, and only to existing files, so that a wrong guess costs a copy and no prompt.

use super::{EffectExtractor, Ran};
use crate::model::effect::{EffectKind, Target};
use reflex_shell::Value;

/// Options whose value, in the next word or after `=`, is the output file.
const OUTPUTS: [&str; 7] = ["-o", "--output", "--out", "--outfile", "--out-file", "--output-file", "--write-to"];

/// Options that make the program edit its operands in place.
const IN_PLACE: [&str; 6] =
    ["--in-place", "--inplace", "-inplace", "--replace-input", "-overwrite_original", "--overwrite-original"];

impl EffectExtractor<'_> {
    /// Adds the files that a command writes by options that no grammar knows.
    pub(super) fn outputs(&mut self, ran: Ran<'_>) {
        let command = ran.command;
        let is_option = |word: &Value| word.prefix().starts_with('-');
        let words = command.words.iter().enumerate().skip(1);
        let (unknown, operands): (Vec<usize>, Vec<usize>) = match &command.invocation {
            Some(invocation) => (invocation.unknown.clone(), invocation.operands.clone()),
            None => {
                let (options, others): (Vec<_>, Vec<_>) = words.partition(|(_, word)| is_option(word));
                let indexes = |words: Vec<(usize, &Value)>| words.into_iter().map(|(index, _)| index).collect();
                (indexes(options), indexes(others))
            }
        };
        for index in unknown {
            let Some(word) = command.words.get(index) else { continue };
            let prefix = word.prefix();
            let (name, is_joined) = prefix.split_once('=').map_or((&*prefix, false), |(name, _)| (name, true));
            if OUTPUTS.contains(&name) {
                let next = || command.words.get(index + 1).filter(|next| !is_option(next)).cloned();
                let value = if is_joined { Some(word.without_prefix(name.len() + 1)) } else { next() };
                self.writes(ran, EffectKind::Overwrite, value.into_iter());
            } else if IN_PLACE.contains(&name) {
                let values = operands.iter().filter_map(|index| command.words.get(*index)).cloned();
                self.writes(ran, EffectKind::Edit, values);
            }
        }
    }

    fn writes(&mut self, ran: Ran<'_>, kind: EffectKind, values: impl Iterator<Item = Value>) {
        let targets = values.map(|value| self.path_of(ran, value));
        let is_file = |target: &Target| {
            let real = target.path().map(|path| self.world.real(path, true));
            real.is_some_and(|real| real.exists == Some(true) && real.is_folder == Some(false))
        };
        let targets: Vec<Target> = targets.filter(is_file).collect();
        let targets = self.touched(targets);
        if !targets.is_empty() {
            self.push(self.effect_of(ran, kind).targets(targets));
        }
    }
}
