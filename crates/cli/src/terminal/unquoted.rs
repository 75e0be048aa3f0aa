//! Unquoted commands such as `reflex check npm test`.

use clap::Command;
use reflex_engine::shell::as_word;

/// Subcommands that take a shell command.
const TAKE_COMMANDS: [&str; 2] = ["check", "explain"];

/// Returns the command line with the words of a shell command joined into one argument after `--`. Options of the
/// subcommand precede the words; after a single word, as after a quoted command, they may also follow.
pub(crate) fn joined(words: Vec<String>, grammar: &Command) -> Vec<String> {
    let Some((at, subcommand)) = subcommand(&words, grammar) else { return words };
    let after = words.get(at + 1..).unwrap_or_default();
    let Some(first) = first_operand(after, subcommand) else { return words };
    let command = after.get(first..).unwrap_or_default();
    let (is_marked, command) = match command.split_first() {
        Some((mark, rest)) if mark == "--" => (true, rest),
        _ => (false, command),
    };
    let [one, more @ ..] = command else { return words };
    // An unknown option is an error, which clap reports.
    let is_complete = one.contains(char::is_whitespace) || one.starts_with('-');
    if more.is_empty() || !is_marked && (is_complete || all_options(more, subcommand)) {
        return words;
    }
    let text: Vec<String> = command.iter().map(|word| as_word(word)).collect();
    let before = words.iter().take(at + 1 + first).cloned();
    before.chain(["--".to_owned(), text.join(" ")]).collect()
}

/// Returns the position of the subcommand that takes a shell command, and its grammar.
fn subcommand<'g>(words: &[String], grammar: &'g Command) -> Option<(usize, &'g Command)> {
    let at = 1 + first_operand(words.get(1..)?, grammar)?;
    let name = words.get(at)?.as_str();
    let subcommand = grammar.find_subcommand(name)?;
    TAKE_COMMANDS.contains(&subcommand.get_name()).then_some((at, subcommand))
}

/// Returns the index of the first word that is neither an option nor its value; `--` counts as one.
fn first_operand(words: &[String], command: &Command) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match option(word, command) {
            None => return Some(at),
            Some(Takes::Nothing) => at += 1,
            Some(Takes::NextWord) => at += 2,
        }
    }
    None
}

fn all_options(words: &[String], command: &Command) -> bool {
    first_operand(words, command).is_none()
}

#[derive(Clone, Copy)]
enum Takes {
    Nothing,
    NextWord,
}

/// Returns whether an option takes the next word, or `None` if the word is not an option of the command.
fn option(word: &str, command: &Command) -> Option<Takes> {
    let name = word.strip_prefix("--").filter(|name| !name.is_empty());
    if matches!(word, "-h" | "--help" | "-V" | "--version") {
        return Some(Takes::Nothing);
    }
    let (name, has_value) = name.map_or((None, false), |name| match name.split_once('=') {
        Some((name, _)) => (Some(name), true),
        None => (Some(name), false),
    });
    let is_meant = |known: &&clap::Arg| match name {
        Some(name) => known.get_long() == Some(name),
        None => word.strip_prefix('-').is_some_and(|ch| known.get_short().is_some_and(|short| ch == short.to_string())),
    };
    let known = command.get_arguments().find(is_meant)?;
    Some(if has_value || !known.get_action().takes_values() { Takes::Nothing } else { Takes::NextWord })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, ArgAction};

    fn line(words: &[&str]) -> Vec<String> {
        let home = || Arg::new("home").long("home").global(true);
        let check = Command::new("check")
            .arg(Arg::new("json").long("json").action(ArgAction::SetTrue))
            .arg(Arg::new("cwd").long("cwd"))
            .arg(Arg::new("command"));
        let mut grammar = Command::new("reflex").arg(home()).subcommand(check).subcommand(Command::new("why"));
        grammar.build();
        joined(std::iter::once("reflex").chain(words.iter().copied()).map(str::to_owned).collect(), &grammar)
    }

    #[test]
    fn words_after_a_bare_word_are_its_arguments() {
        assert_eq!(line(&["check", "npm", "test"]), ["reflex", "check", "--", "npm test"]);
        assert_eq!(line(&["check", "rm", "-rf", "a b"]), ["reflex", "check", "--", "rm -rf 'a b'"]);
        assert_eq!(line(&["check", "--cwd", "/x", "git", "status"])[3..], ["/x", "--", "git status"]);
        assert_eq!(line(&["--home", "/h", "check", "--", "ls", "--json"])[4..], ["--", "ls --json"]);
    }

    #[test]
    fn a_command_in_quotes_stays_as_it_is() {
        for words in [
            &["check", "rm -rf /", "--json"][..],
            &["check", "ls", "--json"],
            &["check", "--home", "/h", "rm -rf /"],
            &["check", "--jsn", "ls"],
            &["check", "ls"],
            &["check"],
        ] {
            assert_eq!(line(words)[1..], *words);
        }
        assert_eq!(line(&["why", "a", "b"])[1..], ["why", "a", "b"]);
    }
}
