//! The compiler of the library and of people's files: YAML in, a blob out.

mod encode;
mod secrets;
mod source;

pub use encode::encode;
pub use source::{Entry, Kind, Problem, Sources, list};
