//! The reader with the library's grammars.
#![allow(dead_code, reason = "each test file uses its part of this")]

use reflex_shell::{Programs, Reading, Surroundings, read};
use reflex_tables::Tables;
use reflex_tables::compile::{Kind, Sources, encode};
use std::path::Path;
use std::sync::OnceLock;

/// The grammars of `library/programs`, compiled once.
pub(crate) fn programs() -> Programs {
    static TABLES: OnceLock<Vec<u8>> = OnceLock::new();
    let bytes = TABLES.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/programs");
        let mut sources = Sources::default();
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            sources.add(Kind::Programs, &path.display().to_string(), &std::fs::read_to_string(&path).unwrap()).unwrap();
        }
        encode(&sources.tree().unwrap()).unwrap()
    });
    Programs::new(Tables::new(bytes))
}

/// What the text would run, where nothing is known of the machine.
pub(crate) fn reading(text: &str) -> Reading {
    read(text, &Surroundings::new(programs()))
}
