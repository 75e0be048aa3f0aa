//! Names of languages that compute a value: an entry of `library/languages`.

use super::map::once;
use crate::compile::error::{EntryError, SourceError};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Names of one kind that have the same meaning.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    /// The language; absent for members of values.
    #[serde(default)]
    language: String,
    #[expect(dead_code, reason = "for readers of the file")]
    about: String,
    #[serde(default)]
    calls: Vec<String>,
    #[serde(default)]
    constants: Vec<String>,
    #[serde(default)]
    opens: Vec<String>,
    #[serde(default)]
    prefixes: Vec<String>,
    #[serde(default)]
    methods: Vec<String>,
    #[serde(default)]
    attributes: Vec<String>,
    #[serde(default)]
    changes: Vec<String>,
    /// The result of a call, or the value that a name denotes.
    means: Option<String>,
    /// The text of a fixed value.
    text: Option<String>,
    /// The number of names before the first argument of a script.
    skip: Option<u32>,
    /// The index of the argument that holds the mode in which a file is opened.
    mode: Option<u32>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    examples: Vec<Value>,
}

/// The tables of one language.
#[derive(Default)]
struct Tables {
    prefixes: Vec<String>,
    calls: BTreeMap<String, Value>,
    constants: BTreeMap<String, Value>,
    opens: BTreeMap<String, Value>,
}

impl Tables {
    fn lower(&self) -> Value {
        let mut prefixes = self.prefixes.clone();
        prefixes.sort_by_key(|prefix| Reverse(prefix.len()));
        json!({"prefixes": prefixes, "calls": self.calls, "constants": self.constants, "opens": self.opens})
    }
}

/// The tables of all languages.
#[derive(Default)]
pub(super) struct Languages {
    tables: BTreeMap<String, Tables>,
    methods: BTreeMap<String, Value>,
    attributes: BTreeMap<String, Value>,
    changes: BTreeMap<String, Value>,
}

impl Names {
    /// The kinds of names, each with those of the entry.
    fn kinds(&self) -> [&[String]; 7] {
        [&self.calls, &self.constants, &self.opens, &self.prefixes, &self.methods, &self.attributes, &self.changes]
            .map(Vec::as_slice)
    }

    /// The language, and the first of the names.
    fn title(&self) -> String {
        let first = self.kinds().into_iter().flatten().next().map_or("", String::as_str);
        format!("{} {first}", self.language).trim().to_owned()
    }

    /// Checks that the entry has names of one kind, and their meaning.
    fn check(&self) -> Result<(), EntryError> {
        let given = self.kinds().into_iter().filter(|names| !names.is_empty()).count();
        let is_member = self.language.is_empty();
        let of_values = [&self.methods, &self.attributes, &self.changes].into_iter().any(|names| !names.is_empty());
        let needs_meaning = self.opens.is_empty() && self.prefixes.is_empty();
        match () {
            () if given != 1 => Err(EntryError::OneOf("the lists of names")),
            () if is_member != of_values => Err(EntryError::OneOf("`language` and the members of values")),
            () if needs_meaning != self.means.is_some() => Err(EntryError::NoMeaning),
            () if self.opens.is_empty() == self.mode.is_some() => Err(EntryError::NoMode),
            () => Ok(()),
        }
    }

    /// The meaning of a call or a constant.
    fn meaning(&self) -> Value {
        let mut meaning = Map::new();
        meaning.extend(self.means.clone().map(|means| ("means".to_owned(), means.into())));
        meaning.extend(self.text.clone().map(|text| ("text".to_owned(), text.into())));
        meaning.extend(self.skip.map(|skip| ("skip".to_owned(), skip.into())));
        Value::Object(meaning)
    }
}

impl Languages {
    /// Adds the names of an entry and returns a name for it.
    ///
    /// # Errors
    /// An entry without names or meaning, or with names of several kinds; a name that already has a meaning.
    pub(super) fn add(&mut self, names: Names) -> Result<String, SourceError> {
        let title = names.title();
        names.check().map_err(|problem| SourceError::in_entry(&title, problem))?;
        let meaning = names.meaning();
        let member = json!(names.means);
        let mode = json!(names.mode);
        put_all(&mut self.methods, names.methods, &member)?;
        put_all(&mut self.attributes, names.attributes, &member)?;
        put_all(&mut self.changes, names.changes, &member)?;
        if !names.language.is_empty() {
            let tables = self.tables.entry(names.language).or_default();
            tables.prefixes.extend(names.prefixes);
            put_all(&mut tables.calls, names.calls, &meaning)?;
            put_all(&mut tables.constants, names.constants, &meaning)?;
            put_all(&mut tables.opens, names.opens, &mode)?;
        }
        Ok(title)
    }

    /// Returns the tree of the languages.
    pub(super) fn lower(&self) -> Value {
        self.tables.iter().map(|(language, tables)| (language.clone(), tables.lower())).collect()
    }

    /// Returns the tree of the members of values.
    pub(super) fn lower_members(&self) -> Value {
        json!({"methods": self.methods, "attributes": self.attributes, "changes": self.changes})
    }
}

fn put_all(map: &mut BTreeMap<String, Value>, names: Vec<String>, value: &Value) -> Result<(), SourceError> {
    names.into_iter().try_for_each(|name| once(map, name, value.clone()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use crate::compile::{Kind, Sources};

    #[track_caller]
    fn check(entry: &str, expected: &str) {
        let mut sources = Sources::default();
        let text = format!("- {{about: x, examples: [], {entry}}}");
        let found = sources.add(Kind::Languages, "a.yaml", &text).map_err(|problem| problem.to_string());
        assert_eq!(found.err().unwrap_or_default(), expected);
    }

    #[test]
    fn an_entry_has_names_of_one_kind_with_their_meaning() {
        check("language: lua, calls: [a, b], means: same", "");
        check("language: lua, opens: [a], mode: 1", "");
        check("methods: [a], means: same", "");
        check("language: lua, calls: [a]", "a.yaml: lua a: `means` is for calls, constants and members alone");
        check("language: lua, calls: [a], constants: [b], means: same", "a.yaml: lua a: one of the lists of names");
        check("language: lua, means: same", "a.yaml: lua: one of the lists of names");
        check("calls: [a], means: same", "a.yaml: a: one of `language` and the members of values");
        check("language: lua, opens: [a]", "a.yaml: lua a: `mode` is for functions that open a file");
        check("language: lua, calls: [a, a], means: same", "a.yaml: `a` is defined twice");
    }
}
