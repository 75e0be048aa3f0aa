//! The commands of a shell text, as a module sees them.

use reflex_engine::shell::{Access, Command, Programs, Span, Surroundings, Written, is_name, read, written};
use reflex_tables::Tables;
use serde_json::{Value, json};

/// Maximum size in bytes of a text that is parsed as a command.
pub(super) const MAX_COMMAND: usize = 256 * 1024;

/// Returns the commands of a text, each with its words and its source: first the written ones, including builtins and
/// assignments, then the commands that they run.
pub(super) fn commands(text: &str, tables: Tables) -> Value {
    let reading = read(text, &Surroundings::new(Programs::new(tables)));
    let is_outer = |command: &&Command| command.parent.is_none() && command.origin.derivation.is_none();
    let (outer, inner): (Vec<&Command>, Vec<&Command>) = reading.commands.iter().partition(is_outer);
    let all_written = written(text);
    // Commands that only change the shell's state run no program, or are parsed without all their words; they are
    // listed as written.
    let is_complete = |command: &Command| {
        let parsed = command.words.len() + 2 * command.redirects.len();
        let same = all_written.iter().find(|one| one.span.start == command.origin.span.start);
        let needed = same.map_or(0, |one| one.words.iter().skip_while(|word| is_assignment(word)).count());
        needed <= parsed
    };
    let outer: Vec<&Command> = outer.into_iter().filter(|command| is_complete(command)).collect();
    let is_read = |span: Span| outer.iter().any(|command| command.origin.span.start == span.start);
    let unread = all_written.iter().filter(|one| !is_read(one.span)).map(|one| (one.span, as_written(text, one)));
    let mut all: Vec<(Span, Value)> =
        outer.iter().map(|one| (one.origin.span, as_words(text, one))).chain(unread).collect();
    all.sort_by_key(|(span, _)| span.start);
    all.into_iter().map(|(_, command)| command).chain(inner.into_iter().map(|one| as_words(text, one))).collect()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn as_written(text: &str, Written { span, words }: &Written) -> Value {
    let raw = text.get(span.start as usize..span.end as usize).unwrap_or("").trim();
    json!({"argv": words, "raw": raw})
}

pub(super) fn as_words(text: &str, command: &Command) -> Value {
    let mut argv: Vec<String> = command.words.iter().map(|word| word.shown()).collect();
    for redirection in &command.redirects {
        let sign = match redirection.access {
            Access::Read => "<",
            Access::Overwrite => ">",
            Access::Append => ">>",
        };
        argv.extend([sign.to_owned(), redirection.target.shown()]);
    }
    let span = command.origin.span;
    let raw = text.get(span.start as usize..span.end as usize).filter(|_| command.origin.derivation.is_none());
    let raw = raw.map_or_else(|| argv.join(" "), |raw| raw.trim().to_owned());
    json!({"argv": argv, "raw": raw})
}
