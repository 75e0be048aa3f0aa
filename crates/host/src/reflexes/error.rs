//! The reasons why a list of reflexes, or a listed reflex, is not in force.

use crate::catalog::{PackError, PackageError};
use serde_json::Value;
use std::io;
use std::path::PathBuf;

/// A list of reflexes cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BrokenList {
    /// The file cannot be read.
    #[error("{}: {source}", file.display())]
    Io {
        /// Its path.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The path is not a file, or the file is too long.
    #[error("{}: it is not a file of at most {max_kib} KiB", file.display())]
    NotSmallFile {
        /// Its path.
        file: PathBuf,
        /// Maximum size in KiB.
        max_kib: u64,
    },
    /// The text of the file is not that of a list.
    #[error("{}: {source}", file.display())]
    Text {
        /// Its path.
        file: PathBuf,
        /// The reason.
        source: ListedError,
    },
    /// A pack of the list cannot be read.
    #[error(transparent)]
    Pack(#[from] PackError),
}

/// The text of a list is not valid.
#[derive(Debug, thiserror::Error)]
pub enum ListedError {
    /// It is not a JSON object.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// `reflexes` has another form.
    #[error("`reflexes` is not a list")]
    NotList,
    /// There are more than this number of entries.
    #[error("there are more than {0} reflexes")]
    TooMany(usize),
    /// This entry has no source.
    #[error("an entry names no source: {0}")]
    NoSource(Value),
    /// An entry has an unknown word for a failure.
    #[error("`on_error` must be ask, deny or skip")]
    OnError,
}

/// A listed reflex cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Its files are not a reflex, or cannot be read.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// Its manifest does not fit the schema, or its options do not fit the manifest; the first mistake.
    #[error("its manifest or options: {0}")]
    Misfit(String),
    /// It has no file that could be its module.
    #[error("it has no module")]
    NoModule,
    /// The source has another form.
    #[error("`{0}` is not a package name")]
    Name(String),
    /// No folder holds it.
    #[error("the reflex `{0}` does not exist")]
    Missing(String),
    /// A built-in reflex lacks its manifest.
    #[error("it has no manifest")]
    NoManifest,
    /// The manifest of a built-in reflex is not a JSON object.
    #[error(transparent)]
    Manifest(#[from] serde_json::Error),
}
