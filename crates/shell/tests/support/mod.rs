//! The reader with the library's grammars.
#![allow(dead_code, reason = "each test file uses its part of this")]

use crate::library;
use reflex_shell::{Programs, Reading, Surroundings, read};

/// The grammars and names of the library, compiled once.
pub(crate) fn programs() -> Programs {
    Programs::new(library::tables())
}

/// What the text would run, where nothing is known of the machine.
pub(crate) fn reading(text: &str) -> Reading {
    read(text, &Surroundings::new(programs()))
}
