//! A person's yes at the terminal, signed with their passphrase where one is set.

use super::confirm::confirmed;
use super::hidden::hidden;
use super::output::complain;
use super::person::person;
use super::visible::visible;
use reflex_host::signing::{InForce, Signer};
use reflex_host::store::Store;

/// Nobody mistypes more often.
const MAX_TRIES: usize = 3;

/// Who is asked, and whether they have unlocked their key for more than one yes.
pub(crate) struct Consent<'s> {
    store: &'s Store,
    held: Option<Signer>,
}

impl<'s> Consent<'s> {
    /// Each yes is asked for by itself.
    pub(crate) fn each(store: &'s Store) -> Consent<'s> {
        Consent { store, held: None }
    }

    /// The key stays unlocked in this process, until it ends.
    ///
    /// # Errors
    /// Why nothing can be signed.
    pub(crate) fn held(store: &'s Store) -> Result<Option<Consent<'s>>, String> {
        let signer = unlocked(store, "Passphrase for your answers: ")?;
        Ok(signer.map(|signer| Consent { store, held: Some(signer) }))
    }

    /// Who signs, where the key is unlocked.
    pub(crate) fn signer(&self) -> Option<&Signer> {
        self.held.as_ref()
    }

    /// The signature for what the person has said yes to just now: only a passphrase is still asked for.
    ///
    /// # Errors
    /// Why nothing can be signed.
    pub(crate) fn sign(store: &Store, question: &str) -> Result<Option<Signer>, String> {
        unlocked(store, &format!("{question} Passphrase (empty: no): "))
    }

    /// The person's yes to a question such as `Let it run?`; `None` is a no. With a passphrase, entering it is the yes.
    ///
    /// # Errors
    /// Why nothing can be signed.
    pub(crate) fn ask(&mut self, question: &str) -> Result<Option<&Signer>, String> {
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
            complain(&visible(&problem));
            false
        }
    }
}

/// Whoever signs, once the passphrase is right; `None` if the person would rather not.
fn unlocked(store: &Store, prompt: &str) -> Result<Option<Signer>, String> {
    if *store.key_in_force() == InForce::Unprotected {
        return store.signer(|| None).map(Some);
    }
    for _ in 0..MAX_TRIES {
        let Some(passphrase) = hidden(prompt).filter(|line| !line.is_empty()) else { return Ok(None) };
        match store.signer(|| Some(passphrase)) {
            Ok(signer) => return Ok(Some(signer)),
            Err(problem) if problem.contains("not the passphrase") => complain(&problem),
            Err(problem) => return Err(problem),
        }
    }
    Err("that was not the passphrase; forgotten? The manual (docs/record.md) says how to start anew".into())
}
