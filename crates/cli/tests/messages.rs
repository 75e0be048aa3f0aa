//! The messages of all typed errors, as a list that a person reads: `messages.txt` shows each beside its neighbours, so
//! that a new one is written in the same voice. `UPDATE=1` writes the list.

use crate::house::{crates, rust_files};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Attribute before a variant with a message of its own.
const ATTRIBUTE: &str = "#[error(";

#[test]
fn every_message_is_in_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut list = String::new();
    for file in crates().iter().flat_map(|folder| rust_files(&folder.join("src"))) {
        let text = fs::read_to_string(&file).unwrap();
        let messages = messages(&text);
        if !messages.is_empty() {
            writeln!(list, "{}", file.canonicalize().unwrap().strip_prefix(root).unwrap().display()).unwrap();
            messages.iter().for_each(|message| writeln!(list, "    {message}").unwrap());
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages.txt");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &list).unwrap();
    }
    assert!(list.lines().count() > 300, "too few messages are found: {list}");
    let known = fs::read_to_string(path).unwrap();
    let is_in = |text: &str, line: &&str| text.lines().any(|other| other == *line);
    let new: Vec<&str> = list.lines().filter(|line| !is_in(&known, line)).collect();
    let gone: Vec<&str> = known.lines().filter(|line| !is_in(&list, line)).collect();
    assert!(list == known, "read the new messages, then run this with UPDATE=1: new {new:#?}, gone {gone:#?}");
}

/// The messages of a source, with their arguments, each on one line.
fn messages(text: &str) -> Vec<String> {
    let attributes = text.split(ATTRIBUTE).skip(1).filter_map(|rest| rest.split_once(")]\n"));
    let words = attributes.map(|(message, _)| message.split_whitespace().collect::<Vec<_>>().join(" "));
    words.filter(|message| message != "transparent" && message != "\"{0}\"").collect()
}
