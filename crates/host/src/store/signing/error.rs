//! The reasons why a person's statements cannot be signed.

use crate::system::fault::Fault;
use std::io;
use std::path::PathBuf;

/// A person's statement cannot be signed, or the passphrase cannot be set.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// The new passphrase has fewer characters than this.
    #[error("a passphrase has at least {0} characters")]
    TooShort(usize),
    /// The passphrase yields another key.
    #[error("this is not the passphrase")]
    WrongPassphrase,
    /// No passphrase was entered.
    #[error("no passphrase was entered")]
    NoPassphrase,
    /// The reason why no approval counts, without its full stop.
    #[error("no approval counts: {0}")]
    NoKeyInForce(String),
    /// The file of the key, and not the key that the hook entries name.
    #[error("{} belongs to another key than the hook entries name", .0.display())]
    OtherKey(PathBuf),
    /// A file of a key that someone else than root could have written.
    #[error("{} does not belong to root alone", .0.display())]
    OthersMayWrite(PathBuf),
    /// The file of the key cannot be read or written.
    #[error("{}: {source}", file.display())]
    File {
        /// Its path.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file of the key is not what Reflex writes.
    #[error("{}: it is damaged", .0.display())]
    Damaged(PathBuf),
    /// Argon2 refuses its parameters, or has no memory.
    #[error("the key cannot be derived: {0}")]
    Underivable(argon2::Error),
}

impl SigningError {
    /// The side at fault.
    pub fn fault(&self) -> Fault {
        match self {
            SigningError::TooShort(_)
            | SigningError::WrongPassphrase
            | SigningError::NoPassphrase
            | SigningError::NoKeyInForce(_)
            | SigningError::OtherKey(_) => Fault::State,
            SigningError::OthersMayWrite(_)
            | SigningError::File { .. }
            | SigningError::Damaged(_)
            | SigningError::Underivable(_) => Fault::Machine,
        }
    }
}
