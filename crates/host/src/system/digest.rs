//! Digests of texts.

use super::hex;
use sha2::{Digest, Sha256};

/// The SHA-256 of these parts, with the length of each, so that their boundaries count.
pub(crate) fn of_parts<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    hex::encode(&digest.finalize())
}

/// The first 16 digits of the SHA-256.
pub(crate) fn digest(text: &str) -> String {
    hex::encode(&Sha256::digest(text.as_bytes())).get(..16).unwrap_or("").to_owned()
}
