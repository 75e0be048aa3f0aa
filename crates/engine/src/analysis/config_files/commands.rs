//! Commands in settings files, recognized by their keys.

use crate::model::words::{WordList, Words};
use crate::text::settings::{Setting, settings};
use reflex_shell::as_word;
use reflex_tables::Tables;

/// Maximum distance, in settings, between a program and its arguments.
const NEAR: usize = 4;

/// Keys of PowerShell commands.
const POWERSHELL: [&str; 3] = ["ps", "pwsh", "powershell"];

/// Returns the commands of a settings file, each as a shell line.
pub(crate) fn commands_of(tables: Tables, path: &str, text: &str) -> String {
    let read = |list: WordList| list.read(tables);
    let keys = Keys {
        commands: read(WordList::CommandKeys),
        programs: read(WordList::ProgramKeys),
        arguments: read(WordList::ArgumentKeys),
        descriptions: read(WordList::DescriptionKeys),
    };
    let settings = settings(path, text);
    let mut lines: Vec<String> = Vec::new();
    for (at, setting) in settings.iter().enumerate() {
        if setting.keys.last().is_some_and(|key| POWERSHELL.contains(&key.as_str())) {
            lines.extend(setting.texts.iter().map(|text| format!("pwsh -Command {}", as_word(text))));
        } else if keys.is_command(setting) {
            let after = settings.get(at + 1..).unwrap_or_default();
            let before = settings.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
            let arguments = after.iter().take(NEAR).chain(before).find(|other| keys.is_argument_of(other, setting));
            lines.extend(texts_of(setting, arguments));
        } else {
            // git, and other programs after it, mark a command as `!COMMAND`.
            lines.extend(setting.texts.iter().filter_map(|text| text.strip_prefix('!')).map(str::to_owned));
        }
    }
    lines.dedup();
    lines.iter().map(|line| format!("( {line}\n)\n")).collect()
}

struct Keys {
    commands: Words,
    programs: Words,
    arguments: Words,
    descriptions: Words,
}

impl Keys {
    fn is_command(&self, setting: &Setting) -> bool {
        let plain = |key: &String| key.to_ascii_lowercase();
        let last = setting.keys.last().map(plain).unwrap_or_default();
        let is_one = |key: &String| self.commands.has(&plain(key)) || self.programs.has(&plain(key));
        !self.descriptions.has(&last) && setting.keys.iter().any(is_one)
    }

    /// Returns whether one setting holds the arguments of the program that the other one names.
    fn is_argument_of(&self, arguments: &Setting, program: &Setting) -> bool {
        let is = |words: Words, key: Option<&String>| key.is_some_and(|key| words.has(&key.to_ascii_lowercase()));
        let Some((name, around)) = program.keys.split_last() else { return false };
        let below = arguments.keys.strip_prefix(around).unwrap_or_default();
        is(self.programs, Some(name)) && program.texts.len() == 1 && is(self.arguments, below.first())
    }
}

/// Returns the command lines of a setting. A text is a command. A list is the words of one command if it begins with a
/// single word and has options, otherwise several commands.
fn texts_of(setting: &Setting, arguments: Option<&Setting>) -> Vec<String> {
    let is_line = |text: &str| text.trim().contains(char::is_whitespace);
    let all_texts = || setting.texts.iter().chain(arguments.into_iter().flat_map(|setting| &setting.texts));
    let is_one =
        setting.texts.first().is_some_and(|first| !is_line(first)) && all_texts().any(|word| word.starts_with('-'));
    if !is_one {
        return all_texts().cloned().collect();
    }
    // A single text holds all arguments, as typed.
    let typed = arguments.filter(|arguments| arguments.texts.len() == 1);
    let apart = arguments.filter(|_| typed.is_none());
    let words = setting.texts.iter().chain(apart.into_iter().flat_map(|setting| &setting.texts));
    let words = words.map(|word| as_word(word)).chain(typed.into_iter().flat_map(|setting| setting.texts.clone()));
    vec![words.collect::<Vec<_>>().join(" ")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::tables;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        let expected: String = expected.iter().map(|line| format!("( {line}\n)\n")).collect();
        assert_eq!(commands_of(tables(), path, text), expected, "{text}");
    }

    #[test]
    fn commands_stand_under_keys_of_commands() {
        check("a.yml", "jobs:\n  x:\n    script:\n      - npm ci\n      - npm test\n", &["npm ci", "npm test"]);
        check("a.yml", "x:\n  name: a b\n  run: c d\n", &["c d"]);
        check("a.json", "{\"tasks\": {\"dev\": \"a b\", \"description\": \"c d\"}}", &["a b"]);
        check("a.json", "{\"x\": \"a b\"}", &[]);
        check("a.json", "{\"command\": \"sh\", \"args\": [\"-c\", \"a b\"]}", &["sh -c 'a b'"]);
        check("a.json", "{\"args\": [\"-e\", \"sh\"], \"command\": \"nc\"}", &["nc -e sh"]);
        check("a.yml", "command: [\"sh\", \"-c\", \"a b\"]\n", &["sh -c 'a b'"]);
        check("a.xml", "<c><executable>sh</executable><arguments><argument>-a</argument></arguments></c>", &["sh -a"]);
        check("a.xml", "<o name=\"program\" value=\"sh\"/><o name=\"arguments\" value=\"-c a\"/>", &["sh -c a"]);
        check("a.yml", "build_script:\n- ps: a b\n", &["pwsh -Command 'a b'"]);
        check(".gitconfig", "[alias]\n\tst = \"!a b\"\n\tco = checkout\n", &["a b"]);
    }
}
