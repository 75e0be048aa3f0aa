//! Limits for the number of waiting calls: an agent with many refusals cannot displace the calls of another one.

use super::files::{Entry, Marks};
use super::pending::Pending;
use crate::store::state::Store;
use crate::system::clock;

/// Maximum number of waiting calls of one session.
pub(super) const MAX_OF_SESSION: usize = 40;

/// Number of a session's oldest calls that keep their places until they are answered or settled, because a person may
/// have read them. In the remaining places, newer calls replace each other.
const MAX_STAYING: usize = 30;

/// Maximum number of waiting calls of all sessions of one agent, whatever their ids.
pub(super) const MAX_OF_CLIENT: usize = 200;

/// Maximum number of waiting calls of all agents.
pub(super) const MAX_WAITING: usize = 400;

/// Time in milliseconds during which a call is not displaced by those of other sessions.
const SETTLED: u64 = 3_600_000;

/// The waiting calls, and the marks of a call that wants a place among them.
pub(super) struct Waiting<'a> {
    store: &'a Store,
    listed: Vec<Entry>,
    marks: Marks,
}

impl Waiting<'_> {
    pub(super) fn new<'a>(store: &'a Store, call: &Pending) -> Waiting<'a> {
        Waiting { store, listed: store.waiting_entries(), marks: Marks::new(call) }
    }

    /// The same call, if it is waiting.
    pub(super) fn same(&self) -> Option<Entry> {
        self.listed.iter().find(|one| self.is_of_session(one) && one.exact() == self.marks.exact).cloned()
    }

    /// Removes calls from the list until there is a place for this one; returns whether it got one.
    pub(super) fn make_room(mut self) -> bool {
        loop {
            let displaced = if self.listed.iter().filter(|one| self.is_of_session(one)).count() >= MAX_OF_SESSION {
                self.replaceable()
            } else if self.listed.iter().filter(|one| self.is_of_client(one)).count() >= MAX_OF_CLIENT {
                self.oldest(|one| self.is_of_client(one) && is_free(one)).or_else(|| self.replaceable())
            } else if self.listed.len() >= MAX_WAITING {
                self.oldest(is_free).or_else(|| self.replaceable())
            } else {
                return true;
            };
            let Some(displaced) = displaced else { return false };
            self.listed.retain(|one| *one != displaced);
            let _ = self.store.remove_call(Some(displaced));
        }
    }

    fn is_of_client(&self, one: &Entry) -> bool {
        one.client() == self.marks.client
    }

    fn is_of_session(&self, one: &Entry) -> bool {
        self.is_of_client(one) && one.session() == self.marks.session
    }

    fn oldest(&self, fits: impl Fn(&Entry) -> bool) -> Option<Entry> {
        self.listed.iter().filter(|one| fits(one)).min_by_key(|one| one.since()).cloned()
    }

    /// The call that the session gives up for a new one: a free one, else the oldest of those without a fixed place.
    fn replaceable(&self) -> Option<Entry> {
        let free = self.oldest(|one| self.is_of_session(one) && is_free(one));
        free.or_else(|| {
            let mut all: Vec<&Entry> = self.listed.iter().filter(|one| self.is_of_session(one)).collect();
            all.sort_by_key(|one| one.since());
            all.get(MAX_STAYING).map(|one| (*one).clone())
        })
    }
}

/// Whether a call has waited long enough to give up its place to those of other sessions.
fn is_free(one: &Entry) -> bool {
    clock::now().saturating_sub(one.since()) > SETTLED
}
