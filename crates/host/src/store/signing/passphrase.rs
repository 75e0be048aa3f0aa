//! Derives a signing key from a passphrase.

use super::error::SigningError;
use super::key::PublicKey;
use crate::system::files::put_as_it_is;
use crate::system::{clock, hex, random};
use argon2::{Algorithm, Argon2, Params, Version};
use ed25519_dalek::SigningKey;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Minimum length of a passphrase, in characters.
pub const MIN_PASSPHRASE: usize = 8;

/// RFC 9106, section 4, second recommended option: 64 MiB, three passes, four lanes.
const MEMORY_KIB: u32 = 64 * 1024;
const PASSES: u32 = 3;
const LANES: u32 = 4;

/// Upper limits for stored parameters. This program never writes larger ones; they could only serve to exhaust the
/// machine.
const MAX_MEMORY_KIB: u32 = 1024 * 1024;
const MAX_PASSES: u32 = 64;

/// The folder of the key's files, below the state folder.
pub(super) fn folder(state: &Path) -> PathBuf {
    state.join("pin")
}

/// The stored part of a key: the derivation parameters and the public half. It cannot sign.
#[derive(Debug, Clone)]
pub struct Pin {
    state: PathBuf,
    salt: Vec<u8>,
    cost: (u32, u32, u32),
    /// The public half.
    pub public: PublicKey,
}

impl Pin {
    /// Derives a new key from this passphrase, without writing anything.
    ///
    /// # Errors
    /// The passphrase is too short.
    pub fn new(state: &Path, passphrase: &str) -> Result<Pin, SigningError> {
        if passphrase.chars().count() < MIN_PASSPHRASE {
            return Err(SigningError::TooShort(MIN_PASSPHRASE));
        }
        let mut salt = vec![0; 16];
        random::fill(&mut salt);
        let cost = (MEMORY_KIB, PASSES, LANES);
        let public = PublicKey(derived(passphrase, &salt, cost)?.verifying_key());
        Ok(Pin { state: state.to_owned(), salt, cost, public })
    }

    /// Reads the key's file below a state folder.
    ///
    /// # Errors
    /// The file is missing or invalid.
    pub fn read(state: &Path) -> Result<Pin, SigningError> {
        let file = folder(state).join("key.json");
        let text = fs::read_to_string(&file).map_err(|source| SigningError::File { file: file.clone(), source })?;
        let damaged = || SigningError::Damaged(file.clone());
        let map: Map<String, Value> = serde_json::from_str(&text).map_err(|_| damaged())?;
        let number = |key: &str| map.get(key)?.as_u64().and_then(|number| u32::try_from(number).ok());
        let word = |key: &str| map.get(key).and_then(Value::as_str);
        let read = || {
            let cost = (number("memory_kib")?, number("passes")?, number("lanes")?);
            let bounded = cost.0 <= MAX_MEMORY_KIB && cost.1 <= MAX_PASSES && cost.2 <= 64;
            let (salt, public) = (hex::decode(word("salt")?)?, PublicKey::parse(word("public")?)?);
            bounded.then_some(Pin { state: state.to_owned(), salt, cost, public })
        };
        read().ok_or_else(damaged)
    }

    /// Whether a state folder has a key's file.
    pub fn is_kept(state: &Path) -> bool {
        folder(state).join("key.json").symlink_metadata().is_ok()
    }

    /// The path of the key's file.
    pub fn file(&self) -> PathBuf {
        folder(&self.state).join("key.json")
    }

    /// Writes the key's file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self) -> Result<(), SigningError> {
        let text = json!({
            "schema": "reflex/pin-v1", "salt": hex::encode(&self.salt), "memory_kib": self.cost.0,
            "passes": self.cost.1, "lanes": self.cost.2, "public": self.public.to_string(), "time": clock::now(),
        });
        put_as_it_is(&self.file(), &text.to_string()).map_err(|source| SigningError::File { file: self.file(), source })
    }

    /// Checks the passphrase.
    ///
    /// # Errors
    /// The passphrase is wrong.
    pub fn check(&self, passphrase: &str) -> Result<(), SigningError> {
        self.unlock(passphrase).map(drop)
    }

    /// Derives the signing key, which is zeroized when it is dropped.
    ///
    /// # Errors
    /// The passphrase is wrong.
    pub(super) fn unlock(&self, passphrase: &str) -> Result<SigningKey, SigningError> {
        let key = derived(passphrase, &self.salt, self.cost)?;
        if key.verifying_key() == self.public.0 { Ok(key) } else { Err(SigningError::WrongPassphrase) }
    }
}

/// Derives the signing key with Argon2id. No file contains it, and another passphrase yields another key, so that an
/// old passphrase is worthless once the hook entries name the new key.
fn derived(
    passphrase: &str,
    salt: &[u8],
    (memory, passes, lanes): (u32, u32, u32),
) -> Result<SigningKey, SigningError> {
    let params = Params::new(memory, passes, lanes, Some(32)).map_err(SigningError::Underivable)?;
    let mut seed = Zeroizing::new([0_u8; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.as_bytes(), salt, seed.as_mut())
        .map_err(SigningError::Underivable)?;
    Ok(SigningKey::from_bytes(&seed))
}
