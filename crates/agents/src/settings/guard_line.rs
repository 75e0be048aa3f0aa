//! The command line that starts the guard: recognizing and quoting it.

/// Returns whether a shell line runs the guard, directly or after a known wrapper.
pub(crate) fn runs_guard(line: &str) -> bool {
    runs(line, &OURS)
}

pub(super) fn runs(line: &str, names: &[&str]) -> bool {
    let words = words(line);
    if let [_, _, script, program, ..] = words.as_slice()
        && let Some(arguments) = script.strip_prefix("\"$0\" ")
    {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        return arguments.first() == Some(&"hook") && is_guard(program, &arguments, names);
    }
    let all: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_hook = |at: &usize| match all.get(*at..) {
        Some([program, arguments @ ..]) => arguments.first() == Some(&"hook") && is_guard(program, arguments, names),
        _ => false,
    };
    let Some(at) = (0..all.len()).find(is_hook) else { return false };
    let wraps = |word: &String| {
        matches!(word.as_str(), "timeout" | "exec" | "command" | "env" | "nice" | "&" | "npx" | "bunx" | "pnpm" | "dlx")
            || word.starts_with('-')
            || word.starts_with(|first: char| first.is_ascii_digit())
            || word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'))
    };
    words.iter().take(at).all(wraps)
}

/// Names of the guard's binary.
pub(super) const OURS: [&str; 2] = ["reflex", "rfx"];

/// Names of earlier guards' binaries.
pub(super) const OLDER: [&str; 3] = ["arx", "agentreflex", "vf"];

pub(super) fn is_named(program: &str, names: &[&str]) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or("");
    names.contains(&name.strip_suffix(".exe").unwrap_or(name))
}

/// Returns whether a program with these arguments is one of these guards. The guard's binary may have any name, so its
/// entries are also recognized by their arguments.
pub(super) fn is_guard(program: &str, arguments: &[&str], names: &[&str]) -> bool {
    let is_call = matches!(arguments, ["hook", "--agent", _, "--event", _, "--home", ..]);
    is_named(program, names) || names == OURS && is_call && program.starts_with('/')
}

/// Returns the executable that the guard's hook entry starts in a shell line.
pub(super) fn guard_program(line: &str) -> Option<String> {
    let words = words(line);
    match words.as_slice() {
        [_, _, script, program, ..] if script.starts_with("\"$0\" hook ") => Some(program.clone()),
        _ => {
            let at = words.iter().position(|word| word == "hook").and_then(|at| at.checked_sub(1));
            let named = at.and_then(|at| words.get(at)).cloned();
            named.or_else(|| words.into_iter().find(|word| is_named(word, &OURS)))
        }
    }
}

/// Splits a shell line into words, with regard to quotes only.
pub(super) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for ch in line.chars() {
        match (quote, ch) {
            (Some(open), ch) if ch == open => quote = None,
            (None, '\'' | '"') => (quote, begun) = (Some(ch), true),
            (None, ch) if ch.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (_, ch) => {
                word.push(ch);
                begun = true;
            }
        }
    }
    words.extend(begun.then_some(word));
    words
}

/// Quotes a text as one word of a POSIX shell.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |ch: char| ch.is_ascii_alphanumeric() || "/._-+:@%".contains(ch);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { reflex_engine::shell::quoted(text) }
}

#[cfg(test)]
mod tests {
    use super::{quoted, runs_guard, words};

    #[test]
    fn a_shell_line_runs_the_guard_or_does_not() {
        for (line, ours) in [
            ("/x/reflex hook --agent codex", true),
            ("'/home me/reflex' hook", true),
            ("timeout 8 reflex hook --agent copilot", true),
            ("X=1 exec \"/a b/rfx\" hook || { exit 2; }", true),
            ("/bin/sh -c '\"$0\" hook --agent codex || exit 2' '/a b/reflex'", true),
            ("/bin/sh -c '\"$0\" hook --agent codex --home \"$1\" || exit 2' /a/reflex '/home/a b'", true),
            ("/bin/sh -c '\"$0\" hook --agent codex || exit 2' /a/other", false),
            ("echo reflex hook", false),
            ("/opt/reflexology hook", false),
            ("/opt/rx hook --agent codex --event Stop --home /h", true),
            ("/bin/sh -c '\"$0\" hook --agent codex --event Stop --home \"$1\" || exit 2' /opt/rx /h", true),
            ("/opt/rx hook --agent codex", false),
            ("reflex status", false),
            ("cat reflex; true", false),
        ] {
            assert_eq!(runs_guard(line), ours, "{line}");
        }
    }

    #[test]
    fn what_is_quoted_is_one_word() {
        for text in ["/x/reflex", "/home me/reflex", "a'b", "$(x)", ""] {
            assert_eq!(words(&format!("{} hook", quoted(text).replace("'\\''", "'\"'\"'"))), [text, "hook"], "{text}");
        }
    }
}
