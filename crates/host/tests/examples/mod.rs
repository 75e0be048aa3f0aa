//! The entries of the library and their examples, judged in a world that holds what an example says.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "no test file uses all of it, and a test that cannot go on shall stop"
)]

pub(crate) mod synthetic;

use reflex_agents::universal;
use reflex_engine::Judgement;
use reflex_tables::compile::{Entry, Kind, Sources};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

pub(crate) fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library")
}

pub(crate) fn entries(wanted: Kind) -> Vec<Entry> {
    let mut sources = Sources::default();
    for (kind, folder) in Kind::ALL.into_iter().filter(|(kind, _)| *kind == wanted) {
        for file in yaml_files(&library().join(folder)) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            sources.add(kind, &name, &std::fs::read_to_string(&file).unwrap()).unwrap();
        }
    }
    sources.entries().to_vec()
}

pub(crate) fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    files
}

/// An example as a universal event: a text is a command, `run` names one, the rest stands as it is.
pub(crate) fn event(example: &Value) -> Map<String, Value> {
    let mut event = match &synthetic::filled(example) {
        Value::String(command) => json!({"event": "pre-command", "command": command}).as_object().unwrap().clone(),
        Value::Object(fields) => fields.clone(),
        other => panic!("an example is a text or a map, not {other}"),
    };
    if let Some(command) = event.remove("run") {
        event.insert("event".into(), "pre-command".into());
        event.insert("command".into(), command);
    }
    for (field, value) in [("cwd", "/repo"), ("workspace", "/repo"), ("home", "/home/me")] {
        event.entry(field).or_insert_with(|| value.into());
    }
    event
}

pub(crate) fn judged(example: &Value) -> Judgement {
    let object = event(example);
    let event = universal::read(&object).unwrap_or_else(|problem| panic!("{example}: {problem}"));
    let world = universal::supposed(&object, &event).unwrap();
    crate::guard_of_nobody().judge_in(&event, &world, &[])
}

pub(crate) fn ids(example: &Value) -> Vec<String> {
    judged(example).verdict.findings.into_iter().map(|finding| finding.id).collect()
}

#[track_caller]
pub(crate) fn report(problems: Vec<String>) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
