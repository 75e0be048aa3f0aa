//! Mentions of the guard in a written file: a person's commands, its folders, a prompt in its name.
//!
//! An approval can be prepared in a file that runs later and that no reader parses: a build script, an editor's macro,
//! a terminal's configuration. In such a file the guard's name followed by a command reserved for a person is enough to
//! ask.

use super::effects::{EffectExtractor, Input};
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::secrets::veils::lifted;
use reflex_shell::{Language, Origin, Value};
use std::collections::BTreeSet;

/// Names of the guard as a program.
const NAMES: [&str; 2] = ["reflex", "rfx"];

/// Signs of the guard. A text is searched only if it contains one of these or of [`VEILED`], or the name in pieces.
const SIGNS: [&str; 5] = ["reflex", "rfx", ".config/", ".local/state", "assphrase"];

/// The guard's name backwards, in hexadecimal digits, and in base64 at each of the three alignments.
const VEILED: [&str; 6] = ["xelfer", "7265666c6578", "7265666C6578", "cmVmbGV4", "JlZmxle", "yZWZsZX"];

/// Substrings of the guard's paths; each of those paths contains at least one.
const PLACES: [&str; 5] = [".config", ".local/state", "/etc/", "pin/key.json", "XDG_"];

/// Maximum number of words after the guard's name that are read.
const MAX_WORDS: usize = 6;

/// Maximum number of commands, and of places, collected from one text. More are marked as cut.
const MAX_MENTIONS: usize = 256;

/// Maximum length of a setting in bytes. Longer lines are split.
const MAX_LINE: usize = 400;

/// Maximum length of a prompt in characters.
const MAX_PROMPT: usize = 16 * 1024;

/// Returns the effects of writing a text into a file, if the text mentions the guard.
pub(super) fn effects(input: Input<'_>, action: usize, path: &str, text: &str) -> Vec<Effect> {
    if !may_mention(text) {
        return Vec::new();
    }
    let mut mentions = Mentions::default();
    mentions.read(text);
    lifted(text, &mut |plain, _| mentions.read(plain));
    let mut effects = Vec::new();
    let one = |flags: Vec<&'static str>, argument: &str| {
        let effect = Effect::of(EffectKind::WriteAboutGuard).target(target(path)).marks(flags);
        Effect { action, ..effect.argument(Some(Value::text(argument, Origin::default()))) }
    };
    for command in &mentions.commands {
        let changes = changes(command, input).into_iter();
        effects.extend(changes.map(|flags| one([vec!["orders"], flags].concat(), command)));
    }
    effects.extend(mentions.places.iter().map(|place| one(vec!["place"], place)));
    let veiled = is_in_pieces(text) || text.contains("xelfer");
    effects.extend(veiled.then(|| one(vec!["veiled"], "the guard's name in pieces or backwards")));
    effects.extend(mentions.is_cut.then(|| one(vec!["cut"], "")));
    effects.extend(mentions.question.iter().map(|text| one(vec!["question"], text)));
    effects
}

/// Returns whether a text may mention the guard. Most texts do not.
pub(crate) fn may_mention(text: &str) -> bool {
    SIGNS.iter().chain(&VEILED).any(|sign| text.contains(sign)) || is_in_pieces(text)
}

/// Returns whether quotes divide the guard's name: `'ref' + 'lex'`, `['re', 'fl', 'ex']`. Only obfuscated text spells
/// it this way.
fn is_in_pieces(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) = bytes.iter().skip(from).position(|byte| *byte == b'r').map(|at| at + from) {
        let begins =
            at.checked_sub(1).and_then(|before| bytes.get(before)).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        if begins && is_divided(bytes.get(at..).unwrap_or_default()) {
            return true;
        }
        from = at + 1;
    }
    false
}

/// Returns whether a text begins with the guard's name divided by quotes.
fn is_divided(text: &[u8]) -> bool {
    const NAME: &[u8] = b"reflex";
    let (mut known, mut quotes) = (0, false);
    for byte in text {
        match byte {
            // An alphanumeric byte after the complete name makes it another word.
            _ if known == NAME.len() => return quotes && !byte.is_ascii_alphanumeric(),
            _ if NAME.get(known) == Some(byte) => known += 1,
            b'\'' | b'"' | b'`' => quotes = true,
            b' ' | b'+' | b',' | b'.' | b'&' | b'\\' | b'$' => {}
            _ => return false,
        }
    }
    known == NAME.len() && quotes
}

fn target(path: &str) -> Target {
    let known = TargetPath::Known { text: path.into(), climbing: None, follows: false, contents: false };
    Target::new(Value::text(path, Origin::default()), if path.is_empty() { TargetPath::None } else { known })
}

/// Reads a guard command and returns the flags of each of its effects that change the guard.
fn changes(command: &str, input: Input<'_>) -> Vec<Vec<&'static str>> {
    let mut effects = Vec::new();
    EffectExtractor::new(input, 0, &mut effects).shell(command, Language::Shell);
    let changing = effects.into_iter().filter(|effect| effect.kind == EffectKind::ChangeGuard);
    changing.map(|effect| effect.flags).collect()
}

/// The mentions of the guard in a text.
#[derive(Default)]
struct Mentions {
    commands: BTreeSet<String>,
    places: BTreeSet<String>,
    question: Option<String>,
    is_cut: bool,
}

impl Mentions {
    fn read(&mut self, text: &str) {
        for name in NAMES {
            for (at, _) in text.match_indices(name) {
                if let Some(command) = called(text, at, name.len()) {
                    self.is_cut |= self.commands.len() >= MAX_MENTIONS;
                    if !self.is_cut {
                        self.commands.insert(command);
                    }
                }
            }
        }
        for line in text.lines().filter(|line| line.contains("reflex") || line.contains("pin/key.json")) {
            if PLACES.iter().any(|place| line.contains(place)) {
                self.is_cut |= self.places.len() >= MAX_MENTIONS;
                if !self.is_cut {
                    self.places.extend(parts(line));
                }
            }
        }
        let names_guard = || text.to_ascii_lowercase().contains("reflex");
        if self.question.is_none() && text.contains("assphrase") && names_guard() {
            self.question = Some(text.chars().take(MAX_PROMPT).collect());
        }
    }
}

/// Returns the line, or if it is too long its words that name the guard.
fn parts(line: &str) -> Vec<String> {
    let line = line.trim();
    if line.len() <= MAX_LINE {
        return vec![line.to_owned()];
    }
    let words = line.split(|ch: char| ch.is_whitespace() || "\"'`,;".contains(ch));
    words.filter(|word| word.contains("reflex") || word.contains("pin/key")).map(str::to_owned).collect()
}

/// Returns the guard's name and the words after it as a shell command: `['reflex', 'off']` is `reflex off`.
fn called(text: &str, at: usize, length: usize) -> Option<String> {
    let before = text.get(..at)?;
    if before.ends_with(|ch: char| ch.is_alphanumeric() || "_-.@".contains(ch)) {
        return None;
    }
    let after = text.get(at + length..)?;
    let start = before.rsplit('\n').next().unwrap_or("").trim_start_matches(is_wrapping);
    let end = after.lines().next().unwrap_or("");
    // Words on consecutive lines belong together if each has a line of its own.
    let is_line = !start.contains(char::is_whitespace) && end.trim_matches(is_wrapping).is_empty();
    let mut rest = after.strip_prefix(".exe").unwrap_or(after);
    if rest.strip_prefix('(').is_some_and(|inner| !inner.starts_with(['"', '\''])) {
        // A function of that name.
        return None;
    }
    let mut words = vec!["reflex".to_owned()];
    while words.len() <= MAX_WORDS {
        let next = rest.trim_start_matches(|ch: char| is_wrapping(ch) || (is_line && ch == '\n'));
        if next.len() == rest.len() {
            break;
        }
        let next = chained(next);
        let end = next.find(|ch: char| !(ch.is_alphanumeric() || "_-./:=$@%#~".contains(ch)));
        let word = end.and_then(|end| next.get(..end)).unwrap_or(next);
        if !word.starts_with(|ch: char| ch.is_ascii_alphanumeric() || "-$".contains(ch)) {
            break;
        }
        let is_plain = |ch: char| ch.is_ascii_alphanumeric() || "_-./:=".contains(ch);
        words.push(if word.chars().all(is_plain) { word.to_owned() } else { "x".into() });
        rest = next.get(word.len()..).unwrap_or("");
    }
    (words.len() > 1).then(|| words.join(" "))
}

/// Skips the method name of a chained call: `.arg("off")` becomes `off`.
fn chained(text: &str) -> &str {
    let name = text.strip_prefix('.').map(|name| name.trim_start_matches(|ch: char| ch.is_alphanumeric()));
    name.filter(|after| after.starts_with('(')).map_or(text, |after| after.trim_start_matches(is_wrapping))
}

/// Returns whether the character separates words that belong together, in any language.
fn is_wrapping(ch: char) -> bool {
    ch == ' ' || ch == '\t' || ch == '\r' || "\"'`,[](){}+".contains(ch)
}

#[cfg(test)]
mod tests {
    use super::Mentions;

    #[track_caller]
    fn check(text: &str, commands: &[&str]) {
        let mut mentions = Mentions::default();
        mentions.read(text);
        assert_eq!(mentions.commands.iter().map(String::as_str).collect::<Vec<_>>(), commands, "{text}");
    }

    #[test]
    fn words_after_the_name_are_a_command() {
        check("spawn('reflex', ['approve', id])", &["reflex approve id"]);
        check("#!/home/me/.local/bin/reflex approve\n", &["reflex approve"]);
        check("/home/me/.local/bin/reflex\napprove\nab\n", &["reflex approve ab"]);
        check("send-keys -l 'rfx off'", &["reflex off"]);
        check("{\"check\": \"/x/reflex task start X\"}", &["reflex task start X"]);
        check("Command::new(\"reflex\").args([\"off\"])", &["reflex off"]);
        check("<option value=\"/x/reflex off\"/>", &["reflex off"]);
    }

    #[test]
    fn a_name_in_pieces_is_recognized() {
        for text in ["['re','fl','ex'].join('')", "\"ref\" + \"lex\"", "x='ref'.'lex'", "ref\"\"lex", "`ref``lex`"] {
            assert!(super::is_in_pieces(text), "{text}");
        }
        for text in
            ["reflex", "'reflex'", "['ref', 'lexer']", "'href' + 'lex'", "re fl ex", "ref: 'lex'", "'re', 'flexible'"]
        {
            assert!(!super::is_in_pieces(text), "{text}");
        }
    }

    #[test]
    fn a_name_alone_is_none() {
        for text in [
            "reflex:\n\tgo",
            "import x from 'reflex';",
            "\"reflex\": \"^4\"",
            ".reflex { }",
            "reflexes off",
            "a-reflex off",
            "use reflex\noff",
            "def reflex(off)",
        ] {
            check(text, &[]);
        }
    }
}
