//! Finds the grants that may concern a call without reading all of them: `grants-by-call/KEY/ID` is an empty file for
//! each grant and each key of it.
//!
//! The folder only saves work. A grant counts by its own file in `grants/`, and whenever that folder was changed by
//! anything but this module the index is built anew.

use super::grant::Grant;
use super::pending::Pending;
use super::scope::Scope;
use crate::store::redact::{Kept, put};
use crate::store::state::Store;
use crate::system::digest::digest;
use crate::system::os;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// File with the change time of `grants/` for which the index is complete.
const STAMP: &str = "stamp";

/// The index of the grants of one store.
pub(super) struct ByCall<'a> {
    store: &'a Store,
    folder: PathBuf,
    grants: PathBuf,
}

/// Key of the calls with a fingerprint.
fn of_call(exact: &str) -> String {
    short(&format!("call {exact}"))
}

/// Key of the unused approvals of one agent's session.
fn of_holder(holder: &str) -> String {
    short(&format!("holder {holder}"))
}

fn short(text: &str) -> String {
    digest(text).get(..16).unwrap_or("").to_owned()
}

/// The keys under which a grant is looked for.
fn keys(grant: &Grant) -> impl Iterator<Item = String> {
    let waits = grant.allow && grant.scope == Scope::Once && grant.uses == 0;
    std::iter::once(of_call(&grant.exact)).chain(waits.then(|| of_holder(&grant.within)))
}

impl<'a> ByCall<'a> {
    pub(super) fn new(store: &'a Store, folder: PathBuf, grants: PathBuf) -> ByCall<'a> {
        ByCall { store, folder, grants }
    }

    /// The ids of grants that may cover or refuse the call.
    pub(super) fn about(&self, call: &Pending) -> Vec<String> {
        self.ids(&[of_call(&call.exact), of_call(&call.lasting)])
    }

    /// The ids of unused approvals of the call's agent and session.
    pub(super) fn unused_of(&self, call: &Pending) -> Vec<String> {
        self.ids(&[of_holder(&call.holder())])
    }

    fn ids(&self, keys: &[String]) -> Vec<String> {
        if !self.is_complete() {
            // Without an index every grant may concern the call.
            let _ = self.build();
            return self.store.stored_grants().into_iter().map(|(grant, _)| grant.id).collect();
        }
        let names = keys.iter().flat_map(|key| fs::read_dir(self.folder.join(key)).into_iter().flatten().flatten());
        let mut ids: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Adds a grant that is about to be written. [`ByCall::changed`] follows.
    pub(super) fn add(&self, grant: &Grant) -> io::Result<()> {
        keys(grant).try_for_each(|key| put(&self.folder.join(key).join(&grant.id), &Kept::trusted("")))
    }

    /// Removes an approval from the unused ones.
    pub(super) fn used(&self, grant: &Grant) {
        let _ = fs::remove_file(self.folder.join(of_holder(&grant.within)).join(&grant.id));
    }

    /// Runs a change of `grants/` and notes that the index knows it, if it was complete before.
    pub(super) fn changed<T>(&self, change: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let was_complete = self.is_complete();
        let done = change()?;
        if was_complete {
            let _ = self.note();
        }
        Ok(done)
    }

    fn is_complete(&self) -> bool {
        let noted = fs::read_to_string(self.folder.join(STAMP)).ok();
        noted.is_some_and(|noted| self.stamp().is_some_and(|now| noted == now))
    }

    fn note(&self) -> io::Result<()> {
        self.stamp().map_or(Ok(()), |stamp| put(&self.folder.join(STAMP), &Kept::trusted(stamp)))
    }

    fn stamp(&self) -> Option<String> {
        let (seconds, nanoseconds) = os::stat_of(&fs::metadata(&self.grants).ok()?).modified;
        Some(format!("{seconds}.{nanoseconds}"))
    }

    /// Writes the index for all grants.
    fn build(&self) -> io::Result<()> {
        // A grant that comes while this reads makes the noted time outdated.
        let Some(stamp) = self.stamp() else { return Ok(()) };
        let all = self.store.stored_grants();
        remove(&self.folder)?;
        all.iter().try_for_each(|(grant, _)| self.add(grant))?;
        put(&self.folder.join(STAMP), &Kept::trusted(stamp))
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
