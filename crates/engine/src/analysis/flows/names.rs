//! Filters that pass the names of settings but not their values: `cut -d= -f1`, `sed 's/=.*//'`, `grep -o '^[A-Z_]*'`.

use super::graph::Shows;
use reflex_shell::Command;

/// Returns the part of its input that a command shows.
pub(crate) fn shows(command: &Command) -> Shows {
    let Some(words) = command.words.iter().skip(1).map(|word| word.literal()).collect::<Option<Vec<_>>>() else {
        return if measures(command) { Shows::Nothing } else { Shows::Content };
    };
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let names = match command.name.as_str() {
        "cut" => cuts_names(&words),
        "sed" | "gsed" => substitutes_values(&words),
        "awk" | "gawk" | "mawk" => prints_first(&words),
        "grep" | "egrep" | "rg" | "ggrep" => return greps(&words, command),
        "jq" | "yq" | "gojq" => asks_for_names(&words),
        _ => false,
    };
    match names {
        true => Shows::Names,
        false if measures(command) => Shows::Nothing,
        false => Shows::Content,
    }
}

/// Returns whether the program only measures its input, according to its entry.
fn measures(command: &Command) -> bool {
    let Some(invocation) = &command.invocation else { return false };
    let mut entries = invocation.grammars.iter().flat_map(|grammar| grammar.effects());
    entries.any(|entry| entry.set().iter().any(|flag| flag == "measured"))
}

/// Matches `cut -d= -f1`.
fn cuts_names(words: &[&str]) -> bool {
    let has = |short: &str, long: &str, value: &str| {
        let apart =
            words.windows(2).any(|pair| matches!(pair, [name, one] if [short, long].contains(name) && *one == value));
        let joined = |name: &str| words.iter().any(|word| word.strip_prefix(name) == Some(value));
        apart || joined(short) || joined(&format!("{long}="))
    };
    let others = words.iter().any(|word| word.starts_with("--complement") || word.starts_with("--output"));
    has("-d", "--delimiter", "=") && has("-f", "--fields", "1") && !others
}

/// Matches `sed 's/=.*//'`, which removes the text from the equals sign on.
fn substitutes_values(words: &[&str]) -> bool {
    let script = words.iter().find(|word| !word.starts_with('-'));
    let is_plain = |word: &&&str| word.starts_with('-') && !matches!(**word, "-E" | "-r" | "-n" | "-e" | "-i");
    let one = words.iter().filter(is_plain).count() == 0 && words.iter().filter(|word| **word == "-e").count() <= 1;
    one && script.is_some_and(|script| takes_value(script))
}

fn takes_value(script: &str) -> bool {
    let Some(rest) = script.strip_prefix('s') else { return false };
    let Some(sign) = rest.chars().next() else { return false };
    let parts: Vec<&str> = rest.split(sign).collect();
    let [_, pattern, with, end] = parts.as_slice() else { return false };
    let taken = matches!(*pattern, "=.*" | "=.*$" | "=.\\+" | "=.+" | "=.+$" | "=.\\+$");
    taken && !with.contains(['&', '\\']) && end.chars().all(|ch| matches!(ch, 'g' | 'p'))
}

/// Matches `awk -F= '{print $1}'`.
fn prints_first(words: &[&str]) -> bool {
    let mut script = None;
    let mut words = words.iter();
    let mut separated = false;
    while let Some(word) = words.next() {
        match *word {
            "-F" => separated = words.next() == Some(&"="),
            "-F=" => separated = true,
            option if option.starts_with('-') => return false,
            text if script.is_none() => script = Some(text),
            _ => {}
        }
    }
    let Some((before, action)) = script.and_then(|script| script.rsplit_once('{')) else { return false };
    let action: String = action.chars().filter(|ch| !ch.is_whitespace()).collect();
    let only = matches!(action.as_str(), "print$1}" | "print$1;}" | "print($1)}");
    separated && only && !before.contains(['{', '}', ';'])
}

fn greps(words: &[&str], command: &Command) -> Shows {
    let has = |key: &str| {
        command.invocation.as_ref().is_some_and(|known| known.options.iter().any(|option| option.key == key))
    };
    if has("count") || has("quiet") || has("files") {
        return Shows::Nothing;
    }
    let pattern = words.iter().find(|word| !word.starts_with('-'));
    let only = has("only") && !has("replace") && !has("pattern-file") && !has("pattern") && !has("context");
    if only && pattern.is_some_and(|pattern| fits_names_only(pattern)) { Shows::Names } else { Shows::Content }
}

/// Returns whether a pattern is anchored to the start of a line and matches only characters of names and at most the
/// equals sign after them.
fn fits_names_only(pattern: &str) -> bool {
    let Some(mut rest) = pattern.strip_prefix('^') else { return false };
    rest = rest.strip_suffix('=').or_else(|| rest.strip_suffix("(?==)")).unwrap_or(rest);
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '[' => {
                let Some(end) = rest.find(']') else { return false };
                let set = rest.get(1..end).unwrap_or("=");
                let is_name = |ch: char| ch.is_ascii_alphanumeric() || ch == '_' || ch == '-';
                let is_set = set == "^=" || (!set.is_empty() && set.chars().all(is_name));
                if !is_set {
                    return false;
                }
                end + 1
            }
            '\\' if rest.starts_with("\\w") || rest.starts_with("\\+") => 2,
            '*' | '+' | '?' | '(' | ')' | '_' => 1,
            ch if ch.is_ascii_alphanumeric() => 1,
            _ => return false,
        };
        rest = rest.get(taken..).unwrap_or("");
    }
    true
}

/// Returns whether the last stage of a filter yields keys or metadata of an object.
fn asks_for_names(words: &[&str]) -> bool {
    let Some(filter) = words.iter().find(|word| !word.starts_with('-')) else { return false };
    let last = filter.rsplit('|').next().unwrap_or("").trim();
    let described = |part: &str| {
        let part = part.trim().trim_start_matches(".items[]");
        part.starts_with(".metadata.") || matches!(part, ".kind" | ".type" | ".apiVersion")
    };
    matches!(last, "keys" | "keys[]" | "keys_unsorted" | "keys_unsorted[]" | "length") || last.split(',').all(described)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyze;
    use crate::library::{shell, tables, world};

    #[track_caller]
    fn check(command: &str, expected: Shows) {
        let analysis = analyze(&shell(command), tables(), &world(&[]));
        let read = analysis.readings.first().and_then(|reading| reading.commands.last()).map(shows);
        assert_eq!(read, Some(expected), "{command}");
    }

    #[test]
    fn a_filter_that_takes_the_values_away_shows_names() {
        check("cut -d= -f1 .env", Shows::Names);
        check("cut -d '=' -f 1 .env", Shows::Names);
        check("sed 's/=.*//' .env", Shows::Names);
        check("awk -F= '/^[A-Z]/ {print $1}' .env", Shows::Names);
        check("grep -oE '^[A-Z_]+=' .env", Shows::Names);
        check("jq '.data | keys' a", Shows::Names);
    }

    #[test]
    fn a_filter_that_lets_a_value_through_shows_it() {
        for command in [
            "cut -d= -f2 .env",
            "cut -d= -f1,2 .env",
            "cut -d: -f1 .env",
            "cut -d= -f1 --complement .env",
            "sed 's/=.*/&/' .env",
            "sed -e 's/=.*//' -e 'r .env' .env",
            "awk -F= '{print $1; print $0}' .env",
            "awk '{print $1}' .env",
            "grep -o '[A-Z_]*' .env",
            "grep -oE '^[A-Z_]+=.*' .env",
            "grep '^[A-Z_]*' .env",
            "jq '.data | keys, .' a",
        ] {
            check(command, Shows::Content);
        }
    }

    #[test]
    fn what_is_counted_is_not_shown() {
        check("wc -l .env", Shows::Nothing);
        check("grep -c KEY .env", Shows::Nothing);
    }
}
