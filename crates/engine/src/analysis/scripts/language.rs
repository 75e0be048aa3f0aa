//! The language of a file.

use crate::model::path;
use reflex_shell::{Command, Language};
use reflex_tables::views::RunEntry;

/// Returns the language of a file that runs: that of the program which runs it, otherwise that of its first line.
pub(super) fn language_of(command: &Command, path: &str, text: &str) -> Option<Language> {
    let Some(invocation) = &command.invocation else { return language_by_itself(path, text) };
    let mut entries = invocation.grammars.iter().rev().flat_map(|grammar| grammar.runs());
    let names_code = |entry: &RunEntry<'_>| {
        [entry.file(), entry.module(), entry.script(), entry.stdin()].iter().any(Option::is_some)
    };
    let applies = |entry: &RunEntry<'static>| reflex_shell::applies(entry.conditions(), invocation);
    let Some(entry) = entries.find(|entry| names_code(entry) && applies(entry)) else {
        // A runner for several languages runs a shell only if the file says so.
        return language_by_itself(path, text)
            .filter(|language| *language != Language::Shell || text.starts_with("#!"));
    };
    entry.language().map_or(Some(Language::Shell), Language::named)
}

/// Extensions of files in languages other than the shell, with the language if it can be read. Programs that run a file
/// by its name alone (`uv run`, `bun`) go by them.
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
        let plain = name.trim_end_matches(|ch: char| ch.is_ascii_digit() || ch == '.');
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

/// Returns the language of a written file that is meant to be run, by its name or its first line.
pub(super) fn language_if_run(path: &str, text: &str) -> Option<Language> {
    let named = SHELLS.contains(&ending(path)) || path.contains("/.husky/") || path.contains("/.git/hooks/");
    let meant = named || (ending(path).is_empty() && text.starts_with("#!"));
    language_by_itself(path, text).filter(|_| meant)
}

/// Returns whether the file is code in a language that can be read.
pub(super) fn is_code(path: &str) -> bool {
    OTHER_LANGUAGES.iter().any(|(known, language)| language.is_some() && *known == ending(path))
}

/// Returns whether a text holds a word that code needs to start programs or open connections. Most code has none, and
/// reading it takes time.
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
