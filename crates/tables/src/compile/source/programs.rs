//! How a program reads its arguments, with what they do: an entry of `library/programs`.

use super::map::put;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    pub(super) name: String,
    #[expect(dead_code, reason = "for readers of the file and the generated manual")]
    about: String,
    #[serde(default)]
    pub(super) aliases: Vec<String>,
    #[serde(default)]
    pub(super) style: Style,
    /// Its name is no word of other programs: behind one that is not known, it is what that one runs.
    #[serde(default)]
    pub(super) distinct: bool,
    /// Scripts of projects often have its name too: by a path where no programs are installed, one of those is meant.
    #[serde(default)]
    pub(super) common: bool,
    /// Its subcommands whose words reach other people or agents; `*` if all do.
    #[serde(default)]
    pub(super) publishes: Vec<String>,
    /// How many operands are its own before the program that it runs: `chroot FOLDER PROGRAM`.
    #[serde(default)]
    leading: u32,
    #[serde(default)]
    options: BTreeMap<String, String>,
    #[serde(default)]
    commands: BTreeMap<String, Subcommand>,
    #[serde(default)]
    runs: Vec<Value>,
    #[serde(default)]
    effects: Vec<Value>,
    /// Which files it fills, and from where.
    #[serde(default, rename = "copies-to")]
    copies_to: Vec<Value>,
    /// Paths among the operands are texts and are not opened.
    #[serde(default, rename = "opaque-operands")]
    opaque_operands: bool,
    /// What kind of text it prints: a word, or a list of `{what, when, unless}` of which the first that fits counts.
    #[serde(default)]
    prints: Option<Value>,
    /// The word that stands between several of its commands: `tmux new ; split-window`.
    #[serde(default)]
    pub(super) separator: Option<String>,
    /// Environment variables whose values it runs, and how: `script`, `program`, `file`, `options`.
    #[serde(default)]
    pub(super) variables: BTreeMap<String, String>,
    /// Where it looks for the host, context or account that it works on: options, `operand`, variables, settings files.
    #[serde(default)]
    pub(super) points: Vec<String>,
    /// What else may tell production from the rest, in the same words.
    #[serde(default)]
    pub(super) names: Vec<String>,
    /// By its name or alias, the command that keeps a copy of the database it works on; `{name}` is the database, `{file}`
    /// the file that holds it.
    #[serde(default)]
    pub(super) dump: BTreeMap<String, String>,
    /// Keys of its configuration whose values it runs, in lower case, `*` for any part: `script`, `file`, `alias`.
    #[serde(default)]
    pub(super) settings: BTreeMap<String, String>,
    /// The parameter that takes what comes through PowerShell's pipe.
    #[serde(default)]
    piped: Option<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    examples: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Subcommand {
    #[serde(default)]
    style: Style,
    /// How many operands are its own before the program that it runs: `chroot FOLDER PROGRAM`.
    #[serde(default)]
    leading: u32,
    #[serde(default)]
    options: BTreeMap<String, String>,
    #[serde(default)]
    commands: BTreeMap<String, Subcommand>,
    #[serde(default)]
    runs: Vec<Value>,
    #[serde(default)]
    effects: Vec<Value>,
    /// Which files it fills, and from where.
    #[serde(default, rename = "copies-to")]
    copies_to: Vec<Value>,
    /// Paths among the operands are texts and are not opened.
    #[serde(default, rename = "opaque-operands")]
    opaque_operands: bool,
    /// What kind of text it prints: a word, or a list of `{what, when, unless}` of which the first that fits counts.
    #[serde(default)]
    prints: Option<Value>,
    /// The parameter that takes what comes through PowerShell's pipe.
    #[serde(default)]
    piped: Option<String>,
}

/// How a program reads its arguments.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Style {
    /// Options and operands in any order, short options may be joined (`-rf`).
    #[default]
    Mixed,
    /// Options end at the first operand: programs that run another one.
    PosixlyCorrect,
    /// Words with one dash are whole names (`find -name`).
    SingleDash,
    /// `-Name value`, `-Name:value`; names have no case and may be cut short, commas make lists.
    #[serde(rename = "powershell")]
    PowerShell,
    /// The same, but options end at the first operand.
    #[serde(rename = "powershell-first")]
    PowerShellFirst,
    /// `/s /q`, `/t:5`; names have no case.
    Slash,
    /// The same, but options end at the first operand.
    SlashFirst,
}

impl Style {
    pub(super) fn is_windows(self) -> bool {
        matches!(self, Style::PowerShell | Style::PowerShellFirst | Style::Slash | Style::SlashFirst)
    }
}

/// Parameters that every cmdlet has. With `-WhatIf` it does nothing.
const OF_EVERY_CMDLET: [(&str, &str); 4] = [
    ("what-if", "-WhatIf -wi"),
    ("confirm", "-Confirm -cf"),
    ("verbosely", "-Verbose -vb -Debug -db"),
    (
        "common",
        "-ErrorAction -ea -WarningAction -wa -InformationAction -infa -ProgressAction -proga -ErrorVariable -ev \
         -WarningVariable -wv -InformationVariable -iv -OutVariable -ov -OutBuffer -ob -PipelineVariable -pv VALUE",
    ),
];

impl Program {
    /// The name that it is found by.
    pub(super) fn key(&self) -> String {
        let caseless = self.style.is_windows() || self.name.starts_with("powershell:");
        if caseless { self.name.to_lowercase() } else { self.name.clone() }
    }

    pub(super) fn lower(self) -> Result<Value, String> {
        Subcommand {
            style: self.style,
            leading: self.leading,
            options: self.options,
            commands: self.commands,
            runs: self.runs,
            effects: self.effects,
            copies_to: self.copies_to,
            opaque_operands: self.opaque_operands,
            prints: self.prints,
            piped: self.piped,
        }
        .lower()
    }
}

impl Subcommand {
    pub(super) fn lower(mut self) -> Result<Value, String> {
        let mut node = Map::new();
        let style = match self.style {
            Style::Mixed => None,
            Style::PosixlyCorrect => Some("posixly-correct"),
            Style::SingleDash => Some("single-dash"),
            Style::PowerShell => Some("powershell"),
            Style::PowerShellFirst => Some("powershell-first"),
            Style::Slash => Some("slash"),
            Style::SlashFirst => Some("slash-first"),
        };
        if self.style.is_windows() {
            self.options.values_mut().for_each(|spelling| *spelling = names_without_case(spelling));
        }
        if matches!(self.style, Style::PowerShell) {
            let common = OF_EVERY_CMDLET.map(|(key, spelling)| (key.to_owned(), names_without_case(spelling)));
            self.options.extend(common);
            self.effects.iter_mut().for_each(unless_only_told);
        }
        put(&mut node, "style", style.map_or(Value::Null, Value::from));
        put(&mut node, "leading", Some(self.leading).filter(|count| *count > 0).map_or(Value::Null, Value::from));
        put(&mut node, "options", options(&self.options)?);
        put(&mut node, "piped", self.piped.map_or(Value::Null, Value::from));
        let mut commands = Map::new();
        for (names, subcommand) in self.commands {
            let lowered = subcommand.lower().map_err(|problem| format!("{names}: {problem}"))?;
            for name in names.split(' ') {
                commands.insert(name.into(), lowered.clone());
            }
        }
        put(&mut node, "commands", Value::Object(commands));
        put(&mut node, "runs", Value::Array(self.runs));
        put(&mut node, "effects", Value::Array(self.effects));
        put(&mut node, "copies-to", Value::Array(self.copies_to));
        put(&mut node, "opaque-operands", if self.opaque_operands { Value::Bool(true) } else { Value::Null });
        put(&mut node, "prints", self.prints.unwrap_or(Value::Null));
        Ok(Value::Object(node))
    }
}

/// Names in lower case; the last word, which says what follows, as it is.
fn names_without_case(spelling: &str) -> String {
    let words = spelling.split_whitespace().map(|word| match word.as_bytes().first() {
        Some(b'-' | b'/') => word.to_lowercase(),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// With `-WhatIf` a cmdlet only tells what it would do.
fn unless_only_told(effect: &mut Value) {
    let Value::Object(effect) = effect else { return };
    if let Value::Array(unless) = effect.entry("unless").or_insert_with(|| json!([])) {
        unless.push("what-if".into());
    }
}

fn is_several(word: &str) -> bool {
    word.contains('+') && word.split('+').all(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// `{directory: "-C --directory DIR"}` -> `{"-C": {key, value: one}, "--directory": {…}}`.
///
/// The last word says what follows: nothing, `NAME` a value, `NAME+NAME` two words (or more), `[NAME]` a value that is joined or absent, `…;` all words
/// up to `;` or `+`, `...` all that follow. The name `-NUM` stands for any number behind a dash.
fn options(written: &BTreeMap<String, String>) -> Result<Value, String> {
    let mut map = Map::new();
    for (key, spelling) in written {
        let mut names: Vec<&str> = spelling.split_whitespace().collect();
        let value = match names.last() {
            Some(&"...") => "rest",
            Some(&"...;") => "until",
            Some(last) if last.starts_with('[') => "joined",
            Some(last) if is_several(last) => "several",
            Some(last) if last.starts_with(|c: char| c.is_ascii_uppercase()) => "one",
            Some(_) => "none",
            None => return Err(format!("option `{key}` has no spelling")),
        };
        let last = if value == "none" { None } else { names.pop() };
        let count = last.map_or(0, |last| last.split('+').count());
        if names.is_empty() {
            return Err(format!("option `{key}` has no name in `{spelling}`"));
        }
        for name in names {
            let mut option = json!({"key": key, "value": value});
            if let Some(option) = option.as_object_mut().filter(|_| value == "several") {
                option.insert("count".into(), count.into());
            }
            let taken = map.insert(name.into(), option);
            if taken.is_some() {
                return Err(format!("option name `{name}` is used twice"));
            }
        }
    }
    Ok(Value::Object(map))
}
