//! Signs a person's statements, and verifies the signatures if a hook entry names a key.

use super::error::SigningError;
use super::in_force::InForce;
use super::passphrase::{Pin, folder};
use super::statement::{self, Kind};
use crate::store::state::Store;
use crate::system::files::put_as_it_is;
use crate::system::os;
use ed25519_dalek::SigningKey;
use serde_json::{Map, Value};
use std::io;
use std::path::Path;
use zeroize::Zeroizing;

/// The signer of a person's statements. Only [`Store::signer`] creates one, so that every write that loosens the guard
/// goes through it.
pub struct Signer(Option<SigningKey>);

impl Signer {
    /// Whether it signs; it does not if no hook entry names a key.
    pub fn signs(&self) -> bool {
        self.0.is_some()
    }
}

impl Store {
    /// The key that decides whether approvals count; looked up once.
    pub fn key_in_force(&self) -> &InForce {
        self.keys.get_or_init(|| InForce::find(self.named_key.as_deref(), &self.home, &self.folder))
    }

    /// Creates a signer. `ask` is called for the passphrase if a hook entry names a key.
    ///
    /// # Errors
    /// The passphrase is wrong, the hook entries contradict each other, or the key's file is missing.
    pub fn signer(&self, ask: impl FnOnce() -> Option<String>) -> Result<Signer, SigningError> {
        match self.key_in_force() {
            InForce::Unprotected => Ok(Signer(None)),
            key @ (InForce::Disputed(_) | InForce::Detached) => {
                Err(SigningError::NoKeyInForce(key.problem().unwrap_or_default().to_owned()))
            }
            InForce::Key(key) => {
                let pin = Pin::read(&self.folder)?;
                if pin.public != *key {
                    return Err(SigningError::OtherKey(pin.file()));
                }
                // The memory of this process must not be readable by other processes of the user from here on.
                os::hide_memory();
                let passphrase = Zeroizing::new(ask().ok_or(SigningError::NoPassphrase)?);
                pin.unlock(&passphrase).map(|key| Signer(Some(key)))
            }
        }
    }

    /// Whether a statement attributed to a person counts: it is signed, if a hook entry names a key.
    pub(crate) fn counts(&self, kind: Kind, fields: &Map<String, Value>) -> bool {
        self.may_loosen() && self.is_signed(kind, fields)
    }

    fn is_signed(&self, kind: Kind, fields: &Map<String, Value>) -> bool {
        match self.key_in_force() {
            InForce::Unprotected => true,
            InForce::Key(key) => {
                let holds = statement::holds(&key.0, kind, &self.folder, fields);
                if !holds {
                    let what = kind.description();
                    self.raise_once(
                        "unsigned",
                        &format!(
                            "{what} below {} is not signed with your key, so it does not count; who wrote it?",
                            self.folder.display()
                        ),
                    );
                }
                holds
            }
            key @ (InForce::Disputed(_) | InForce::Detached) => {
                let why = key.problem().unwrap_or_default();
                self.raise_once("keys", &format!("None of your approvals counts: {why}"));
                false
            }
        }
    }

    /// Redacts, signs and writes a person's statement. The signature covers the redacted form.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn put_signed(&self, file: &Path, (signer, kind): (&Signer, Kind), fields: &Value) -> io::Result<()> {
        put_as_it_is(file, &Value::from(self.sign_statement(fields, signer, kind)?).to_string())
    }

    /// Redacts and signs a person's statement.
    ///
    /// # Errors
    /// The number of the statement cannot be written.
    pub(crate) fn sign_statement(&self, fields: &Value, signer: &Signer, kind: Kind) -> io::Result<Map<String, Value>> {
        let mut fields: Map<String, Value> = serde_json::from_str(self.kept(fields).text())?;
        self.sign(signer, kind, &mut fields)?;
        Ok(fields)
    }

    /// Adds the next sequence number and the signature to a person's statement.
    fn sign(&self, signer: &Signer, kind: Kind, fields: &mut Map<String, Value>) -> io::Result<()> {
        if let Some(key) = &signer.0 {
            let sequence = self.next_sequence()?;
            fields.insert("sequence".into(), sequence.into());
            statement::sign(key, kind, &self.folder, fields);
        }
        Ok(())
    }

    /// Removes all statements of a person, because a new key has signed none of them.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn forget_approvals(&self) -> io::Result<()> {
        self.forget_answers()?;
        for name in ["trust", "tasks", "modes"] {
            match std::fs::remove_dir_all(self.folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.end_pause()
    }

    /// Removes the key's files, for a person who starts anew.
    ///
    /// # Errors
    /// They cannot be removed.
    pub fn forget_pin(&self) -> io::Result<()> {
        std::fs::remove_dir_all(folder(&self.folder))
    }

    /// The sequence number of the next statement, by which a reader of the log recognizes a replay.
    fn next_sequence(&self) -> io::Result<u64> {
        let file = folder(&self.folder).join("sequence");
        let next = std::fs::read_to_string(&file)
            .ok()
            .and_then(|text| text.trim().parse::<u64>().ok())
            .unwrap_or(0)
            .saturating_add(1);
        put_as_it_is(&file, &next.to_string()).map(|()| next)
    }
}
