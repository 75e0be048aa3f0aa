//! The data that ships with Reflex, compiled from `library/` when Reflex is built.

use reflex_tables::Tables;
use reflex_types::{Compiled, Needs};

/// With a name the linker can keep it away from the small constants, which then lie on few pages.
static TABLES: [u8; include_bytes!(concat!(env!("OUT_DIR"), "/library.tables")).len()] =
    *include_bytes!(concat!(env!("OUT_DIR"), "/library.tables"));

/// The compiled library: `programs`, `triggers`, `rules`, `places`, `policies`.
pub fn tables() -> Tables {
    Tables::new(&TABLES)
}

/// The rules of the recommended tier, in the form in which people write theirs.
pub const RECOMMENDED: &str = include_str!("../data/recommended/recommended.yaml");

/// Labelled cases for the model of auto-pilot, as JSON lines: a universal event with `prompts`, `label` (`allow` or
/// `refuse`) and `injected`.
pub const JUDGE_CASES: &str = include_str!("../data/judge/cases.jsonl");

/// The first 16 digits of the SHA-256 of the compiled library: which rules were in force.
pub const DIGEST: &str = env!("REFLEX_LIBRARY_DIGEST");

/// An official reflex as it ships: its folder in `library/reflexes`.
#[derive(Debug, Clone, Copy)]
pub struct Packaged {
    /// Its name, which is its folder's.
    pub name: &'static str,
    /// What names exactly these files: `sha256:` and its digits.
    pub digest: &'static str,
    /// Its files by name, sorted.
    pub files: &'static [(&'static str, &'static str)],
    /// The code of its modules, by the file's name.
    pub code: &'static [(&'static str, Compiled)],
    /// What they name.
    pub needs: Needs,
}

impl Packaged {
    /// The text of a file.
    pub fn file(&self, name: &str) -> Option<&'static str> {
        self.files.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
    }
}

/// The types of the module that reflexes are written against, for editors.
pub const CORE_TYPES: &str = include_str!("../core.d.ts");

/// The official reflexes, sorted by name.
#[expect(unsafe_code, reason = "their code is made by the build script and is part of the program")]
pub const REFLEXES: &[Packaged] = include!(concat!(env!("OUT_DIR"), "/reflexes.rs"));

/// The official reflex of this name, with or without `official/` before it.
pub fn reflex(name: &str) -> Option<&'static Packaged> {
    let name = name.strip_prefix("official/").unwrap_or(name);
    REFLEXES.iter().find(|reflex| reflex.name == name)
}
