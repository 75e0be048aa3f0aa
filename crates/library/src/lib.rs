//! The data that ships with Reflex, compiled from `library/` when Reflex is built.

use reflex_tables::Tables;

/// A separate static, so that the linker can place it away from the small constants, which then share few pages.
static TABLES: [u8; include_bytes!(concat!(env!("OUT_DIR"), "/library.tables")).len()] =
    *include_bytes!(concat!(env!("OUT_DIR"), "/library.tables"));

/// The compiled library: `programs`, `triggers`, `rules`, `places`, `policies`.
pub fn tables() -> Tables {
    Tables::new(&TABLES)
}

/// The rules of the recommended tier, in the format of user rules.
pub const RECOMMENDED: &str = include_str!("../data/recommended/recommended.yaml");

/// Labelled cases for the model of auto-pilot, as JSON lines: a universal event with `prompts`, `label` (`allow` or
/// `refuse`) and `injected`.
pub const JUDGE_CASES: &str = include_str!("../data/judge/cases.jsonl");

/// The first 16 digits of the SHA-256 of the compiled library; records which rules were in force.
pub const DIGEST: &str = env!("REFLEX_LIBRARY_DIGEST");
