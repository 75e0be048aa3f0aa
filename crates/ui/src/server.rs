//! What all addresses share.

use crate::access::Access;
use crate::page::Page;
use reflex_host::store::Store;
use reflex_host::store::presence::Presence;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, watch};

/// So many wait for an answer at once.
const MAX_WAITERS: usize = 32;

/// What all addresses share.
pub(crate) struct Server {
    pub(crate) page: Page,
    pub(crate) port: u16,
    pub(crate) access: Access,
    /// The list as it was sent last.
    pub(crate) news: watch::Sender<Arc<String>>,
    /// Held while a tab is open.
    pub(crate) present: Present,
    /// Who waits for an answer.
    pub(crate) waiters: Semaphore,
}

impl Server {
    pub(crate) fn new(page: Page, port: u16) -> Server {
        let (news, _) = watch::channel(Arc::new(String::new()));
        Server {
            page,
            port,
            access: Access::new(),
            news,
            present: Present::default(),
            waiters: Semaphore::new(MAX_WAITERS),
        }
    }
}

/// Somebody is there to answer, from the moment at which a tab is told the first list.
#[derive(Default)]
pub(crate) struct Present(Mutex<Option<Presence>>);

impl Present {
    /// Another page or list may be there already; then that is the one.
    pub(crate) fn begin(&self, store: &Store) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = store.be_present();
        }
    }

    /// No tab is open any more.
    pub(crate) fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
