//! The calls that wait for a person.

use reflex_host::now;
use reflex_host::store::Store;
use reflex_host::store::approvals::{Grant, Pending};

/// The calls that were refused or asked about and have no person's yes.
pub(super) fn waiting(store: &Store) -> Vec<Pending> {
    let grants = store.grants();
    let mut all = store.pending();
    let answered = |grant: &Grant| grant.vouched && (grant.uses > 0 || now() < grant.expires);
    all.retain(|call| !grants.iter().any(|grant| grant.id == call.id && answered(grant)));
    all
}
