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

    /// Runs a change of `grants/` and notes that the index knows it, if it was complete before and no other process
    /// builds it anew meanwhile.
    pub(super) fn changed<T>(&self, change: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let before = self.noted().filter(|_| self.is_complete());
        let done = change()?;
        if before.is_some() && before == self.noted() {
            let _ = self.stamp().map(|stamp| put(&self.folder.join(STAMP), &Kept::trusted(stamp)));
        }
        Ok(done)
    }

    fn is_complete(&self) -> bool {
        self.noted().is_some_and(|noted| self.stamp().is_some_and(|now| noted == now))
    }

    fn noted(&self) -> Option<String> {
        fs::read_to_string(self.folder.join(STAMP)).ok()
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::super::{Grant, Pending};
    use crate::store::Store;
    use crate::system::clock;
    use crate::system::folders::Folders;
    use std::fs::{self, File};
    use std::time::UNIX_EPOCH;

    fn call(exact: &str) -> Pending {
        Pending { client: "claude".into(), session: "s1".into(), exact: exact.into(), ..Pending::default() }
    }

    fn approval(id: &str, exact: &str) -> Grant {
        let within = call(exact).holder();
        Grant {
            id: id.into(),
            allow: true,
            exact: exact.into(),
            within,
            expires: clock::now() + 60_000,
            ..Grant::default()
        }
    }

    #[test]
    fn an_index_that_does_not_know_every_grant_is_built_anew() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(&Folders::below(folder.path().to_owned()));
        let signer = store.signer(|| None).unwrap();
        let about = |exact: &str| store.grants_by_call().about(&call(exact));
        store.grant(&approval("one2345", "a"), &signer).unwrap();
        // The first question about a grant builds the index, and the second uses it.
        assert_eq!(
            [about("b"), about("b"), about("a")],
            [vec!["one2345".into()], Vec::<String>::new(), vec!["one2345".into()]]
        );
        store.grant(&approval("two2345", "b"), &signer).unwrap();
        assert_eq!(about("b"), ["two2345"]);
        assert!(store.grants_by_call().is_complete());
        let restored = store.grants_folder().join("two2345.json");
        let written = fs::read(&restored).unwrap();
        assert!(store.revoke("two2345").unwrap() && store.grants_by_call().is_complete());
        // Put back by hand, as from a backup, but not within the same tick of the file system's clock.
        fs::write(restored, written).unwrap();
        File::open(store.grants_folder()).unwrap().set_modified(UNIX_EPOCH).unwrap();
        assert!(!store.grants_by_call().is_complete());
        assert_eq!(store.use_grant(&call("b")).unwrap().unwrap().grant.id, "two2345");
        assert_eq!(about("b"), ["two2345"]);
    }

    #[test]
    fn a_rebuild_during_a_change_leaves_the_index_incomplete() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(&Folders::below(folder.path().to_owned()));
        let signer = store.signer(|| None).unwrap();
        store.grant(&approval("one2345", "a"), &signer).unwrap();
        let by_call = store.grants_by_call();
        by_call.about(&call("a"));
        assert!(by_call.is_complete());
        by_call.changed(|| by_call.build()).unwrap();
        by_call.changed(|| fs::remove_dir_all(&by_call.folder)).unwrap();
        assert!(!by_call.is_complete());
    }
}
