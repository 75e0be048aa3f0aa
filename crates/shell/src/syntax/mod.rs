//! Parser for sh and bash. Parsing never fails: unsupported syntax becomes an `Unknown` node and a gap.

mod lists;
pub(crate) mod mentions;
pub(crate) mod names;
pub(crate) mod outline;
mod parameters;
pub(crate) mod parser;
mod redirects;
pub(crate) mod tree;
mod words;
pub(crate) mod written;
