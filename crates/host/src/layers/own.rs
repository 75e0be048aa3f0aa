//! What the user's own files loosen: with a key in the hook entries, only what the user has accepted.

use super::people::Offer;
use super::{Loaded, Place, trust};
use crate::clock;
use crate::folders::Folders;
use crate::signing::InForce;
use crate::store::Store;
use reflex_engine::{Authority, Vouched};
use reflex_rules::SourceFile;
use sha2::{Digest, Sha256};

/// Lets the user's files loosen where no key is in force, or where exactly these were accepted.
pub(super) fn vouch(loaded: &mut [Loaded], folders: &Folders, store: &Store) {
    let mut own: Vec<&mut Loaded> = loaded.iter_mut().filter(|one| is_own(one)).collect();
    if own.is_empty() {
        return;
    }
    let digest = digest(own.iter().map(|one| (&one.place, one.digest.clone())));
    let (name, store) = (name(folders), store.clone());
    let vouched = Vouched::claimed(move || match store.key_in_force() {
        InForce::Unprotected => true,
        InForce::Disputed(_) => false,
        InForce::Key(_) => trust::standing(&store, &name, &digest).holds(),
    });
    own.iter_mut().for_each(|one| one.layer.loosens = vouched.clone());
}

/// The user's files that a person may accept; nothing where there are none, or no key is in force.
pub(super) fn offer(loaded: &[Loaded], folders: &Folders, store: &Store) -> Option<Offer> {
    let own: Vec<&Loaded> = loaded.iter().filter(|one| is_own(one)).collect();
    if own.is_empty() || *store.key_in_force() == InForce::Unprotected {
        return None;
    }
    // What is accepted is what lies there: to a damaged file in whose place an older one holds nobody says yes.
    let places: Vec<(&Loaded, Vec<SourceFile>)> = own.iter().map(|one| (*one, one.place.list().read())).collect();
    let digest = digest(places.iter().map(|(one, files)| (&one.place, super::files::digest(files))));
    let files = places.into_iter().flat_map(|(_, files)| files).collect();
    let name = name(folders);
    let before = trust::accepted_as(store, &name);
    Some(Offer::of(files, before, digest, name))
}

fn is_own(one: &Loaded) -> bool {
    one.layer.authority == Authority::User && one.why_tight.is_none()
}

/// The name under which the user's files are accepted. No repository has such a one: theirs are absolute paths.
fn name(folders: &Folders) -> String {
    format!("own files of {}", folders.config.display())
}

/// One digest of all places together, with what each of them is.
fn digest<'l>(places: impl Iterator<Item = (&'l Place, String)>) -> String {
    let mut whole = Sha256::new();
    for (place, digest) in places {
        let folder = place.folder.to_string_lossy();
        for part in [&*folder, &digest] {
            whole.update((part.len() as u64).to_le_bytes());
            whole.update(part.as_bytes());
        }
    }
    clock::hexadecimal(&whole.finalize())
}
