//! Detects instructions to a model in texts that should not contain any: tool output, a page, a file, a pasted prompt.
//!
//! Detection does not match a list of bad strings: cues of several families (library/injection-patterns) add up, over
//! words that are folded so that lookalikes, invisible characters and spaced-out words do not evade them. In addition
//! to the cues, content that a person would not see counts: hidden elements, invisible characters, terminal escape
//! sequences. A text *about* such instructions quotes them, so quoted text and text in the middle of a sentence weighs
//! less there.

mod appended;
mod dictionary;
pub(crate) mod findings;
mod glued;
mod hidden;
mod links;
mod meanings;
mod pieces;
pub(crate) mod scan;
mod signs;
mod words;

pub use scan::{meanings, scan};
pub use signs::{Injection, REPORTED_FROM, Sign, Span};
