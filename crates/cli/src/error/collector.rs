//! The reasons why records are not sent.

use reflex_host::Fault;
use std::io;

/// Records cannot be sent to this collector.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CollectorError {
    /// The URL has another scheme.
    #[error("only http:// to a collector on this machine is supported, e.g. http://127.0.0.1:4318")]
    Scheme,
    /// The URL has a login or unusual characters.
    #[error("not a collector URL")]
    Url,
    /// The name of the host has no address.
    #[error("`{host}`: {source}")]
    Host {
        /// The host.
        host: String,
        /// The reason.
        source: io::Error,
    },
    /// The host has an address elsewhere.
    #[error("`{0}` is not this machine, and nothing would be encrypted: send to a collector here, which passes it on")]
    Elsewhere(String),
}

impl CollectorError {
    /// The side at fault.
    pub(crate) fn fault(&self) -> Fault {
        match self {
            CollectorError::Scheme | CollectorError::Url | CollectorError::Elsewhere(_) => Fault::Request,
            CollectorError::Host { .. } => Fault::Machine,
        }
    }
}
