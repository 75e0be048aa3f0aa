//! Where the imports of a module lead: to its own files and to what is built in, nowhere else.

pub(crate) mod built_in;
mod commonjs;
pub(crate) mod loader;
pub(crate) mod require;
