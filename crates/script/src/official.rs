//! The reflexes that ship with Reflex, compiled from `library/reflexes` when it is built.

use reflex_types::{Compiled, Needs};

/// An official reflex, from its folder in `library/reflexes`.
#[derive(Debug, Clone, Copy)]
pub struct Packaged {
    /// Name of the reflex and of its folder.
    pub name: &'static str,
    /// Digest of its files: `sha256:` and the hexadecimal digits.
    pub digest: &'static str,
    /// Its files by name, sorted.
    pub files: &'static [(&'static str, &'static str)],
    /// Compiled code of its modules, by file name.
    pub code: &'static [(&'static str, Compiled)],
    /// The interpreter features whose names occur in the source of its modules.
    pub needs: Needs,
}

impl Packaged {
    /// Returns the text of a file.
    pub fn file(&self, name: &str) -> Option<&'static str> {
        self.files.iter().find(|(path, _)| *path == name).map(|(_, text)| *text)
    }
}

/// TypeScript declarations of the module that reflexes import, for editors.
pub const CORE_TYPES: &str = include_str!("../core.d.ts");

/// The official reflexes, sorted by name.
#[expect(unsafe_code, reason = "their code is made by the build script and is part of the program")]
pub const REFLEXES: &[Packaged] = include!(concat!(env!("OUT_DIR"), "/official.rs"));

/// Returns the official reflex of this name, with or without the prefix `official/`.
pub fn reflex(name: &str) -> Option<&'static Packaged> {
    let name = name.strip_prefix("official/").unwrap_or(name);
    REFLEXES.iter().find(|reflex| reflex.name == name)
}
