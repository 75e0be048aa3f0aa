//! Functions on texts without knowledge of the shell: decoders, patterns, quoting, and the output of text tools.

pub(crate) mod awk;
pub(crate) mod decode;
pub(crate) mod filter;
pub mod patch;
pub(crate) mod patterns;
pub(crate) mod quoting;
pub(crate) mod sed;
pub(crate) mod windows_words;
