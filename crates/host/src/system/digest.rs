//! Short digests that name a text.

use super::hex;
use sha2::{Digest, Sha256};

/// The first 16 digits of the SHA-256.
pub(crate) fn digest(text: &str) -> String {
    hex::encode(&Sha256::digest(text.as_bytes())).get(..16).unwrap_or("").to_owned()
}
