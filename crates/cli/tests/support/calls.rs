//! The files of calls, and answers written by hand: without a key in force an answer needs no signature.

use super::Machine;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

fn folder(machine: &Machine) -> PathBuf {
    machine.home().join(".local/state/reflex/calls")
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The entries of a folder, which may be missing.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).filter(|path| !name(path).starts_with('.')).collect()
}

/// The files of the waiting calls.
pub(crate) fn waiting_files(machine: &Machine) -> Vec<PathBuf> {
    inside(&folder(machine).join("waiting"))
}

/// The files of the answered calls.
pub(crate) fn answered_files(machine: &Machine) -> Vec<PathBuf> {
    inside(&folder(machine).join("answered")).iter().flat_map(|folder| inside(folder)).collect()
}

/// The id in the name of a call's file.
pub(crate) fn id_of(file: &Path) -> String {
    name(file).split('-').next().unwrap().to_owned()
}

pub(crate) fn is_answered(machine: &Machine, id: &str) -> bool {
    answered_files(machine).iter().any(|file| id_of(file) == id)
}

/// Removes all calls.
pub(crate) fn forget(machine: &Machine) {
    let _ = fs::remove_dir_all(folder(machine));
}

/// Gives a call the answer that `answer` makes of it, as a yes for one call.
pub(crate) fn give(machine: &Machine, id: &str, answer: impl FnOnce(&Value) -> Value) {
    let state = folder(machine);
    // A hook that begins or ends a wait renames the file.
    let lock = OpenOptions::new().create(true).append(true).open(state.join("lock")).unwrap();
    lock.lock().unwrap();
    let all = [waiting_files(machine), answered_files(machine)].concat();
    let file = all.into_iter().find(|file| id_of(file) == id).unwrap();
    let mut content: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    content["answer"] = answer(&content["call"]);
    let name = name(&file);
    let marks: Vec<&str> = name.splitn(7, '-').take(6).collect();
    let answered = state.join("answered").join(marks[2]);
    fs::create_dir_all(&answered).unwrap();
    fs::write(state.join("draft"), content.to_string()).unwrap();
    fs::rename(state.join("draft"), &file).unwrap();
    fs::rename(file, answered.join(format!("{}-yes.json", marks.join("-")))).unwrap();
}
