//! Patterns of commands, matched against the parsed command instead of its text.

use crate::model::analysis::Analysis;
use crate::text::glob::glob;
use reflex_shell::{Command, Stdin, work};
use reflex_tables::Node;

/// Returns whether a command of the action matches one of the patterns, such as `git push --force*`, wherever it is in
/// the text and whatever its wrappers and quoting.
pub(crate) fn holds(patterns: Node<'_>, action: usize, analysis: &Analysis) -> bool {
    work::spend(1 + analysis.effects.len() as u64 / 16);
    let scripts = analysis.effects.iter().filter(|effect| effect.action == action).filter_map(|effect| effect.script);
    let scripts: std::collections::BTreeSet<usize> = scripts.collect();
    let scripts = scripts.iter().filter_map(|script| analysis.scripts.get(*script)).map(|script| &script.reading);
    let readings = analysis.readings.get(action).into_iter().chain(scripts);
    let mut commands = readings.flat_map(|reading| &reading.commands);
    commands.any(|command| patterns.texts().any(|pattern| fits(pattern, command)))
}

/// The first word is the program. Words with a dash match anywhere; the others match in order, from the first
/// subcommand or operand on. A star as the last word matches any rest, including none.
pub(crate) fn fits(pattern: &str, command: &Command) -> bool {
    let mut words = pattern.split_whitespace();
    if !words.next().is_some_and(|program| is(program, &command.name)) {
        return false;
    }
    let arguments: Vec<String> = command.words.iter().skip(1).map(|word| word.shown()).collect();
    let plain = plain_words(command);
    let mut plain = plain.iter();
    let words: Vec<&str> = words.collect();
    let last = words.len().saturating_sub(1);
    words.iter().enumerate().all(|(index, wanted)| match wanted.starts_with('-') {
        true => arguments.iter().any(|word| word.starts_with('-') && is(wanted, word)),
        false if *wanted == "*" && index == last => true,
        false => plain.next().is_some_and(|word| is(wanted, word)),
    })
}

/// Returns subcommands and operands, or all words without a dash if the program's grammar is unknown.
pub(crate) fn plain_words(command: &Command) -> Vec<String> {
    match &command.invocation {
        Some(invocation) => {
            let operands = invocation.operands.iter().filter_map(|index| command.words.get(*index));
            let path = invocation.path.iter().map(|word| (*word).to_owned());
            path.chain(operands.map(|word| word.shown())).collect()
        }
        None => {
            let words = command.words.iter().skip(1).map(|word| word.shown());
            words.filter(|word| !word.starts_with('-')).collect()
        }
    }
}

/// A star matches any text, including slashes.
pub(crate) fn is(pattern: &str, word: &str) -> bool {
    let plain = |text: &str| text.replace('/', "\u{1}").into_bytes();
    glob(&plain(pattern), &plain(word))
}

/// Returns whether the words of the command alone determine its effects, without files, input or variables of its own.
pub(crate) fn is_plain(command: &Command) -> bool {
    command.parent.is_none() && is_plainly_written(command)
}

/// Like [`is_plain`], for a command that another one may run.
pub(crate) fn is_plainly_written(command: &Command) -> bool {
    command.redirects.is_empty()
        && command.assignments.is_empty()
        && command.unread.is_empty()
        && matches!(command.stdin, Stdin::Inherited)
        && command.origin.derivation.is_none()
        && command.words.iter().all(|word| word.literal().is_some())
}
