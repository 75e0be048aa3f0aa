//! Git's own files (settings, index, references), read within counted limits.

pub(crate) mod config;
pub(crate) mod effort;
mod excerpt;
pub(crate) mod index;
pub(crate) mod read;
pub(crate) mod reference_files;
pub(crate) mod scope;
