//! Checks a reflex before it is published.

use super::examples::{difference, examples, play};
use super::package::Package;
use super::problems::problems;
use reflex_script::official;
use serde_json::Value;
use std::collections::BTreeSet;

/// Minimum number of examples.
const MIN_EXAMPLES: usize = 2;

/// Lists everything that is missing or wrong.
pub fn lacks(package: &Package) -> Vec<String> {
    let Some(manifest) = &package.manifest else {
        return vec!["it has no reflex.json".into()];
    };
    let mut lacks = problems(package, None);
    if manifest.get("official") == Some(&Value::Bool(true)) && official::reflex(&package.name).is_none() {
        lacks.push("it calls itself official, and only what ships is".into());
    }
    for key in ["version", "license", "author"] {
        if package.text(key).trim().is_empty() {
            lacks.push(format!("`{key}` is missing"));
        }
    }
    if package.file("README.md").is_none_or(|text| text.trim().len() < package.name.len() + 20) {
        lacks.push("README.md does not describe it".into());
    }
    lacks.extend(names(package));
    lacks.extend(handlers(package));
    lacks.extend(of_examples(package));
    lacks
}

/// Checks that the module uses the name of its manifest.
fn names(package: &Package) -> Option<String> {
    let code = package.entry().and_then(|entry| package.file(entry))?;
    let forms = ['"', '\'', '`'].map(|quote| format!("{quote}{}{quote}", package.name));
    let named = forms.iter().any(|form| code.contains(form));
    (!named).then(|| format!("the module does not call itself `{}`", package.name))
}

/// Checks that the module has a handler for each event of the manifest, and no others.
fn handlers(package: &Package) -> Vec<String> {
    let listed = package.manifest.as_ref().and_then(|manifest| manifest.get("events")).and_then(Value::as_array);
    let events: Vec<&str> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
    let code: Vec<&str> = package.code().map(|(_, text)| text).collect();
    let has = |name: &str| code.iter().any(|text| text.contains(name));
    let absent = events.iter().filter(|event| !has(event));
    let mut lacks: Vec<String> =
        absent.map(|event| format!("it declares `{event}` and has no such function")).collect();
    let more = reflex_script::schema::EVENTS.iter().filter(|event| !events.contains(event) && has(event));
    lacks.extend(more.map(|event| format!("it has `{event}` and does not declare it: it is never called")));
    lacks
}

/// Checks that the examples pass, one of them lets a call pass, and each declared decision has an example.
fn of_examples(package: &Package) -> Vec<String> {
    let all = match examples(package) {
        Ok(all) => all,
        Err(problem) => return vec![problem],
    };
    let mut lacks = Vec::new();
    let mut outcomes = BTreeSet::new();
    for example in &all {
        match play(package, example) {
            Ok(played) => {
                outcomes.insert(played.says);
                let differs = difference(example, &played);
                lacks.extend(differs.map(|problem| format!("example {}: {problem}", example.call)));
            }
            Err(problem) => lacks.push(format!("example {}: {problem}", example.call)),
        }
    }
    if all.len() < MIN_EXAMPLES {
        lacks.push(format!("it has {} examples; at least {MIN_EXAMPLES} are wanted", all.len()));
    }
    let declared = package.capability("decisions").unwrap_or_default();
    let unshown = declared.iter().filter(|word| !outcomes.contains(word.as_str()));
    lacks.extend(unshown.map(|word| format!("it declares the decision `{word}`, and no example shows it")));
    let stops = declared.iter().any(|word| word != "pass");
    if stops && !all.is_empty() && !outcomes.contains("pass") {
        lacks.push("no example shows a call that passes".into());
    }
    lacks
}
