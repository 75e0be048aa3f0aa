//! What a key or a password looks like in a text, and the text without it. The formats are data (`library/secrets`).
//!
//! One pass: a sieve of three-byte sequences says where a format may begin; only there it is looked at, so a text
//! without secrets costs about ten instructions a byte. Every look is bounded: the work is linear in the text.

mod assignments;
mod blocks;
pub(crate) mod disguises;
mod forms;
mod logins;
pub(crate) mod passwords;
mod plausible;
pub(crate) mod redaction;
pub(crate) mod scan;
mod shapes;
pub(crate) mod veils;
