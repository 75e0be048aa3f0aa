//! The syntax of a program's arguments and their effects: an entry of `library/programs`.

use super::map::put;
use crate::compile::error::EntryError;
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
    /// Whether its name is never an ordinary argument: after an unknown program, it is the program that that one runs.
    #[serde(default)]
    pub(super) distinct: bool,
    /// Whether project scripts often share its name: a path outside the usual program folders refers to such a script.
    #[serde(default)]
    pub(super) common: bool,
    /// Subcommands whose words reach other people or agents; `*` for all.
    #[serde(default)]
    pub(super) publishes: Vec<String>,
    /// Number of its own operands before the program that it runs: `chroot FOLDER PROGRAM`.
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
    /// Files that it writes, each with its source.
    #[serde(default, rename = "copies-to")]
    copies_to: Vec<Value>,
    /// Whether paths among the operands are plain text and never opened.
    #[serde(default, rename = "opaque-operands")]
    opaque_operands: bool,
    /// Kind of text that it prints: a word, or a list of `{what, when, unless}` of which the first match applies.
    #[serde(default)]
    prints: Option<Value>,
    /// Word that separates its commands: `tmux new ; split-window`.
    #[serde(default)]
    pub(super) separator: Option<String>,
    /// Environment variables whose values it runs, each with the form of the value: `script`, `program`, `file`,
    /// `options`.
    #[serde(default)]
    pub(super) variables: BTreeMap<String, String>,
    /// Sources of the host, context or account that it works on: options, `operand`, variables, settings files.
    #[serde(default)]
    pub(super) points: Vec<String>,
    /// Further sources that may distinguish production from other targets, in the same form.
    #[serde(default)]
    pub(super) names: Vec<String>,
    /// Backup commands for the database that it works on, by program name or alias; `{name}` is the database, `{file}`
    /// the file that contains it.
    #[serde(default)]
    pub(super) dump: BTreeMap<String, String>,
    /// Selector of the file that holds the database on which it works.
    #[serde(default)]
    pub(super) database: Option<String>,
    /// Configuration keys whose values it runs, in lower case, `*` for any part: `script`, `file`, `alias`.
    #[serde(default)]
    pub(super) settings: BTreeMap<String, String>,
    /// Parameter that takes the input of a PowerShell pipeline.
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
    /// Number of its own operands before the program that it runs: `chroot FOLDER PROGRAM`.
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
    /// Files that it writes, each with its source.
    #[serde(default, rename = "copies-to")]
    copies_to: Vec<Value>,
    /// Whether paths among the operands are plain text and never opened.
    #[serde(default, rename = "opaque-operands")]
    opaque_operands: bool,
    /// Kind of text that it prints: a word, or a list of `{what, when, unless}` of which the first match applies.
    #[serde(default)]
    prints: Option<Value>,
    /// Parameter that takes the input of a PowerShell pipeline.
    #[serde(default)]
    piped: Option<String>,
}

/// Syntax of a program's arguments.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Style {
    /// Options and operands in any order; short options may be combined (`-rf`).
    #[default]
    Mixed,
    /// Options end at the first operand, as in programs that run another program.
    PosixlyCorrect,
    /// Words with a single dash are long names (`find -name`).
    SingleDash,
    /// `-Name value`, `-Name:value`; names are case-insensitive and may be abbreviated, commas make lists.
    #[serde(rename = "powershell")]
    PowerShell,
    /// As `PowerShell`, but options end at the first operand.
    #[serde(rename = "powershell-first")]
    PowerShellFirst,
    /// `/s /q`, `/t:5`; names are case-insensitive.
    Slash,
    /// As `Slash`, but options end at the first operand.
    SlashFirst,
}

impl Style {
    pub(super) fn is_windows(self) -> bool {
        matches!(self, Style::PowerShell | Style::PowerShellFirst | Style::Slash | Style::SlashFirst)
    }
}

/// Common parameters of all cmdlets. With `-WhatIf` a cmdlet has no effect.
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
    /// The name by which the program is looked up.
    pub(super) fn key(&self) -> String {
        let caseless = self.style.is_windows() || self.name.starts_with("powershell:");
        if caseless { self.name.to_lowercase() } else { self.name.clone() }
    }

    pub(super) fn lower(self) -> Result<Value, EntryError> {
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
    pub(super) fn lower(mut self) -> Result<Value, EntryError> {
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
            self.effects.iter_mut().for_each(unless_what_if);
        }
        put(&mut node, "style", style.map_or(Value::Null, Value::from));
        put(&mut node, "leading", Some(self.leading).filter(|count| *count > 0).map_or(Value::Null, Value::from));
        put(&mut node, "options", options(&self.options)?);
        put(&mut node, "piped", self.piped.map_or(Value::Null, Value::from));
        let mut commands = Map::new();
        for (names, subcommand) in self.commands {
            let lowered = subcommand
                .lower()
                .map_err(|problem| EntryError::Subcommand { names: names.clone(), source: Box::new(problem) })?;
            for name in names.split(' ') {
                commands.insert(name.into(), lowered.clone());
            }
        }
        put(&mut node, "commands", Value::Object(commands));
        put(&mut node, "runs", Value::Array(self.runs));
        put(&mut node, "effects", Value::Array(self.effects));
        put(&mut node, "copies-to", Value::Array(self.copies_to));
        put(&mut node, "opaque-operands", if self.opaque_operands { Value::Bool(true) } else { Value::Null });
        put(&mut node, "prints", self.prints.map_or(Value::Null, prints));
        Ok(Value::Object(node))
    }
}

/// One kind of text is a list of one entry without conditions.
fn prints(written: Value) -> Value {
    if written.is_string() { json!([{"what": written}]) } else { written }
}

/// Lowercases the option names; the last word, which describes the value, is left unchanged.
fn names_without_case(spelling: &str) -> String {
    let words = spelling.split_whitespace().map(|word| match word.as_bytes().first() {
        Some(b'-' | b'/') => word.to_lowercase(),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Excludes an effect under `-WhatIf`, with which a cmdlet only reports the effect.
fn unless_what_if(effect: &mut Value) {
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
/// The last word describes the value: none, `NAME` one value, `NAME+NAME` two words (or more), `[NAME]` an optional
/// joined value, `…;` all words up to `;` or `+`, `...` all following words. The name `-NUM` matches any number after a
/// dash.
fn options(written: &BTreeMap<String, String>) -> Result<Value, EntryError> {
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
            None => return Err(EntryError::NoSpelling(key.clone())),
        };
        let last = if value == "none" { None } else { names.pop() };
        let count = last.map_or(0, |last| last.split('+').count());
        if names.is_empty() {
            return Err(EntryError::NoOptionName { key: key.clone(), spelling: spelling.clone() });
        }
        for name in names {
            let mut option = json!({"key": key, "value": value});
            if let Some(option) = option.as_object_mut().filter(|_| value == "several") {
                option.insert("count".into(), count.into());
            }
            let taken = map.insert(name.into(), option);
            if taken.is_some() {
                return Err(EntryError::OptionNameTwice(name.into()));
            }
        }
    }
    Ok(Value::Object(map))
}
