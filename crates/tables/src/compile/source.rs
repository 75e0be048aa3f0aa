//! The YAML that people write, and its lowering to the tree that is compiled.

mod cues;
mod meanings;
mod tools;

use super::secrets::{Format, Formats};
use cues::Cue;
use meanings::Meaning;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use tools::Words;

/// Texts that are only read when something is said to somebody.
const FOR_PEOPLE: [&str; 3] = ["about", "message", "remedy"];

/// What a file holds; the folder it lies in says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// How programs' arguments turn into effects and inner commands.
    Programs,
    /// What is dangerous.
    Rules,
    /// Classes of paths.
    Places,
    /// What a severity is worth.
    Policies,
    /// What words mean that orders to a model are made of.
    Meanings,
    /// How texts try to give a model orders.
    Cues,
    /// What keys and passwords look like.
    Secrets,
    /// What the words of a tool's name and the keys of its arguments say.
    Tools,
    /// How clients read their settings files.
    Settings,
    /// Where programs take a password.
    Logins,
    /// Which files programs take orders from without being told.
    Orders,
}

impl Kind {
    /// Every kind with the name of its folder.
    pub const ALL: [(Kind, &'static str); 11] = [
        (Kind::Programs, "programs"),
        (Kind::Rules, "rules"),
        (Kind::Places, "places"),
        (Kind::Policies, "policies"),
        (Kind::Meanings, "meanings"),
        (Kind::Cues, "cues"),
        (Kind::Secrets, "secrets"),
        (Kind::Tools, "tools"),
        (Kind::Settings, "settings"),
        (Kind::Logins, "logins"),
        (Kind::Orders, "orders"),
    ];
}

/// A file that could not be taken, with its place and what to mend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// `rules/git.yaml`
    pub file: String,
    /// What is wrong, with line and column where they are known.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.message)
    }
}

/// One entry with the file it stands in: what tests walk over.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// The file it stands in.
    pub file: String,
    /// The id of a rule, the name of a program, class or policy.
    pub name: String,
    /// The entry with its examples, as it stands in the file.
    pub value: Value,
}

/// Collects entries from files and lowers them to one tree.
#[derive(Default)]
pub struct Sources {
    programs: BTreeMap<String, Value>,
    aliases: Vec<(String, String)>,
    triggers: BTreeMap<String, Vec<Value>>,
    rules: BTreeMap<String, Value>,
    places: BTreeMap<String, Vec<Value>>,
    policies: BTreeMap<String, Value>,
    meanings: Vec<Meaning>,
    cues: Vec<Cue>,
    formats: Formats,
    tools: tools::Tables,
    settings: Vec<Value>,
    logins: BTreeMap<String, Vec<Value>>,
    orders: BTreeMap<String, Vec<Value>>,
    entries: Vec<Entry>,
}

/// Adds every entry of a file; the names under which they are known.
fn each<T: for<'de> Deserialize<'de>>(
    text: &str,
    add: impl FnMut(T) -> Result<String, String>,
) -> Result<Vec<String>, String> {
    read::<Vec<T>>(text)?.into_iter().map(add).collect()
}

impl Sources {
    /// Takes the entries of one file.
    ///
    /// # Errors
    /// Text that is not YAML of this kind, an id used twice, or an option whose spelling is not understood.
    pub fn add(&mut self, kind: Kind, file: &str, text: &str) -> Result<(), Problem> {
        self.add_entries(kind, file, text).map_err(|message| Problem { file: file.into(), message })
    }

    fn add_entries(&mut self, kind: Kind, file: &str, text: &str) -> Result<(), String> {
        let raw: Vec<Value> = read(text)?;
        let names = match kind {
            Kind::Programs => each(text, |program: Program| {
                let name = program.name.clone();
                self.add_program(program).map(|()| name)
            }),
            Kind::Rules => each(text, |rule: Rule| {
                let (id, at) = (rule.id.clone(), format!("{file}:{}", line_of(text, &rule.id)));
                self.add_rule(rule, &at).map(|()| id)
            }),
            Kind::Places => each(text, |place: Place| {
                let class = place.class.clone();
                self.places.entry(class.clone()).or_default().push(place.lower());
                Ok(class)
            }),
            Kind::Policies => each(text, |policy: Policy| {
                let name = policy.name.clone();
                once(&mut self.policies, name.clone(), policy.lower()).map(|()| name)
            }),
            Kind::Meanings => each(text, |meaning: Meaning| {
                let name = meaning.name.clone();
                self.meanings.push(meaning);
                Ok(name)
            }),
            Kind::Cues => each(text, |cue: Cue| {
                let name = cue.name.clone();
                self.add_cue(cue).map(|()| name)
            }),
            Kind::Secrets => each(text, |format: Format| {
                let id = format.id.clone();
                self.formats.add(format).map(|()| id)
            }),
            Kind::Tools => each(text, |words: Words| {
                let name = words.name.clone();
                self.tools.add(words).map(|()| name)
            }),
            Kind::Settings => each(text, |form: SettingsForm| {
                let name = form.form.clone();
                self.settings.push(form.lower());
                Ok(name)
            }),
            Kind::Logins => each(text, |login: Login| {
                let lowered = login.lower()?;
                Ok(of_programs(&mut self.logins, &login.programs, &lowered))
            }),
            Kind::Orders => {
                each(text, |givers: OrderFiles| Ok(of_programs(&mut self.orders, &givers.programs, &givers.lower())))
            }
        }?;
        for (name, value) in names.into_iter().zip(raw) {
            self.entries.push(Entry { kind, file: file.into(), name, value });
        }
        Ok(())
    }

    fn add_program(&mut self, mut program: Program) -> Result<(), String> {
        for alias in std::mem::take(&mut program.aliases) {
            let alias = if program.style.is_windows() { alias.to_lowercase() } else { alias };
            self.aliases.push((alias, program.key()));
        }
        let name = program.key();
        // No program's name begins with a dollar sign: variables stand beside the programs that run them.
        for (variable, how) in std::mem::take(&mut program.variables) {
            once(&mut self.programs, format!("${variable}"), json!({"how": how, "program": name}))?;
        }
        let settings = std::mem::take(&mut program.settings);
        let speaks = std::mem::take(&mut program.speaks);
        let separator = program.separator.take();
        let (distinct, common) = (program.distinct, program.common);
        let (points, names) = (std::mem::take(&mut program.points), std::mem::take(&mut program.names));
        let mut lowered = program.lower().map_err(|problem| format!("{name}: {problem}"))?;
        if let Value::Object(node) = &mut lowered {
            put(node, "settings", json!(settings));
            put(node, "separator", separator.map_or(Value::Null, Value::from));
            put(node, "common", if common { Value::Bool(true) } else { Value::Null });
            put(node, "speaks", json!(speaks));
            put(node, "points", json!(points));
            put(node, "names", json!(names));
            put(node, "distinct", if distinct { Value::Bool(true) } else { Value::Null });
        }
        once(&mut self.programs, name, lowered)
    }

    fn add_rule(&mut self, rule: Rule, at: &str) -> Result<(), String> {
        let triggers = rule.on.clone();
        let (id, mut value) = (rule.id.clone(), rule.lower());
        if let Some(object) = value.as_object_mut() {
            object.insert("at".into(), at.into());
        }
        once(&mut self.rules, id, value.clone())?;
        for trigger in triggers {
            self.triggers.entry(trigger).or_default().push(value.clone());
        }
        Ok(())
    }

    fn add_cue(&mut self, cue: Cue) -> Result<(), String> {
        let first = cue.words.first().map(String::as_str).unwrap_or_default();
        match () {
            () if self.cues.iter().any(|known| known.name == cue.name) => {
                Err(format!("`{}` is defined twice", cue.name))
            }
            () if cue.ways() != 1 => Err(format!("{}: one of `words`, `text` and `together`", cue.name)),
            () if first.contains('*') => Err(format!("{}: a first word is written out", cue.name)),
            () => {
                self.cues.push(cue);
                Ok(())
            }
        }
    }

    /// Every entry taken so far, with its examples.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The blob of all of it.
    ///
    /// # Errors
    /// An alias of a program that is also a program, or more than a blob can hold.
    pub fn blob(self) -> Result<Vec<u8>, String> {
        super::encode_apart(&self.tree()?, &FOR_PEOPLE)
    }

    /// The tree to compile.
    ///
    /// # Errors
    /// An alias of a program that is also a program.
    pub fn tree(mut self) -> Result<Value, String> {
        for (alias, name) in std::mem::take(&mut self.aliases) {
            let program = self.programs.get(&name).cloned().unwrap_or_default();
            once(&mut self.programs, alias, program)?;
        }
        let all = |map: BTreeMap<String, Value>| Value::Object(map.into_iter().collect());
        let known = meanings::names(&self.meanings)?;
        Ok(json!({
            "programs": all(self.programs),
            "triggers": self.triggers,
            "rules": all(self.rules),
            "places": self.places,
            "policies": all(self.policies),
            "cues": cues::lower(&self.cues, &known)?,
            "meanings": meanings::lower(&self.meanings, &known),
            "secrets": self.formats.lower(),
            "tools": self.tools.lower(),
            "settings": self.settings,
            "logins": self.logins,
            "orders": self.orders,
        }))
    }
}

/// The line, from 1, on which the entry of this id begins.
fn line_of(text: &str, id: &str) -> usize {
    let begins =
        |line: &str| line.trim_start_matches(['-', ' ']).strip_prefix("id:").is_some_and(|rest| rest.trim() == id);
    text.lines().position(begins).map_or(1, |index| index + 1)
}

/// The items of a YAML list.
///
/// # Errors
/// Text that is not a YAML list.
pub fn list(text: &str) -> Result<Vec<Value>, String> {
    read(text)
}

fn read<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, String> {
    serde_saphyr::from_str(text).map_err(|error| error.to_string())
}

fn once(map: &mut BTreeMap<String, Value>, name: String, value: Value) -> Result<(), String> {
    match map.insert(name.clone(), value) {
        Some(_) => Err(format!("`{name}` is defined twice")),
        None => Ok(()),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    name: String,
    #[expect(dead_code, reason = "for readers of the file and the generated manual")]
    about: String,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    style: Style,
    /// Its name is no word of other programs: behind one that is not known, it is what that one runs.
    #[serde(default)]
    distinct: bool,
    /// Scripts of projects often have its name too: by a path where no programs are installed, one of those is meant.
    #[serde(default)]
    common: bool,
    /// Its subcommands whose words reach other people or agents; `*` if all do.
    #[serde(default)]
    speaks: Vec<String>,
    /// How many operands are its own before the program that it runs: `chroot FOLDER PROGRAM`.
    #[serde(default)]
    leading: u32,
    #[serde(default)]
    options: BTreeMap<String, String>,
    #[serde(default)]
    commands: BTreeMap<String, Subcommand>,
    #[serde(default)]
    inner: Vec<Value>,
    #[serde(default)]
    effects: Vec<Value>,
    /// Which files it fills, and from where.
    #[serde(default)]
    flows: Vec<Value>,
    /// Paths among the operands are texts and are not opened.
    #[serde(default)]
    texts: bool,
    #[serde(default)]
    prints: Option<String>,
    /// The word that stands between several of its commands: `tmux new ; split-window`.
    #[serde(default)]
    separator: Option<String>,
    /// Environment variables whose values it runs, and how: `script`, `program`, `file`, `options`.
    #[serde(default)]
    variables: BTreeMap<String, String>,
    /// Where it looks for the host, context or account that it works on: options, `operand`, variables, settings files.
    #[serde(default)]
    points: Vec<String>,
    /// What else may tell production from the rest, in the same words.
    #[serde(default)]
    names: Vec<String>,
    /// Keys of its configuration whose values it runs, in lower case, `*` for any part: `script`, `file`, `alias`.
    #[serde(default)]
    settings: BTreeMap<String, String>,
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
    inner: Vec<Value>,
    #[serde(default)]
    effects: Vec<Value>,
    /// Which files it fills, and from where.
    #[serde(default)]
    flows: Vec<Value>,
    /// Paths among the operands are texts and are not opened.
    #[serde(default)]
    texts: bool,
    #[serde(default)]
    prints: Option<String>,
    /// The parameter that takes what comes through PowerShell's pipe.
    #[serde(default)]
    piped: Option<String>,
}

/// A place of a command where a password stands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Login {
    programs: Vec<String>,
    /// One of these words is there too, or the place is another one.
    #[serde(default)]
    with: Vec<String>,
    /// Options whose value it is.
    #[serde(default)]
    options: Vec<String>,
    /// The value is joined to its option, and what stands apart is something else.
    #[serde(default)]
    joined: bool,
    /// It is the last operand (1), the one before (2), …
    #[serde(default)]
    last: u32,
    /// … if there are so many.
    #[serde(default)]
    of: u32,
    /// The program reads it.
    #[serde(default)]
    input: bool,
    /// Before it stands the name of a user and this sign.
    #[serde(default)]
    sign: String,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    takes: Vec<Value>,
    #[serde(default)]
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    quiet: Vec<String>,
}

impl Login {
    fn lower(&self) -> Result<Value, String> {
        if self.options.is_empty() && self.last == 0 && !self.input {
            return Err(format!("{}: one of `options`, `last` and `input`", self.programs.join(" ")));
        }
        let mut node = Map::new();
        put(&mut node, "with", json!(self.with));
        put(&mut node, "options", json!(self.options));
        put(&mut node, "joined", Some(self.joined).filter(|joined| *joined).map_or(Value::Null, Value::from));
        put(&mut node, "last", Some(self.last).filter(|last| *last > 0).map_or(Value::Null, Value::from));
        put(&mut node, "of", Some(self.of).filter(|of| *of > 0).map_or(Value::Null, Value::from));
        put(&mut node, "input", Some(self.input).filter(|input| *input).map_or(Value::Null, Value::from));
        put(
            &mut node,
            "sign",
            Some(&self.sign).filter(|sign| !sign.is_empty()).map_or(Value::Null, |sign| json!(sign)),
        );
        Ok(Value::Object(node))
    }
}

/// How a program reads its arguments.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Style {
    /// Options and operands in any order, short options may be joined (`-rf`).
    #[default]
    Mixed,
    /// Options end at the first operand: programs that run another one.
    OptionsFirst,
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
    fn is_windows(self) -> bool {
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
    fn key(&self) -> String {
        let caseless = self.style.is_windows() || self.name.starts_with("powershell:");
        if caseless { self.name.to_lowercase() } else { self.name.clone() }
    }

    fn lower(self) -> Result<Value, String> {
        Subcommand {
            style: self.style,
            leading: self.leading,
            options: self.options,
            commands: self.commands,
            inner: self.inner,
            effects: self.effects,
            flows: self.flows,
            texts: self.texts,
            prints: self.prints,
            piped: self.piped,
        }
        .lower()
    }
}

impl Subcommand {
    fn lower(mut self) -> Result<Value, String> {
        let mut node = Map::new();
        let style = match self.style {
            Style::Mixed => None,
            Style::OptionsFirst => Some("options-first"),
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
        put(&mut node, "inner", Value::Array(self.inner));
        put(&mut node, "effects", Value::Array(self.effects));
        put(&mut node, "flows", Value::Array(self.flows));
        put(&mut node, "texts", if self.texts { Value::Bool(true) } else { Value::Null });
        put(&mut node, "prints", self.prints.map_or(Value::Null, Value::from));
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

fn put(node: &mut Map<String, Value>, key: &str, value: Value) {
    let empty = match &value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if !empty {
        node.insert(key.into(), value);
    }
}

/// `{directory: "-C --directory DIR"}` -> `{"-C": {key, value: one}, "--directory": {…}}`.
///
/// The last word says what follows: nothing, `NAME` a value, `[NAME]` a value that is joined or absent, `…;` all words
/// up to `;` or `+`, `...` all that follow. The name `-NUM` stands for any number behind a dash.
fn options(written: &BTreeMap<String, String>) -> Result<Value, String> {
    let mut map = Map::new();
    for (key, spelling) in written {
        let mut names: Vec<&str> = spelling.split_whitespace().collect();
        let value = match names.last() {
            Some(&"...") => "rest",
            Some(&"...;") => "until",
            Some(last) if last.starts_with('[') => "joined",
            Some(last) if last.starts_with(|c: char| c.is_ascii_uppercase()) => "one",
            Some(_) => "none",
            None => return Err(format!("option `{key}` has no spelling")),
        };
        if value != "none" {
            names.pop();
        }
        if names.is_empty() {
            return Err(format!("option `{key}` has no name in `{spelling}`"));
        }
        for name in names {
            let taken = map.insert(name.into(), json!({"key": key, "value": value}));
            if taken.is_some() {
                return Err(format!("option name `{name}` is used twice"));
            }
        }
    }
    Ok(Value::Object(map))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    category: String,
    severity: String,
    /// In percent.
    confidence: u32,
    #[serde(default)]
    tier: Option<String>,
    #[serde(default)]
    detector: Option<String>,
    on: Vec<String>,
    #[serde(default)]
    when: Value,
    /// What happens when `when` cannot be known: `fire` or `quiet` (default).
    #[serde(default)]
    unknown: Option<String>,
    message: String,
    #[serde(default)]
    remedy: String,
    /// The severity where the command points to this machine.
    #[serde(default)]
    local: Option<String>,
    /// The severity where the command points to production.
    #[serde(default)]
    production: Option<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    fires: Vec<Value>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    quiet: Vec<Value>,
}

impl Rule {
    fn lower(self) -> Value {
        let mut lowered = json!({
            "id": self.id,
            "category": self.category,
            "severity": self.severity,
            "confidence": self.confidence,
            "tier": self.tier.unwrap_or_else(|| "recommended".into()),
            "detector": self.detector.unwrap_or_else(|| "sentinel".into()),
            "when": self.when,
            "unknown": self.unknown.unwrap_or_else(|| "quiet".into()),
            "message": self.message,
            "remedy": self.remedy,
        });
        if let Value::Object(node) = &mut lowered {
            put(node, "local", self.local.map_or(Value::Null, Value::from));
            put(node, "production", self.production.map_or(Value::Null, Value::from));
        }
        lowered
    }
}

/// How a client reads a settings file. What is not said is not read: a comment, a byte-order mark, an empty file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsForm {
    form: String,
    agent: String,
    /// The client that was seen to read it so.
    version: String,
    #[expect(dead_code, reason = "for readers of the file and the generated manual")]
    about: String,
    paths: Vec<String>,
    /// `json`, or anything else for a file of which only the bytes are looked at.
    format: String,
    /// What it reads beyond strict JSON: `comments`, `commas` behind the last entry, a byte-order `mark`, `bytes` that are
    /// no UTF-8, an `empty` file, `halves` of surrogate pairs, a key that stands `twice`.
    #[serde(default)]
    reads: Vec<String>,
    /// Whether the client does not start with a text that it cannot read, a project's too, or loses all hooks with it.
    #[serde(default)]
    stops: bool,
    /// Variables with which it runs no hook of the user.
    #[serde(default)]
    variables: Vec<String>,
    /// The keys at the top on which its hooks hang; all where none are named.
    #[serde(default)]
    weighty: Vec<String>,
    /// Other files on which its hooks hang.
    #[serde(default)]
    with: Vec<String>,
    /// The only keys that may stand at the top; any if there are none.
    #[serde(default)]
    known: Vec<String>,
    /// The events that the client knows.
    #[serde(default)]
    events: Vec<String>,
    /// `key.key: type`, each of a value with which the client drops the whole file if it has another type.
    #[serde(default)]
    types: Vec<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    taken: Vec<Value>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    dropped: Vec<Value>,
    /// Other files, and what the user's hook does beside each: `fires` or `silent`.
    #[serde(default)]
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    beside: Vec<Value>,
}

impl SettingsForm {
    fn lower(self) -> Value {
        json!({"form": self.form, "agent": self.agent, "version": self.version, "paths": self.paths,
            "format": self.format, "stops": self.stops, "known": self.known, "events": self.events,
            "types": self.types, "reads": self.reads, "variables": self.variables, "weighty": self.weighty, "with": self.with})
    }
}

/// Files that programs take orders from without being told.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderFiles {
    programs: Vec<String>,
    #[expect(dead_code, reason = "for readers of the file and the generated manual")]
    about: String,
    /// Paths from the folder in which the program runs, or from the home; the last part may hold a star.
    files: Vec<String>,
    /// Keys of options that name another folder to look in.
    #[serde(default)]
    folders: Vec<String>,
    /// Whether they are looked for in the folders above too.
    #[serde(default)]
    above: bool,
    /// Whether they are the program itself.
    #[serde(default)]
    runs: bool,
    /// Whether files among its words may hold orders.
    #[serde(default = "yes")]
    words: bool,
    /// Whether it goes by a repository's settings.
    #[serde(default)]
    git: bool,
    /// Environment variables that name such files, several parted by colons.
    #[serde(default)]
    variables: Vec<String>,
    /// How one of these files names others: the word that begins such a line, and the file it stands for.
    #[serde(default)]
    includes: Vec<String>,
    /// Options behind which a module's name stands that `includes` know.
    #[serde(default)]
    modules: Vec<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    examples: Vec<Value>,
}

fn yes() -> bool {
    true
}

impl OrderFiles {
    fn lower(&self) -> Value {
        json!({"files": self.files, "folders": self.folders, "above": self.above, "runs": self.runs,
            "words": self.words, "git": self.git, "variables": self.variables, "includes": self.includes,
            "modules": self.modules})
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    class: String,
    #[expect(dead_code, reason = "for readers of the file and the generated manual")]
    about: String,
    paths: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    /// Files one of which must lie beside the matched folder (manifests of build folders).
    #[serde(default)]
    beside: Vec<String>,
    /// Words of a person's intent that name what lies there.
    #[serde(default)]
    subjects: Vec<String>,
    /// Switches that turn an agent's hooks off there: `key=value`, with `*` for any text.
    #[serde(default)]
    off: Vec<String>,
    /// What a program must not make of the hooks, in the same form.
    #[serde(default)]
    dropped: Vec<String>,
    /// Words of keys that are about what an agent runs, asks or trusts.
    #[serde(default)]
    careful: Vec<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    matches: Vec<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    passes: Vec<String>,
}

impl Place {
    fn lower(self) -> Value {
        let mut node = json!({"paths": self.paths, "except": self.except, "beside": self.beside});
        let lists =
            [("subjects", self.subjects), ("off", self.off), ("dropped", self.dropped), ("careful", self.careful)];
        if let Some(node) = node.as_object_mut() {
            lists.into_iter().for_each(|(name, list)| put(node, name, json!(list)));
        }
        node
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Policy {
    name: String,
    about: String,
    info: String,
    low: String,
    medium: String,
    high: String,
    critical: String,
    /// What an ask becomes where no person answers: `ask` or `deny`.
    ask: String,
    /// What is asked about whatever its severity: effects by name.
    #[serde(default)]
    asks: Vec<String>,
    /// Where `asks` is given: the commands that only look, as patterns; all others are asked about.
    #[serde(default)]
    looks: Vec<String>,
    /// What becomes of a call that cannot be recorded: nothing, or `deny`.
    #[serde(default)]
    unrecorded: String,
}

impl Policy {
    fn lower(self) -> Value {
        json!({
            "about": self.about, "info": self.info, "low": self.low, "medium": self.medium, "high": self.high,
            "critical": self.critical, "ask": self.ask, "asks": self.asks, "looks": self.looks, "unrecorded": self.unrecorded,
        })
    }
}

/// Notes an entry for each of the programs that it is for; gives its name.
fn of_programs(all: &mut BTreeMap<String, Vec<Value>>, programs: &[String], lowered: &Value) -> String {
    for program in programs {
        all.entry(program.clone()).or_default().push(lowered.clone());
    }
    programs.join(" ")
}
