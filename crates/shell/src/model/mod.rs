//! The plain data types that all other modules of the crate use: texts with their places, and languages.

pub(crate) mod language;
pub(crate) mod value;
