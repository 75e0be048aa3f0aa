//! The reflexes in force for a call: found in people's folders, loaded as modules, run as one detector.

mod dependencies;
mod detector;
mod error;
mod kept;
mod load;
mod machine;

pub(crate) use detector::Detector;
pub use error::{BrokenList, ListedError, LoadError};
pub use load::{ReflexFolder, Reflexes, Untrusted, offers, reflex_folders};
