//! The loosening parts of the user's own files. With a key in the hook entries, only those that the user accepted
//! count.

use super::files::{self, Place};
use super::loaded::Loaded;
use super::offer::Offer;
use super::trust::{self, Trust};
use crate::store::Store;
use crate::store::signing::{InForce, Signer};
use crate::system::folders::Folders;
use crate::system::{clock, hex};
use reflex_engine::{Authority, Vouched};
use reflex_rules::SourceFile;
use sha2::{Digest, Sha256};
use std::io;

/// Lets the user's files loosen if no key is in force, or if exactly these files were accepted.
pub(super) fn vouch(loaded: &mut [Loaded], folders: &Folders, store: &Store) {
    let mut users: Vec<&mut Loaded> = loaded.iter_mut().filter(|one| is_own(one)).collect();
    if users.is_empty() {
        return;
    }
    let digest = digest(users.iter().map(|one| (&one.place, one.digest.clone())));
    let (name, store) = (name(folders), store.clone());
    let vouched = Vouched::claimed(move || match store.key_in_force() {
        InForce::Unprotected => true,
        InForce::Disputed(_) | InForce::Detached => false,
        InForce::Key(_) => trust::standing(&store, &name, &digest).holds(),
    });
    users.iter_mut().for_each(|one| one.layer.loosens = vouched.clone());
}

/// The user's files to accept; `None` if there are none, or no key is in force.
pub(super) fn offer(loaded: &[Loaded], folders: &Folders, store: &Store) -> Option<Offer> {
    let users: Vec<&Loaded> = loaded.iter().filter(|one| is_own(one)).collect();
    if users.is_empty() || *store.key_in_force() == InForce::Unprotected {
        return None;
    }
    // A person accepts the files on disk, never the older version that replaces a damaged file.
    let places: Vec<(&Loaded, Vec<SourceFile>)> = users.iter().map(|one| (*one, one.place.list().read())).collect();
    let digest = digest(places.iter().map(|(one, files)| (&one.place, files::digest(files))));
    let files = places.into_iter().flat_map(|(_, files)| files).collect();
    let name = name(folders);
    let before = trust::accepted_as(store, &name);
    Some(Offer::new(files, before, digest, name))
}

/// Whether the user has accepted what one of their reflexes may access.
pub(crate) fn reflex_counts(store: &Store, digest: &str) -> bool {
    *store.key_in_force() == InForce::Unprotected
        || trust::accepted_as(store, &reflex_name(digest)).is_some_and(|trust| trust.digest == digest)
}

/// Accepts what one of the user's reflexes accesses. The caller has asked the user.
///
/// # Errors
/// The approval cannot be written.
pub fn accept_reflex(store: &Store, digest: &str, by: &str, signer: &Signer) -> io::Result<()> {
    let trust = Trust {
        repository: reflex_name(digest),
        digest: digest.into(),
        by: by.into(),
        time: clock::now(),
        reason: String::new(),
        texts: Vec::new(),
    };
    trust::accept(store, &trust, signer)
}

fn reflex_name(digest: &str) -> String {
    format!("own reflex {digest}")
}

fn is_own(one: &Loaded) -> bool {
    one.layer.authority == Authority::User && one.why_tight.is_none()
}

/// The name under which the user's files are accepted. It cannot equal a repository's name, which is an absolute path.
fn name(folders: &Folders) -> String {
    format!("own files of {}", folders.config.display())
}

/// One digest over all places, each with its folder and the digest of its files.
fn digest<'l>(places: impl Iterator<Item = (&'l Place, String)>) -> String {
    let mut hasher = Sha256::new();
    for (place, digest) in places {
        let folder = place.folder.to_string_lossy();
        for part in [&*folder, &digest] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hex::encode(&hasher.finalize())
}
