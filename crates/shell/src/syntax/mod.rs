//! The grammar of sh and bash as a tree. Parsing never fails: what is not understood is an `Unknown` node and a gap.

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
