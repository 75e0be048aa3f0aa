//! The language in which a file is read.

use crate::model::path;
use reflex_shell::{Command, Language};
use reflex_tables::Node;

/// The language in which a file that runs is read: that of the program which runs it, else what its first line says.
pub(super) fn language_of(command: &Command, path: &str, text: &str) -> Option<Language> {
    let Some(invocation) = &command.invocation else { return language_by_itself(path, text) };
    let mut entries = invocation.grammars.iter().rev().flat_map(|grammar| grammar.runs());
    let names_code = |entry: &Node<'_>| ["file", "script", "stdin"].iter().any(|key| entry.get(key).is_text());
    let applies = |entry: &Node<'static>| reflex_shell::applies(*entry, invocation);
    let Some(entry) = entries.find(|entry| names_code(entry) && applies(entry)) else {
        // A runner of many kinds of programs means a shell only where the file says so.
        return language_by_itself(path, text)
            .filter(|language| *language != Language::Shell || text.starts_with("#!"));
    };
    let language = entry.get("language").text();
    if language.is_empty() { Some(Language::Shell) } else { Language::named(language) }
}

/// Endings of files in other languages than the shell's, with those that are read: what runs a file by its name alone
/// (`uv run`, `bun`) goes by them.
const OTHER_LANGUAGES: [(&str, Option<Language>); 17] = [
    ("py", Some(Language::Python)),
    ("js", Some(Language::JavaScript)),
    ("mjs", Some(Language::JavaScript)),
    ("cjs", Some(Language::JavaScript)),
    ("jsx", Some(Language::JavaScript)),
    ("ts", Some(Language::JavaScript)),
    ("mts", Some(Language::JavaScript)),
    ("cts", Some(Language::JavaScript)),
    ("tsx", Some(Language::JavaScript)),
    ("rb", Some(Language::Ruby)),
    ("pl", Some(Language::Perl)),
    ("php", Some(Language::Php)),
    ("lua", Some(Language::Lua)),
    ("r", None),
    ("jl", None),
    ("exe", None),
    ("fish", None),
];

const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "ksh", "dash", "ash", "mksh"];

pub(super) fn language_by_itself(path: &str, text: &str) -> Option<Language> {
    if let Some(first) = text.strip_prefix("#!").and_then(|rest| rest.lines().next()) {
        let mut words = first.split_whitespace().map(path::name_of);
        let name = words.find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
        let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        return if SHELLS.contains(&plain) { Some(Language::Shell) } else { Language::named(plain) };
    }
    match ending(path).to_ascii_lowercase().as_str() {
        "ps1" | "psm1" => Some(Language::PowerShell),
        "bat" | "cmd" => Some(Language::Cmd),
        ending => {
            let other = OTHER_LANGUAGES.iter().find(|(known, _)| *known == ending);
            other.map_or(Some(Language::Shell), |(_, language)| *language)
        }
    }
}

/// The language of a file that is only written, if it is meant to be run: it says so by its name or its first line.
pub(super) fn language_if_run(path: &str, text: &str) -> Option<Language> {
    let named = SHELLS.contains(&ending(path)) || path.contains("/.husky/") || path.contains("/.git/hooks/");
    let meant = named || (ending(path).is_empty() && text.starts_with("#!"));
    language_by_itself(path, text).filter(|_| meant)
}

/// Whether it is code in a language that is read.
pub(super) fn is_code(path: &str) -> bool {
    OTHER_LANGUAGES.iter().any(|(known, language)| language.is_some() && *known == ending(path))
}

/// Whether a text holds a word without which code neither starts programs nor opens connections: most code has none, and
/// reading takes time.
pub(super) fn may_reach(text: &str) -> bool {
    const WORDS: [&str; 10] = [
        "child_process",
        "subprocess",
        "os.system",
        "popen",
        "socket",
        "/dev/tcp",
        "exec(",
        "system(",
        "spawn",
        ".ssh",
    ];
    WORDS.iter().any(|word| text.contains(word))
}

fn ending(path: &str) -> &str {
    path::name_of(path).rsplit_once('.').map_or("", |(_, ending)| ending)
}
