//! The command line of a program, read by the grammar that the library has for it.

pub(crate) mod entry;
pub(crate) mod find;
pub(crate) mod invocation;
pub(crate) mod program;
pub(crate) mod selector;
