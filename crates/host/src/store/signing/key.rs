//! The public half of a person's key.

use crate::system::hex;
use ed25519_dalek::VerifyingKey;
use std::fmt;

/// The public half of a person's key; its text is 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(pub(super) VerifyingKey);

impl PublicKey {
    /// Parses a key of 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<PublicKey> {
        let bytes: [u8; 32] = hex::decode(text)?.try_into().ok()?;
        let key = VerifyingKey::from_bytes(&bytes).ok()?;
        // Signatures under a weak key can be forged without the private half.
        (!key.is_weak()).then_some(PublicKey(key))
    }

    /// The first 16 digits, for comparison by a person.
    pub fn short(&self) -> String {
        self.to_string().chars().take(16).collect()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&hex::encode(self.0.as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}
