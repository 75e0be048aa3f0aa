//! Paths that stand in the code a program is given: `system("/bin/sh")`, `fopen("/etc/cron.d/job", "w")`.

use reflex_shell::{Origin, Value};

/// What stands before a path in code. A blank does not: prose names paths too.
const BEFORE: &[u8] = b"\"'`({[|!<>=:,@";

/// What ends a path in code.
const BEHIND: &[char] =
    &['"', '\'', '`', '(', ')', '{', '}', '[', ']', '|', '!', '<', '>', '=', ',', ';', ' ', '\n', '\\'];

/// A longer word is a text of its own, and what it is for is not known.
const LONGEST: usize = 4096;

/// Absolute paths and those below the home that stand inside of a word, behind a sign of code.
pub(super) fn paths_in_code(word: &Value) -> Vec<Value> {
    let text = word.shown();
    if text.len() > LONGEST || !text.contains('/') {
        return Vec::new();
    }
    let origin = Origin { derivation: None, ..word.origin() };
    let starts = text.bytes().enumerate().skip(1).filter(|(at, byte)| {
        let begins = *byte == b'/' || (*byte == b'~' && text.as_bytes().get(at + 1) == Some(&b'/'));
        begins && text.as_bytes().get(at - 1).is_some_and(|before| BEFORE.contains(before))
    });
    let path = |at: usize| {
        let rest = text.get(at..)?;
        let path = rest.get(..rest.find(BEHIND).unwrap_or(rest.len()))?;
        (path.len() > 2 && !path.starts_with("//")).then(|| super::agent_paths::agent_path_at(path, origin))
    };
    starts.filter_map(|(at, _)| path(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::paths_in_code;
    use reflex_shell::{Origin, Value};

    #[track_caller]
    fn check(text: &str, paths: &[&str]) {
        let found = paths_in_code(&Value::text(text, Origin::default()));
        assert_eq!(found.iter().map(Value::shown).collect::<Vec<_>>(), paths);
    }

    #[test]
    fn paths_are_found_behind_signs_of_code_and_not_in_prose() {
        check("system(\"/bin/sh 1>&0\")", &["/bin/sh"]);
        check("f = fopen('~/.bashrc', \"w\")", &["~/.bashrc"]);
        check("see /etc/shadow for more", &[]);
        check("https://x.example/a", &[]);
    }
}
