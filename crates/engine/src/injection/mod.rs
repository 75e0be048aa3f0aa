//! Orders to a model in texts that should hold none: what a tool printed, a page, a file, a prompt somebody pasted.
//!
//! No list of bad strings: cues of several families (library/injection-patterns) add up, over words that are folded so that lookalikes,
//! invisible letters and blanks between letters make no difference. Beside the cues, what a person would not see counts:
//! hidden elements, invisible letters, orders to the terminal. A text that talks *about* such orders quotes them; what
//! stands in quotes or in the middle of a sentence weighs less there.

mod appended;
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
pub use signs::{Injection, Sign, Span, TOLD_FROM};
