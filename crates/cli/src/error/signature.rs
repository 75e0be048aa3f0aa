//! The reasons why a file is not verified.

use reflex_host::Fault;
use std::io;
use std::path::PathBuf;

/// A file does not carry the signature of a release.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignatureError {
    /// The key is malformed.
    #[error("the public key is invalid: {0}")]
    Key(minisign_verify::Error),
    /// The file beside it is missing or malformed.
    #[error("{}: {reason}", beside.display())]
    Unreadable {
        /// The file with the signature.
        beside: PathBuf,
        /// The reason.
        reason: minisign_verify::Error,
    },
    /// The file itself cannot be read.
    #[error("{0}")]
    File(io::Error),
    /// The signature is another key's, or another file's.
    #[error("NOT SIGNED by this key: {0}")]
    NotSigned(minisign_verify::Error),
}

impl SignatureError {
    /// The side at fault.
    pub(crate) fn fault(&self) -> Fault {
        match self {
            SignatureError::Key(_) => Fault::Request,
            SignatureError::Unreadable { .. } | SignatureError::NotSigned(_) => Fault::State,
            SignatureError::File(error) => Fault::of_named_file(error),
        }
    }
}
