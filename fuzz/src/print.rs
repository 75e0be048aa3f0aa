//! A command as shell text, always spelled the same way: quoted where it is text, open where it is not.

use reflex_shell::{Access, Command, Piece, Printed, Reading, Value};

/// The command's assignments, words and files. `None` if it has no words: a group that opens files.
pub(crate) fn canonical(command: &Command) -> Option<String> {
    if command.words.is_empty() {
        return None;
    }
    let assignments = command.assignments.iter().map(|(name, value)| format!("{name}={}", word(value)));
    let words = command.words.iter().map(word);
    let files = command.redirects.iter().map(|file| {
        let operator = match file.access {
            Access::Read => "<",
            Access::Overwrite => ">",
            Access::Append => ">>",
        };
        format!("{operator}{}", word(&file.target))
    });
    Some(assignments.chain(words).chain(files).collect::<Vec<_>>().join(" "))
}

/// The command that stands there by itself: no other runs it, and it is no part of a word.
pub(crate) fn outermost(reading: &Reading) -> Option<&Command> {
    reading.commands.iter().filter(|command| !command.words.is_empty() && command.parent.is_none()).max_by_key(
        |command| {
            let span = command.origin.span;
            (span.end - span.start, command.origin.derivation.is_none())
        },
    )
}

/// Stands for everything that no text says.
const UNKNOWN: &str = "\"${0@Q}\"";

fn word(value: &Value) -> String {
    let mut printed = String::new();
    let mut text = String::new();
    let mut skipped = 0;
    for (index, (piece, _)) in value.pieces.iter().enumerate() {
        if let Piece::Text(more) = piece {
            text.push_str(more.get(std::mem::take(&mut skipped)..).unwrap_or(""));
            continue;
        }
        if let Piece::Glob(glob) = piece {
            pattern(&mut printed, &mut text, glob);
            continue;
        }
        quote(&mut printed, &mut text);
        match piece {
            Piece::Text(_) | Piece::Glob(_) | Piece::Resolved => {}
            Piece::Home(user) if user.is_empty() => printed.push_str("\"$HOME\""),
            // A name is one only at the front and up to a slash.
            Piece::Home(user) if index == 0 => match value.pieces.get(1) {
                None => printed.push_str(&format!("~{user}")),
                Some((Piece::Text(next), _)) if next.starts_with('/') => {
                    printed.push_str(&format!("~{user}/"));
                    skipped = 1;
                }
                Some(_) => printed.push_str(UNKNOWN),
            },
            Piece::Home(_) => printed.push_str(UNKNOWN),
            Piece::Variable(name) => printed.push_str(&format!("\"${{{name}}}\"")),
            Piece::Output(Printed::Temporary) => printed.push_str("\"$(mktemp)\""),
            Piece::Output(Printed::WorkingDirectory) => printed.push_str("\"$(pwd)\""),
            Piece::Output(Printed::GitRoot) => printed.push_str("\"$(git rev-parse --show-toplevel)\""),
            Piece::Output(Printed::User) => printed.push_str("\"$(whoami)\""),
            Piece::Output(Printed::Program(_)) | Piece::Unknown(_) => printed.push_str(UNKNOWN),
        }
    }
    if !text.is_empty() || printed.is_empty() {
        quote(&mut printed, &mut text);
        if printed.is_empty() {
            printed.push_str("''");
        }
    }
    printed
}

/// Prints a pattern as far as it is one; what else stands in it is text.
fn pattern(printed: &mut String, text: &mut String, glob: &str) {
    let mut rest = glob;
    while let Some(first) = rest.chars().next() {
        let set = rest.split_inclusive(']').next().filter(|set| is_set(set));
        let open = if matches!(first, '*' | '?') { Some(&rest[..1]) } else { set };
        match open {
            Some(open) => {
                quote(printed, text);
                printed.push_str(open);
            }
            None => text.push(first),
        }
        rest = &rest[open.map_or(first.len_utf8(), str::len)..];
    }
}

/// `[a-z]`: nothing in it has another meaning.
fn is_set(set: &str) -> bool {
    let inside = set.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inside.is_some_and(|inside| {
        !inside.trim_start_matches(['!', '^']).is_empty()
            && inside.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!^-_.:[".contains(&byte))
    })
}

fn quote(printed: &mut String, text: &mut String) {
    if !text.is_empty() {
        printed.push_str(&format!("'{}'", text.replace('\'', "'\\''")));
        text.clear();
    }
}
