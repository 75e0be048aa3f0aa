//! Reflexes as packages: their sources, the lists and lock files, and checks of their behavior.

pub(crate) mod context;
mod error;
mod examples;
mod listing;
mod origin;
mod pack;
mod package;
mod problems;
mod project;
mod unpack;

pub(crate) use context::as_pattern;
pub use error::{ArchiveError, ListError, OriginError, PackageError};
pub use examples::{Example, ExampleError, FieldError, PlayError, Played, difference, examples, play};
pub use listing::{Listed, official};
pub use origin::Origin;
pub use pack::{PACK, Pack, PackError, pack};
pub use package::{MANIFEST, Package, is_name};
pub(crate) use package::{MAX_BYTES, main_of};
pub use problems::problems;
pub use project::{Entry, Home, Locked, name_of};
pub use reflex_script::official::CORE_TYPES as TYPES;
