//! What holds of any script: it is read whole, twice alike, and what is printed of it is read as the same.

use crate::grammar::{Chance, Dialect, script};
use crate::library;
use crate::print::{canonical, outermost};
use reflex_shell::{Programs, Reading, Surroundings, UnknownReason, read};

const SCRIPTS: u64 = 3_000;

fn reading(text: &str) -> Reading {
    let programs = Programs::new(library::tables());
    read(text, &Surroundings::new(programs))
}

fn scripts() -> impl Iterator<Item = String> {
    let dialect = |seed: u64| if seed.is_multiple_of(4) { Dialect::Posix } else { Dialect::Bash };
    (0..SCRIPTS).map(move |seed| script(dialect(seed), Chance::seeded(seed << 9 | 1)).join("\n"))
}

#[test]
fn nothing_in_a_valid_script_is_called_unparsed() {
    for text in scripts() {
        let unparsed = reading(&text).gaps.into_iter().find(|gap| {
            matches!(gap.why, UnknownReason::Unparsed | UnknownReason::Unfinished) && gap.origin.derivation.is_none()
        });
        assert!(unparsed.is_none(), "{unparsed:?} in:\n{text}");
    }
}

#[test]
fn the_same_script_is_read_alike() {
    for text in scripts() {
        assert_eq!(format!("{:?}", reading(&text)), format!("{:?}", reading(&text)), "{text}");
    }
}

#[test]
fn what_is_printed_is_read_as_the_same() {
    let mut printed = 0;
    for text in scripts() {
        for once in reading(&text).commands.iter().filter_map(canonical) {
            let again = reading(&once);
            let again = outermost(&again).unwrap_or_else(|| panic!("{once} is no command, printed from:\n{text}"));
            assert_eq!(canonical(again).as_deref(), Some(once.as_str()), "printed from:\n{text}");
            printed += 1;
        }
    }
    assert!(printed > 10_000, "only {printed} commands were printed");
}
