//! State shared by all routes.

use crate::access::Access;
use crate::page::Page;
use reflex_host::store::Store;
use reflex_host::store::presence::Presence;
use reflex_host::{Host, Mode};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, watch};

/// Maximum number of requests that wait for an answer at once.
const MAX_WAITERS: usize = 32;

/// State shared by all routes.
pub(crate) struct Server {
    pub(crate) page: Page,
    pub(crate) port: u16,
    pub(crate) access: Access,
    /// The list as last sent.
    pub(crate) news: watch::Sender<Arc<String>>,
    /// Held while a tab is open.
    pub(crate) present: Present,
    /// Limits the requests that wait for an answer.
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

    pub(crate) fn host(&self) -> Host {
        self.page.context.host(Mode::default())
    }

    /// Opens the store anew, so that a passphrase set while the server runs takes effect.
    pub(crate) fn store(&self) -> Store {
        self.page.context.store()
    }
}

/// Marks that a person is present to answer, from the moment a tab is sent its first list.
#[derive(Default)]
pub(crate) struct Present(Mutex<Option<Presence>>);

impl Present {
    /// Marks presence, unless it is already marked by an earlier tab.
    pub(crate) fn begin(&self, store: &Store) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = store.be_present();
        }
    }

    /// Ends presence. The caller has checked that no tab is open.
    pub(crate) fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
