//! A person's yes is signed: a passphrase gives an ed25519 key, the hook entries name its public half, and what loosens
//! counts only with a signature of that key.
//!
//! A call that nothing loosens never comes here. Without a key in any entry a yes counts as it stands.

pub(crate) mod in_force;
mod key;
mod passphrase;
pub(crate) mod signed;
pub(crate) mod statement;

pub use in_force::{InForce, choose_key};
pub use key::PublicKey;
pub use passphrase::{MIN_PASSPHRASE, Pin};
pub use signed::Signer;
