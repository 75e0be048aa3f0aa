//! Authentication of browsers and tabs.
//!
//! A browser proves that it belongs to this person with a one-time code or the passphrase; it gets a cookie and read
//! access. A tab in which the passphrase was entered gets a key, which it keeps in memory and sends with each answer.
//! Codes, cookies and keys are random, exist only in this process, and are only compared by a lookup of the complete
//! value.

use reflex_host::signing::{Signer, SigningError};
use reflex_host::store::Store;
use reflex_host::token;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Length of a code in characters, from an alphabet of 31.
const CODE_LENGTH: usize = 10;

/// Length of cookies and keys in characters.
const TOKEN_LENGTH: usize = 32;

/// Idle time after which a tab has to enter the passphrase again.
const TAB_HOLDS: Duration = Duration::from_secs(60 * 60);

/// Maximum number of browsers and of tabs; the oldest is dropped.
const MAX_KEPT: usize = 64;

/// Maximum pause after a wrong code or passphrase; the pause doubles with each one.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Controls which browsers may read and which tabs may answer.
pub(crate) struct Access {
    inner: Mutex<Inner>,
}

struct Inner {
    /// The one-time code, until it is used.
    code: Option<String>,
    /// Cookies, oldest first.
    browsers: Vec<String>,
    /// Tabs that may answer, by key, each with the cookie of its browser and the time of its last answer.
    tabs: BTreeMap<String, Tab>,
    wrong: u32,
    not_before: Option<Instant>,
}

struct Tab {
    browser: String,
    signer: Arc<Signer>,
    last: Instant,
}

/// The reason for refusing a browser or tab.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// Too many wrong attempts; the value is the remaining pause in seconds.
    #[error("too many wrong tries: wait {0} s")]
    TooSoon(u64),
    /// The code is wrong, or was used before.
    #[error("this code is wrong, or was used before")]
    Code,
    /// A passphrase was sent, and none is set.
    #[error("no passphrase is set: run `reflex pin` in a terminal")]
    NoPassphraseSet,
    /// The passphrase is wrong, or no answer can be signed.
    #[error(transparent)]
    Signing(#[from] SigningError),
}

impl Access {
    pub(crate) fn new() -> Access {
        let inner = Inner {
            code: Some(token(CODE_LENGTH)),
            browsers: Vec::new(),
            tabs: BTreeMap::new(),
            wrong: 0,
            not_before: None,
        };
        Access { inner: Mutex::new(inner) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The code for the first browser, until it is used.
    pub(crate) fn code(&self) -> Option<String> {
        self.inner().code.clone()
    }

    /// Returns a cookie for a browser that presents the code, and invalidates the code.
    pub(crate) fn by_code(&self, code: &str) -> Result<String, Refused> {
        let mut inner = self.inner();
        inner.may_try()?;
        if inner.code.as_deref() != Some(code) {
            inner.count_wrong();
            return Err(Refused::Code);
        }
        inner.code = None;
        Ok(inner.let_in())
    }

    /// Returns a cookie for a browser in which the passphrase was entered.
    pub(crate) fn by_passphrase(&self, store: &Store, passphrase: String) -> Result<String, Refused> {
        self.unlock(store, passphrase)?;
        Ok(self.inner().let_in())
    }

    /// Whether the cookie was issued to a browser.
    pub(crate) fn knows(&self, cookie: &str) -> bool {
        self.inner().browsers.iter().any(|known| known == cookie)
    }

    /// Returns a key for a tab in which the passphrase was entered.
    pub(crate) fn open_tab(&self, store: &Store, browser: &str, passphrase: String) -> Result<String, Refused> {
        let signer = self.unlock(store, passphrase)?;
        let mut inner = self.inner();
        while inner.tabs.len() >= MAX_KEPT {
            let Some(oldest) = inner.tabs.iter().min_by_key(|(_, tab)| tab.last).map(|(key, _)| key.clone()) else {
                break;
            };
            inner.tabs.remove(&oldest);
        }
        let key = token(TOKEN_LENGTH);
        let tab = Tab { browser: browser.into(), signer: Arc::new(signer), last: Instant::now() };
        inner.tabs.insert(key.clone(), tab);
        Ok(key)
    }

    /// Returns the signer for the tab with this key in this browser.
    pub(crate) fn signer(&self, browser: &str, key: &str) -> Option<Arc<Signer>> {
        let mut inner = self.inner();
        inner.tabs.retain(|_, tab| tab.last.elapsed() < TAB_HOLDS);
        let tab = inner.tabs.get_mut(key).filter(|tab| tab.browser == browser)?;
        tab.last = Instant::now();
        Some(Arc::clone(&tab.signer))
    }

    /// Revokes the key of a tab.
    pub(crate) fn close_tab(&self, key: &str) {
        self.inner().tabs.remove(key);
    }

    /// Returns the signer if the passphrase is right. Attempts are serialized: the cost of an attempt limits their
    /// rate.
    pub(crate) fn unlock(&self, store: &Store, passphrase: String) -> Result<Signer, Refused> {
        let mut inner = self.inner();
        inner.may_try()?;
        match store.signer(|| Some(passphrase)) {
            Ok(signer) if signer.signs() => {
                inner.wrong = 0;
                Ok(signer)
            }
            Ok(_) => Err(Refused::NoPassphraseSet),
            Err(error) => {
                if matches!(error, SigningError::WrongPassphrase) {
                    inner.count_wrong();
                }
                Err(error.into())
            }
        }
    }
}

impl Inner {
    fn may_try(&self) -> Result<(), Refused> {
        let left = self.not_before.map_or(Duration::ZERO, |then| then.saturating_duration_since(Instant::now()));
        if left.is_zero() { Ok(()) } else { Err(Refused::TooSoon(left.as_secs() + 1)) }
    }

    /// Counts a wrong attempt.
    fn count_wrong(&mut self) {
        self.wrong = self.wrong.saturating_add(1);
        // The first two wrong attempts cause no pause.
        if let Some(power) = self.wrong.checked_sub(3) {
            let pause = Duration::from_secs(1_u64 << power.min(5)).min(MAX_PAUSE);
            self.not_before = Some(Instant::now() + pause);
        }
    }

    fn let_in(&mut self) -> String {
        let cookie = token(TOKEN_LENGTH);
        self.browsers.push(cookie.clone());
        let over = self.browsers.len().saturating_sub(MAX_KEPT);
        self.browsers.drain(..over);
        cookie
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;

    #[test]
    fn a_code_lets_one_browser_in_once() {
        let access = Access::new();
        let code = access.code().unwrap();
        let cookie = access.by_code(&code).unwrap();
        assert!(access.knows(&cookie) && !access.knows("") && !access.knows(&code));
        assert!(matches!(access.by_code(&code), Err(Refused::Code)));
        assert_eq!(access.code(), None);
    }

    #[test]
    fn whoever_guesses_waits_longer_each_time_and_then_even_the_code_waits() {
        let access = Access::new();
        let code = access.code().unwrap();
        for _ in 0..3 {
            assert!(matches!(access.by_code("x"), Err(Refused::Code)));
        }
        assert!(matches!(access.by_code(&code), Err(Refused::TooSoon(1..=2))));
    }
}
