//! Terminal layer of the commands: output, and a person's answers.

pub(crate) mod age;
pub(crate) mod arguments;
pub(crate) mod confirm;
pub(crate) mod consent;
pub(crate) mod hidden;
pub(crate) mod output;
pub(crate) mod paint;
pub(crate) mod person;
pub(crate) mod progress;
mod report;
pub(crate) mod screen;
pub(crate) mod table;
pub(crate) mod unquoted;
pub(crate) mod visible;
pub(crate) mod wrap;
