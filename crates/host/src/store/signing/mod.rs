//! Signs a person's approvals: a passphrase yields an ed25519 key, the hook entries name its public half, and
//! statements that loosen the guard count only with a signature of that key.
//!
//! Calls that need no approval never reach this module. If no hook entry names a key, approvals count without a
//! signature.

mod error;
pub(crate) mod in_force;
mod key;
mod passphrase;
pub(crate) mod signed;
pub(crate) mod statement;

pub use error::SigningError;
pub use in_force::InForce;
pub use key::PublicKey;
pub use passphrase::{MIN_PASSPHRASE, Pin};
pub use signed::Signer;
