//! Answers the engine's questions about this machine.

mod aliases;
mod archive;
pub(crate) mod command_files;
mod entries;
pub(crate) mod gzip;
mod local;
mod survey;

pub use local::LocalWorld;
pub(crate) use local::TEMPORARY;
pub(crate) use local::canonical;
