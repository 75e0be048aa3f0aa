//! Every name of `library/languages` means what its examples say, and an unknown name in its place does not.

use crate::library::entries;
use crate::support::programs;
use reflex_shell::{Language, Reading, Source, Surroundings, read, read_as};
use reflex_tables::compile::{Entry, Kind};

const KINDS: [&str; 7] = ["calls", "constants", "opens", "prefixes", "methods", "attributes", "changes"];

/// Stands for a name in the code of an example, and in what it runs.
const NAME: &str = "{name}";

#[test]
fn every_name_means_what_its_examples_say() {
    let mut problems = Vec::new();
    let mut names = 0;
    for entry in entries().iter().filter(|entry| entry.kind == Kind::Languages) {
        for name in KINDS.iter().flat_map(|kind| texts(entry, kind)) {
            names += 1;
            problems.extend(check(entry, &name));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert!(names > 400, "only {names} names");
}

/// The problems with the examples of an entry for one of its names.
fn check(entry: &Entry, name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut has_name, mut is_needed) = (false, false);
    for example in Example::all(entry) {
        let found = example.found(name);
        if !example.holds(name) {
            problems.push(format!("{}: {name}: {} runs {found:?}", entry.file, example.code));
        }
        has_name |= example.code.contains(NAME);
        is_needed |= !example.holds(&format!("{name}_unknown"));
    }
    if has_name && !is_needed {
        problems.push(format!("{}: {name}: every example also holds for an unknown name", entry.file));
    }
    problems
}

/// An example of an entry: code in a language, or a command that runs some.
struct Example {
    language: Option<Language>,
    code: String,
    runs: Vec<String>,
}

impl Example {
    fn all(entry: &Entry) -> Vec<Example> {
        let examples = entry.value["examples"].as_array().unwrap();
        assert!(!examples.is_empty(), "{}: {} has no examples", entry.file, entry.name);
        let of_entry = entry.value.get("language").and_then(|language| language.as_str());
        let mut all = Vec::new();
        for example in examples {
            let (key, code) = example.as_object().unwrap().iter().find(|(key, _)| *key != "runs").unwrap();
            let language = match key.as_str() {
                "run" => None,
                "code" => of_entry,
                other => Some(other),
            };
            let language = language.map(|name| Language::named(name).unwrap());
            let runs = example["runs"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned());
            all.push(Example { language, code: code.as_str().unwrap().to_owned(), runs: runs.collect() });
        }
        all
    }

    /// The commands that the example runs with this name. A command line also runs others.
    fn found(&self, name: &str) -> Vec<String> {
        let surroundings = Surroundings::new(programs());
        let Some(language) = self.language else {
            return lines(&read(&self.code.replace(NAME, name), &surroundings));
        };
        let separated = if language == Language::Perl { name.replace('.', "::") } else { name.to_owned() };
        let source = Source { path: "/repo/a", load: None };
        lines(&read_as(language, &self.code.replace(NAME, &separated), &Surroundings { source, ..surroundings }))
    }

    fn holds(&self, name: &str) -> bool {
        let found = self.found(name);
        let expected: Vec<String> = self.runs.iter().map(|line| line.replace(NAME, name)).collect();
        match self.language {
            Some(_) => found == expected,
            None => !expected.is_empty() && expected.iter().all(|line| found.contains(line)),
        }
    }
}

fn lines(reading: &Reading) -> Vec<String> {
    let commands = reading.commands.iter().filter(|command| !command.words.is_empty());
    commands.map(|command| command.words.iter().map(|word| word.shown()).collect::<Vec<_>>().join(" ")).collect()
}

fn texts(entry: &Entry, key: &str) -> Vec<String> {
    let items = entry.value.get(key).and_then(|items| items.as_array());
    items.into_iter().flatten().map(|item| item.as_str().unwrap().to_owned()).collect()
}
