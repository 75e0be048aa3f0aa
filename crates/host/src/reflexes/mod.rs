//! The reflexes in force for a call: found in people's folders, loaded as modules, run as one detector.

mod dependencies;
mod detector;
mod kept;
mod load;
mod machine;

pub(crate) use detector::Detector;
pub use load::{Lodged, Reflexes, Untrusted, lodged, offers};
