//! Detects and redacts keys and passwords in texts. The formats are data (`library/secrets`).
//!
//! Detection takes one pass: a sieve of three-byte sequences selects the offsets at which a format may begin, and only
//! those are examined, so a text without secrets costs about ten instructions per byte. Every examination is bounded,
//! so the work is linear in the text.

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
