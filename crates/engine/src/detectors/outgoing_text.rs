//! Instructions in text that a call would pass on: to a tool, to another agent, to readers of a publication.

use crate::facts::cache::Facts;
use crate::injection::findings::{IN_COMMAND, findings};
use crate::model::effect::EffectKind;
use crate::model::event::Action;
use crate::model::finding::{At, Finding};
use crate::model::path;
use reflex_shell::{Command, Program, Programs};

/// Returns findings for instructions in text that a call would pass on: to a server's tool, to another agent, to
/// readers of a publication.
pub(crate) fn inspect(facts: &Facts<'_>) -> Vec<Finding> {
    let texts = facts.event.actions.iter().filter_map(|action| {
        if let Action::SpawnAgent { prompt } = action {
            return Some(("arg:prompt", prompt));
        }
        let Action::McpCall { arguments, .. } = action else { return None };
        Some(("arg:arguments", arguments))
    });
    let found = texts.flat_map(|(place, text)| findings(text, place, facts.tables));
    found.chain(in_words(facts)).chain(in_files(facts)).collect()
}

/// Options that read a program's message from a file.
const FROM_FILE: [&str; 4] = ["-F", "--file", "--body-file", "--notes-file"];

/// Findings for instructions in files whose text a command publishes: the body of an issue, a commit message.
fn in_files<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = Finding> + 'f {
    let programs = Programs::new(facts.tables);
    let publishes = move |command: &&Command| {
        command.words.iter().any(|word| word.literal().is_some_and(|word| option_of(&word).is_some()))
            && Program::find(programs, &command.name).is_some_and(|program| is_published(program, command))
    };
    let publishing = facts.analysis.readings.iter().flat_map(|reading| &reading.commands).filter(publishes);
    publishing.flat_map(files_of).flat_map(|name| {
        let path = path::absolute(&name, &facts.event.cwd);
        let text = facts.call.world.content(&path).unwrap_or_default();
        findings(&text, &format!("file:{name}"), facts.tables)
    })
}

/// The option at the beginning of a word, without a value that is joined to it.
fn option_of(word: &str) -> Option<&str> {
    let word = Some(word).filter(|word| word.starts_with('-'))?;
    let option = FROM_FILE.iter().find(|option| word.starts_with(**option))?;
    let rest = word.get(option.len()..)?;
    (rest.is_empty() || rest.starts_with('=') || !option.starts_with("--")).then(|| rest.trim_start_matches('='))
}

/// The files of a command's options, in the same word or in the next one, including `name=@FILE`.
fn files_of(command: &Command) -> Vec<String> {
    let words: Vec<_> = command.words.iter().map(|word| word.literal().unwrap_or_default()).collect();
    let mut files = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(rest) = option_of(word) else { continue };
        let value = if rest.is_empty() { words.get(at + 1).map(AsRef::as_ref).unwrap_or_default() } else { rest };
        let file = value.split_once("=@").map_or(value, |(_, file)| file);
        files.extend((!file.is_empty() && file != "-").then(|| file.to_owned()));
    }
    files
}

/// Whether the words of a command are published.
fn is_published(program: Program, command: &Command) -> bool {
    let has_word = |name: &str| {
        command.words.iter().skip(1).take(MAX_BEFORE).any(|word| word.literal().is_some_and(|word| word == name))
    };
    program.publishes().any(|name| name == "*" || has_word(name))
}

/// Maximum number of words that are searched for a subcommand.
const MAX_BEFORE: usize = 4;

/// Minimum length of a word that can contain an instruction, in bytes.
const MIN_LEN: usize = 16;

/// Findings for instructions in the words that commands publish or send: a comment, a message, the data of a request.
fn in_words<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = Finding> + 'f {
    let sent = facts.analysis.effects.iter().filter(|effect| effect.kind == EffectKind::SendText);
    let sent = sent.filter_map(|effect| facts.analysis.command(effect));
    let programs = Programs::new(facts.tables);
    let publishes = move |command: &&Command| {
        command.words.iter().any(|word| word.span().end - word.span().start >= MIN_LEN as u32)
            && Program::find(programs, &command.name).is_some_and(|program| is_published(program, command))
    };
    let publishing = facts.analysis.readings.iter().flat_map(|reading| &reading.commands).filter(publishes);
    let words = sent.chain(publishing).flat_map(|command| command.words.iter().skip(1));
    words.flat_map(|word| {
        let text = word.literal().filter(|text| text.len() >= MIN_LEN);
        let found = text.map(|text| findings(&text, IN_COMMAND, facts.tables));
        // The span of the word in the command replaces the span in the word.
        let placed = |found: Finding| Finding { at: At { span: word.span(), ..found.at }, ..found };
        found.unwrap_or_default().into_iter().map(placed).collect::<Vec<_>>()
    })
}
