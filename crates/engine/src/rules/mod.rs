//! Rules of the library and of users, and the condition language that both use.

pub(crate) mod condition;
pub(crate) mod field;
pub(crate) mod library;
pub(crate) mod rule_event;
pub(crate) mod user;
