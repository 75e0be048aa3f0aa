//! The machine as facts that the engine may ask for.

mod aliases;
mod archive;
pub(crate) mod gzip;
mod local;

pub use local::LocalWorld;
pub(crate) use local::canonical;
