//! The plain data that every other room of the crate is about: texts with their places, and languages.

pub(crate) mod language;
pub(crate) mod value;
