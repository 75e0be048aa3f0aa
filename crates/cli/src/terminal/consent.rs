//! A person's yes at the terminal, signed with their passphrase if one is set.

use super::confirm::confirmed;
use super::hidden::hidden;
use super::output::complain;
use super::person::person;
use crate::error::Error;
use reflex_host::signing::{InForce, Signer, SigningError};
use reflex_host::store::Store;

/// Maximum number of attempts at the passphrase.
const MAX_TRIES: usize = 3;

/// A request for a person's yes, with the signing key if it is unlocked for more than one yes.
pub(crate) struct Consent<'s> {
    store: &'s Store,
    held: Option<Signer>,
}

impl<'s> Consent<'s> {
    /// Prompts for each yes separately.
    pub(crate) fn each(store: &'s Store) -> Consent<'s> {
        Consent { store, held: None }
    }

    /// Keeps the key unlocked in this process until it ends.
    ///
    /// # Errors
    /// The reason why signing is not possible.
    pub(crate) fn held(store: &'s Store) -> Result<Option<Consent<'s>>, Error> {
        let signer = unlocked(store, "Passphrase for your answers: ")?;
        Ok(signer.map(|signer| Consent { store, held: Some(signer) }))
    }

    /// Returns the signer, if the key is unlocked.
    pub(crate) fn signer(&self) -> Option<&Signer> {
        self.held.as_ref()
    }

    /// Returns the signer for a yes that the person has just given: only a passphrase is still requested.
    ///
    /// # Errors
    /// The reason why signing is not possible.
    pub(crate) fn sign(store: &Store, question: &str) -> Result<Option<Signer>, Error> {
        unlocked(store, &format!("{question} Passphrase (empty: no): "))
    }

    /// Asks a question such as `Let it run?`; `None` is a no. With a passphrase, entering it is the yes.
    ///
    /// # Errors
    /// The reason why signing is not possible.
    pub(crate) fn ask(&mut self, question: &str) -> Result<Option<&Signer>, Error> {
        if self.held.is_some() || *self.store.key_in_force() == InForce::Unprotected {
            if !confirmed(&format!("{question} [y/N] ")) {
                return Ok(None);
            }
            if self.held.is_none() {
                self.held = Some(self.store.signer(|| None)?);
            }
            return Ok(self.held.as_ref());
        }
        self.held = unlocked(self.store, &format!("{question} Passphrase (empty: no): "))?;
        Ok(self.held.as_ref())
    }
}

/// Asks for the passphrase before the guard is removed or weakened or records are deleted. Returns `true` at once if no
/// passphrase is set. Failed attempts are recorded.
pub(crate) fn may_weaken(store: &Store, what: &str) -> bool {
    if !matches!(store.key_in_force(), InForce::Key(_)) {
        return true;
    }
    if person(store, what, "").is_none() {
        return false;
    }
    match unlocked(store, &format!("Passphrase for `reflex {what}` (empty: no): ")) {
        Ok(signer) => signer.is_some(),
        Err(problem) => {
            problem.report();
            false
        }
    }
}

/// Returns the signer once the passphrase is correct, or `None` if the person declines.
fn unlocked(store: &Store, prompt: &str) -> Result<Option<Signer>, Error> {
    if *store.key_in_force() == InForce::Unprotected {
        return Ok(Some(store.signer(|| None)?));
    }
    for _ in 0..MAX_TRIES {
        let Some(passphrase) = hidden(prompt).filter(|line| !line.is_empty()) else { return Ok(None) };
        match store.signer(|| Some(passphrase)) {
            Ok(signer) => return Ok(Some(signer)),
            Err(problem @ SigningError::WrongPassphrase) => complain(&problem.to_string()),
            Err(problem) => return Err(problem.into()),
        }
    }
    Err(Error::WrongPassphrase)
}
