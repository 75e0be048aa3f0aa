//! The plain data that every other room of the crate is about: texts with their places, languages and the budget of work.

pub(crate) mod language;
pub(crate) mod value;
pub mod work;
