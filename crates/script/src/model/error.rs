//! The reasons why a request to the machine fails.

use std::error::Error;
use std::io;

/// A request of a module to the machine failed. The module sees the text.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The path is not granted.
    #[error("{0}: this was not granted")]
    NotGranted(String),
    /// The host is not granted.
    #[error("{0}: this host was not granted")]
    HostNotGranted(String),
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Its path as given by the module.
        path: String,
        /// The reason.
        source: io::Error,
    },
    /// The path is not a file, or the file is too large.
    #[error("{path}: it is not a file of at most {} MiB", max_bytes >> 20)]
    NoFileToRead {
        /// The path as given by the module.
        path: String,
        /// The maximum size.
        max_bytes: u64,
    },
    /// The machine has no files.
    #[error("files are not available")]
    NoFiles,
    /// The text is not a URL that can be requested.
    #[error("`{0}` is not an http or https URL")]
    NotUrl(String),
    /// The text is not an HTTP method.
    #[error("`{0}` is not an HTTP method")]
    NotMethod(String),
    /// The host does not respond.
    #[error("{host}: {source}")]
    Host {
        /// Its name.
        host: String,
        /// The reason.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The machine has no network; the reason.
    #[error("{0}")]
    NoNetwork(&'static str),
}
