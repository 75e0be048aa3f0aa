//! The official reflexes: each does what its examples say and what its manifest declares, through the real runtime.

use reflex_host::catalog::{Origin, Package, difference, examples, official, play, problems};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn packages() -> Vec<Package> {
    official().into_iter().map(|listed| Origin::Official(listed.name).here().unwrap()).collect()
}

#[track_caller]
fn none(problems: &[String]) {
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_official_reflex_does_what_its_examples_say() {
    let mut wrong = Vec::new();
    for package in packages() {
        // What is played is what ships: compiled, in the interpreter of our own modules.
        assert!(package.module().unwrap().is_ours, "{}: the digest is another", package.name);
        let all = examples(&package).unwrap();
        for example in &all {
            let problem = play(&package, example)
                .map_or_else(|error| Some(error.to_string()), |played| difference(example, &played));
            wrong.extend(problem.map(|problem| format!("{}: {}: {problem}", package.name, example.call)));
        }
        let sides: BTreeSet<&str> = all.iter().map(|example| example.says.as_str()).collect();
        let only_passes = package.capability("decisions").unwrap() == ["pass"];
        if all.len() < 4 || !sides.contains("pass") || (sides.len() < 2 && !only_passes) {
            wrong.push(format!("{}: too few examples", package.name));
        }
    }
    none(&wrong);
}

#[test]
fn every_official_reflex_loads_and_shows_each_decision_that_it_declares() {
    let mut wrong = Vec::new();
    for package in packages() {
        wrong.extend(problems(&package, None));
        let all = examples(&package).unwrap();
        let mut declared = package.capability("decisions").unwrap();
        declared.retain(|decision| all.iter().all(|example| example.says != *decision));
        wrong.extend(declared.iter().map(|decision| format!("{}: no example of `{decision}`", package.name)));
    }
    none(&wrong);
}

#[test]
fn every_official_reflex_is_a_folder_of_its_name_and_grants_itself_nothing_unsaid() {
    let mut wrong = Vec::new();
    for package in packages() {
        let folder = root().join("library/reflexes").join(&package.name);
        let files = fs::read_dir(&folder).unwrap().count();
        if files != package.files.len() {
            wrong.push(format!("{}: {files} files in its folder, {} in the binary", package.name, package.files.len()));
        }
        let touches = ["files", "writes", "network", "environment"].iter().any(|key| package.capability(key).is_some());
        if touches != ["abide", "recover"].contains(&package.name.as_str()) {
            wrong.push(format!("{}: it touches the machine", package.name));
        }
    }
    none(&wrong);
}

#[test]
fn the_manual_lists_every_official_reflex_with_what_it_answers() {
    let manual = fs::read_to_string(root().join("docs/catalog.md")).unwrap();
    let row = |package: &Package| {
        let answers = package.capability("decisions").unwrap().join(", ");
        format!("| [{0}](../library/reflexes/{0}/README.md) | {answers} |", package.name)
    };
    let missing: Vec<String> = packages().iter().map(row).filter(|row| !manual.contains(row.as_str())).collect();
    none(&missing);
}

#[test]
fn every_option_is_in_the_readme() {
    let mut missing = Vec::new();
    for package in packages() {
        let options = package.manifest.as_ref().unwrap().get("options").and_then(|options| options.as_object());
        let readme = package.file("README.md").unwrap();
        let unsaid = options.into_iter().flatten().filter(|(name, _)| !readme.contains(&format!("`{name}`")));
        missing
            .extend(unsaid.map(|(name, _)| format!("{}: `{name}`", package.name)).filter(|at| at != "abide: `rules`"));
    }
    none(&missing);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
