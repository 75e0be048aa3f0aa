//! The YAML sources, and their lowering to the tree that is compiled.

mod cues;
mod inputs;
mod languages;
mod loads;
mod logins;
mod map;
mod meanings;
mod places;
mod policies;
mod programs;
mod rules;
mod settings;
mod tools;
mod words;

use super::check::check;
use super::encode::encode_apart;
use super::error::{EntryError, SourceError};
use super::secrets::{Format, Formats};
use crate::views::Library;
use cues::Cue;
use inputs::InputFiles;
use languages::{Languages, Names};
use loads::Loads;
use logins::Login;
use map::{once, put};
use meanings::Meaning;
use places::Place;
use policies::Policy;
use programs::Program;
use rules::Rule;
use serde::Deserialize;
use serde_json::{Value, json};
use settings::SettingsForm;
use std::collections::BTreeMap;
use tools::Words;
use words::WordList;

/// Keys whose texts are only read when a message is shown.
const FOR_PEOPLE: [&str; 4] = ["about", "message", "remedy", "why"];

/// The content of a file, determined by its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Syntax of programs' arguments: their effects and inner commands.
    Programs,
    /// Dangerous effects.
    Rules,
    /// Classes of paths.
    Places,
    /// Mapping of severities to decisions.
    Policies,
    /// Meanings of words that occur in orders to a model.
    Meanings,
    /// Phrases by which texts try to give a model orders.
    Cues,
    /// Formats of keys and passwords.
    Secrets,
    /// Meanings of the words in a tool's name and of its argument keys.
    Tools,
    /// The way clients read their settings files.
    Settings,
    /// Places at which programs take a password.
    Logins,
    /// Files that programs read commands from by default.
    Inputs,
    /// Files that a run loads from disk.
    Loads,
    /// Word lists for judging a text.
    Words,
    /// Names of languages that compute a value.
    Languages,
}

impl Kind {
    /// All kinds, each with the name of its folder.
    pub const ALL: [(Kind, &'static str); 14] = [
        (Kind::Programs, "programs"),
        (Kind::Rules, "rules"),
        (Kind::Places, "places"),
        (Kind::Policies, "policies"),
        (Kind::Meanings, "injection-lexicon"),
        (Kind::Cues, "injection-patterns"),
        (Kind::Secrets, "secrets"),
        (Kind::Tools, "tools"),
        (Kind::Settings, "settings"),
        (Kind::Logins, "logins"),
        (Kind::Inputs, "inputs"),
        (Kind::Loads, "loads"),
        (Kind::Words, "words"),
        (Kind::Languages, "languages"),
    ];
}

/// A file that was rejected, with the location and the required fix.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {source}")]
pub struct Problem {
    /// The file, such as `rules/git.yaml`.
    pub file: String,
    /// The error, with line and column if known.
    pub source: SourceError,
}

/// One entry with its file; the tests iterate over these.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The kind of the entry.
    pub kind: Kind,
    /// The file that contains it.
    pub file: String,
    /// Id of a rule; name of a program, class or policy.
    pub name: String,
    /// The entry with its examples, as written in the file.
    pub value: Value,
}

/// Collects the entries of files and lowers them to one tree.
#[derive(Default)]
pub struct Sources {
    programs: BTreeMap<String, Value>,
    variables: BTreeMap<String, Value>,
    aliases: Vec<(String, String)>,
    triggers: BTreeMap<String, Vec<Value>>,
    rules: BTreeMap<String, Value>,
    rationales: BTreeMap<String, Value>,
    places: BTreeMap<String, Vec<Value>>,
    policies: BTreeMap<String, Value>,
    meanings: Vec<Meaning>,
    cues: Vec<Cue>,
    formats: Formats,
    tools: tools::Tables,
    settings: Vec<Value>,
    logins: BTreeMap<String, Vec<Value>>,
    inputs: BTreeMap<String, Vec<Value>>,
    loads: BTreeMap<String, Vec<Value>>,
    languages: BTreeMap<String, Vec<Value>>,
    run_files: Vec<(Vec<String>, Value)>,
    words: BTreeMap<String, Value>,
    names: Languages,
    entries: Vec<Entry>,
}

/// Adds every entry of a file and returns the names of the entries.
fn each<T: for<'de> Deserialize<'de>>(
    text: &str,
    add: impl FnMut(T) -> Result<String, SourceError>,
) -> Result<Vec<String>, SourceError> {
    read::<Vec<T>>(text)?.into_iter().map(add).collect()
}

impl Sources {
    /// Adds the entries of one file.
    ///
    /// # Errors
    /// Text that is not YAML of this kind, a duplicate id, or an option spelling that cannot be parsed.
    pub fn add(&mut self, kind: Kind, file: &str, text: &str) -> Result<(), Problem> {
        self.add_entries(kind, file, text).map_err(|source| Problem { file: file.into(), source })
    }

    fn add_entries(&mut self, kind: Kind, file: &str, text: &str) -> Result<(), SourceError> {
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
            Kind::Words => {
                each(text, |list: WordList| once(&mut self.words, list.name.clone(), list.lower()?).map(|()| list.name))
            }
            Kind::Inputs => {
                each(text, |givers: InputFiles| Ok(of_programs(&mut self.inputs, &givers.programs, &givers.lower())))
            }
            Kind::Loads => each(text, |loads: Loads| Ok(self.add_loads(&loads))),
            Kind::Languages => each(text, |names: Names| self.names.add(names)),
        }?;
        for (name, value) in names.into_iter().zip(raw) {
            self.entries.push(Entry { kind, file: file.into(), name, value });
        }
        Ok(())
    }

    /// Adds the loads of a language or of programs and returns the name of the entry.
    fn add_loads(&mut self, loads: &Loads) -> String {
        let lowered = loads.lower();
        if loads.language.is_empty() {
            self.run_files.extend(loads.files());
            return of_programs(&mut self.loads, &loads.programs, &lowered);
        }
        of_programs(&mut self.languages, std::slice::from_ref(&loads.language), &lowered)
    }

    fn add_program(&mut self, mut program: Program) -> Result<(), SourceError> {
        for alias in std::mem::take(&mut program.aliases) {
            let alias = if program.style.is_windows() { alias.to_lowercase() } else { alias };
            self.aliases.push((alias, program.key()));
        }
        let name = program.key();
        for (variable, how) in std::mem::take(&mut program.variables) {
            once(&mut self.variables, variable, json!({"how": how, "program": name}))?;
        }
        let settings = std::mem::take(&mut program.settings);
        let publishes = std::mem::take(&mut program.publishes);
        let separator = program.separator.take();
        let (distinct, common) = (program.distinct, program.common);
        let (points, names) = (std::mem::take(&mut program.points), std::mem::take(&mut program.names));
        let dump = std::mem::take(&mut program.dump);
        let database = program.database.take();
        let mut lowered = program.lower().map_err(|problem| SourceError::in_entry(&name, problem))?;
        if let Value::Object(node) = &mut lowered {
            put(node, "settings", json!(settings));
            put(node, "separator", separator.map_or(Value::Null, Value::from));
            put(node, "common", if common { Value::Bool(true) } else { Value::Null });
            put(node, "publishes", json!(publishes));
            put(node, "points", json!(points));
            put(node, "names", json!(names));
            put(node, "dump", json!(dump));
            put(node, "database", database.map_or(Value::Null, Value::from));
            put(node, "distinct", if distinct { Value::Bool(true) } else { Value::Null });
        }
        once(&mut self.programs, name, lowered)
    }

    fn add_rule(&mut self, rule: Rule, at: &str) -> Result<(), SourceError> {
        let triggers = rule.on.clone();
        // Apart from the rules, so that a call does not read them.
        self.rationales.extend(rule.rationale().map(|rationale| (rule.id.clone(), rationale)));
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

    fn add_cue(&mut self, cue: Cue) -> Result<(), SourceError> {
        let first = cue.words.first().map(String::as_str).unwrap_or_default();
        match () {
            () if self.cues.iter().any(|known| known.name == cue.name) => Err(SourceError::Twice(cue.name)),
            () if cue.ways() != 1 => {
                Err(SourceError::in_entry(&cue.name, EntryError::OneOf("`words`, `text` and `together`")))
            }
            () if first.contains('*') => Err(SourceError::in_entry(&cue.name, EntryError::OpenFirstWord)),
            () => {
                self.cues.push(cue);
                Ok(())
            }
        }
    }

    /// All entries added so far, with their examples.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the blob with all entries.
    ///
    /// # Errors
    /// An alias that is also the name of a program, or data beyond the size limit of a blob.
    pub fn blob(self) -> Result<Vec<u8>, SourceError> {
        Ok(encode_apart(&self.tree()?, &FOR_PEOPLE)?)
    }

    /// Returns the tree to compile.
    ///
    /// # Errors
    /// An alias that is also the name of a program, or a key that its readers do not know.
    pub fn tree(mut self) -> Result<Value, SourceError> {
        for (alias, name) in std::mem::take(&mut self.aliases) {
            let program = self.programs.get(&name).cloned().unwrap_or_default();
            once(&mut self.programs, alias, program)?;
        }
        let all = |map: BTreeMap<String, Value>| Value::Object(map.into_iter().collect());
        let known = meanings::names(&self.meanings)?;
        let tree = json!({
            "programs": all(self.programs),
            "variables": all(self.variables),
            "triggers": self.triggers,
            "rules": all(self.rules),
            "rationales": all(self.rationales),
            "places": self.places,
            "policies": all(self.policies),
            "injection-patterns": cues::lower(&self.cues, &known)?,
            "injection-lexicon": meanings::lower(&self.meanings, &known),
            "secrets": self.formats.lower(),
            "tools": self.tools.lower(),
            "settings": self.settings,
            "logins": self.logins,
            "inputs": self.inputs,
            "loads": {"programs": self.loads, "languages": self.languages, "files": loads::index(self.run_files)},
            "languages": self.names.lower(),
            "members": self.names.lower_members(),
            "words": self.words,
        });
        check::<Library<'_>>(&tree)?;
        Ok(tree)
    }
}

/// Line, from 1, at which the entry with this id begins.
fn line_of(text: &str, id: &str) -> usize {
    let begins =
        |line: &str| line.trim_start_matches(['-', ' ']).strip_prefix("id:").is_some_and(|rest| rest.trim() == id);
    text.lines().position(begins).map_or(1, |index| index + 1)
}

/// Parses the items of a YAML list.
///
/// # Errors
/// Text that is not a YAML list.
pub fn list(text: &str) -> Result<Vec<Value>, SourceError> {
    read(text)
}

fn read<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, SourceError> {
    serde_saphyr::from_str(text).map_err(|error| SourceError::Yaml(Box::new(error)))
}

/// Registers an entry under each of its programs and returns the name of the entry.
fn of_programs(all: &mut BTreeMap<String, Vec<Value>>, programs: &[String], lowered: &Value) -> String {
    for program in programs {
        all.entry(program.clone()).or_default().push(lowered.clone());
    }
    programs.join(" ")
}
