//! The rules: what is dangerous, as the library and people say it, and the one language in which they say it.

pub(crate) mod condition;
pub(crate) mod field;
pub(crate) mod library;
pub(crate) mod rule_event;
pub(crate) mod user;
