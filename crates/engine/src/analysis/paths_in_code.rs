//! Paths in code passed to a program: `system("/bin/sh")`, `fopen("/etc/cron.d/job", "w")`.

use reflex_shell::{Origin, Value};

/// Bytes that may precede a path in code. A space is not one, since prose contains paths too.
const BEFORE: &[u8] = b"\"'`({[|!<>=:,@";

/// Characters that end a path in code.
const AFTER: &[char] =
    &['"', '\'', '`', '(', ')', '{', '}', '[', ']', '|', '!', '<', '>', '=', ',', ';', ' ', '\n', '\\'];

/// Maximum length of a word, in bytes. A longer word is a text of unknown purpose.
const MAX_WORD: usize = 4096;

/// Returns absolute paths and paths below the home within a word, each after a delimiter of code.
pub(super) fn paths_in_code(word: &Value) -> Vec<Value> {
    let text = word.shown();
    if text.len() > MAX_WORD || !text.contains('/') {
        return Vec::new();
    }
    let origin = Origin { derivation: None, ..word.origin() };
    let starts = text.bytes().enumerate().skip(1).filter(|(at, byte)| {
        let begins = *byte == b'/' || (*byte == b'~' && text.as_bytes().get(at + 1) == Some(&b'/'));
        begins && text.as_bytes().get(at - 1).is_some_and(|before| BEFORE.contains(before))
    });
    let path = |at: usize| {
        let rest = text.get(at..)?;
        let path = rest.get(..rest.find(AFTER).unwrap_or(rest.len()))?;
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
    fn paths_are_found_after_signs_of_code_and_not_in_prose() {
        check("system(\"/bin/sh 1>&0\")", &["/bin/sh"]);
        check("f = fopen('~/.bashrc', \"w\")", &["~/.bashrc"]);
        check("see /etc/shadow for more", &[]);
        check("https://x.example/a", &[]);
    }
}
