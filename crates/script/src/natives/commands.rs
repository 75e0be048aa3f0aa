//! The commands of a text, as a module sees them.

use reflex_engine::shell::{Access, Command, Programs, Surroundings, read};
use reflex_tables::Tables;
use serde_json::{Value, json};

/// A text that is longer is not read as a command.
pub(super) const MAX_COMMAND: usize = 256 * 1024;

/// The commands of a text, each as its words and its own text: first those that stand in it, then those that they run.
pub(super) fn commands(text: &str, tables: Tables) -> Value {
    let reading = read(text, &Surroundings::new(Programs::new(tables)));
    let own = |command: &&Command| command.parent.is_none() && command.origin.derivation.is_none();
    let (own, inner): (Vec<&Command>, Vec<&Command>) = reading.commands.iter().partition(own);
    own.into_iter().chain(inner).map(|command| as_words(text, command)).collect()
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
