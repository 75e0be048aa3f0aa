//! The person at the terminal, and the record of their actions.

use super::output::complain;
use reflex_host::answers::record;
use reflex_host::person::{Person, at_terminal};
use reflex_host::store::Store;
use serde_json::json;

/// Returns the person at the terminal; an attempt by any other caller is recorded.
pub(crate) fn person(store: &Store, what: &str, id: &str) -> Option<Person> {
    match at_terminal() {
        Ok(person) => Some(person),
        Err(why) => {
            complain(&format!("only a person at a terminal can do this: {why}"));
            let _ = record(store, "attempt", json!({"what": what, "pending": id, "why": why.to_string()}));
            None
        }
    }
}
