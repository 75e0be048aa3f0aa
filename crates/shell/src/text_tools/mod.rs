//! Functions on texts that know nothing of the shell: decoders, patterns, quotes, and what text tools print.

pub(crate) mod awk;
pub(crate) mod decode;
pub(crate) mod filter;
pub mod patch;
pub(crate) mod patterns;
pub(crate) mod quoting;
pub(crate) mod sed;
pub(crate) mod windows_words;
