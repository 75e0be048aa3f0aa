//! The command line of a program, parsed by its grammar in the library.

pub(crate) mod entry;
pub(crate) mod find;
pub(crate) mod invocation;
pub(crate) mod program;
pub(crate) mod selector;
