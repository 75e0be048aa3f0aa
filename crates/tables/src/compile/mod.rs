//! The compiler for the library and for users' files: takes YAML and returns a blob.

mod check;
mod encode;
mod error;
mod secrets;
mod source;

pub use check::{Mismatch, check};
pub use encode::encode;
pub use error::{EncodeError, EntryError, PatternError, PatternFlaw, SourceError};
pub use source::{Entry, Kind, Problem, Sources, list};
