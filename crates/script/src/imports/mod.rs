//! Import resolution: a module can import its own files and built-in modules only.

pub(crate) mod built_in;
mod commonjs;
pub(crate) mod error;
pub(crate) mod loader;
pub(crate) mod require;
