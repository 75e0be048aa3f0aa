//! The data that ships with Reflex, compiled from `library/` when Reflex is built.

use reflex_tables::Node;

/// The compiled library: `programs`, `triggers`, `rules`, `places`, `policies`.
pub fn tables() -> Node<'static> {
    reflex_tables::root(include_bytes!(concat!(env!("OUT_DIR"), "/library.tables")))
}

/// The rules of the recommended tier, in the form in which people write theirs.
pub const RECOMMENDED: &str = include_str!("../../../library/recommended/recommended.yaml");

/// The first 16 digits of the SHA-256 of the compiled library: which rules were in force.
pub const DIGEST: &str = env!("REFLEX_LIBRARY_DIGEST");
