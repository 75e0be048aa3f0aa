//! Compiled layers on disk. A damaged entry, or one that another user could have written, is compiled again.

use crate::system::folders::Folders;
use crate::system::{files, hex, os, random};
use reflex_tables::Tables;
use reflex_tables::compile::encode;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Maximum number of entries; the oldest are removed.
const MAX_KEPT: usize = 128;

/// Size, in bytes, of the checksum that precedes an entry, and of the length of the identity that follows it.
const NUMBER: usize = 8;

pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub(super) fn new(folders: &Folders) -> Cache {
        Cache { folder: folders.cache.join("rules") }
    }

    /// A cache of bytes by key, in this folder.
    pub(crate) fn at(folder: PathBuf) -> Cache {
        Cache { folder }
    }

    /// The bytes of this key, if they are undamaged.
    pub(crate) fn bytes(&self, key: &str) -> Option<Vec<u8>> {
        self.is_own().then_some(())?;
        let mut kept = fs::read(self.folder.join(key)).ok()?;
        let sum = kept.split_off(kept.len().checked_sub(NUMBER)?);
        (checksum(&kept).to_le_bytes() == *sum).then_some(kept)
    }

    /// Stores bytes. If that fails, the next call computes them again.
    pub(crate) fn put_bytes(&self, key: &str, bytes: &[u8]) {
        if self.make().is_some() {
            self.replace(&self.folder.join(key), &[bytes, &checksum(bytes).to_le_bytes()].concat());
            self.prune();
        }
    }

    /// The compiled layer for this identity, if it is undamaged. It lives as long as the process.
    pub(super) fn get(&self, identity: &[u8]) -> Option<Tables> {
        self.is_own().then_some(())?;
        let kept = fs::read(self.folder.join(name_of(identity))).ok()?;
        let (sum, rest) = kept.split_first_chunk::<NUMBER>()?;
        let (length, rest) = rest.split_first_chunk::<NUMBER>()?;
        let (known, _) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        // File names are 64-bit hashes, so two identities may share one; the stored identity decides.
        if !are_equal(known, identity) || checksum(rest) != u64::from_le_bytes(*sum) {
            return None;
        }
        let blob = NUMBER + NUMBER + identity.len();
        let tables = Tables::new(Vec::leak(kept).get(blob..)?);
        (!tables.is_empty()).then_some(tables)
    }

    /// Stores a tree and returns it as tables. If it cannot be stored, the next call compiles it again.
    pub(super) fn put(&self, identity: &[u8], tree: &Value) -> Tables {
        let Ok(blob) = encode(tree) else { return Tables::EMPTY };
        let after = [identity, &blob].concat();
        let length = identity.len() as u64;
        let bytes = [&checksum(&after).to_le_bytes()[..], &length.to_le_bytes(), &after].concat();
        if self.make().is_some() {
            self.replace(&self.folder.join(name_of(identity)), &bytes);
            self.prune();
        }
        Tables::new(Vec::leak(blob))
    }

    /// Keeps the text of a file that compiled without errors.
    pub(super) fn keep_good(&self, name: &str, text: &str) {
        let path = self.good(name);
        let is_made = self.make().and_then(|()| fs::create_dir_all(self.folder.join("good")).ok());
        if is_made.is_some() && fs::read_to_string(&path).ok().as_deref() != Some(text) {
            self.replace(&path, text.as_bytes());
        }
    }

    /// The last text of the file that compiled without errors.
    pub(super) fn last_good(&self, name: &str) -> Option<String> {
        self.is_own().then_some(())?;
        fs::read_to_string(self.good(name)).ok()
    }

    fn good(&self, name: &str) -> PathBuf {
        self.folder.join("good").join(hex::encode(&Sha256::digest(name.as_bytes())))
    }

    fn make(&self) -> Option<()> {
        os::make_private_folder(&self.folder).ok()?;
        self.is_own().then_some(())
    }

    /// Whether the folder belongs to this user and no other user can write to it.
    fn is_own(&self) -> bool {
        let is_own = |folder: os::Stat| {
            folder.kind == os::Kind::Folder && folder.is_of(os::user()) && !folder.others_may_write()
        };
        os::stat(&self.folder).is_ok_and(is_own)
    }

    /// Replaces a file atomically.
    fn replace(&self, path: &Path, bytes: &[u8]) {
        let draft = self.folder.join(format!(".{}", random::uuid()));
        let written = files::private()
            .write(true)
            .create_new(true)
            .open(&draft)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&draft, path));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
    }

    fn prune(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut kept: Vec<_> = entries
            .filter_map(|entry| Some((entry.metadata().ok()?, entry.path())))
            .filter(|(metadata, _)| metadata.is_file())
            .map(|(metadata, path)| (os::stat_of(&metadata).modified.0, path))
            .collect();
        kept.sort();
        let over = kept.len().saturating_sub(MAX_KEPT);
        for (_, path) in kept.into_iter().take(over) {
            let _ = fs::remove_file(path);
        }
    }
}

/// The file name of an entry.
fn name_of(identity: &[u8]) -> String {
    format!("layer-{:016x}", checksum(identity))
}

/// Compares word by word: some C libraries compare byte by byte, and the identities may be long.
fn are_equal(one: &[u8], other: &[u8]) -> bool {
    let ((words, rest), (others, other_rest)) = (one.as_chunks::<NUMBER>(), other.as_chunks::<NUMBER>());
    let equal = |(one, other): (&[u8; NUMBER], &[u8; NUMBER])| u64::from_ne_bytes(*one) == u64::from_ne_bytes(*other);
    one.len() == other.len() && rest == other_rest && words.iter().zip(others).all(equal)
}

/// Detects damage, not forgery: a process that can write here can write any checksum. Each step is invertible, so that
/// one changed word always changes the sum, and several nearly always do.
fn checksum(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(ODD);
    let (words, rest) = bytes.as_chunks::<NUMBER>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    let sum = rest.iter().fold(sum, |sum, byte| mix(sum, u64::from(*byte)));
    sum ^ (sum >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_for_another_identity_is_not_returned() {
        let (long, other) = (vec![7_u8; 21], [vec![7_u8; 20], vec![8]].concat());
        assert!(are_equal(&long, &long.clone()) && are_equal(&[], &[]));
        assert!(!are_equal(&long, &other) && !are_equal(&long, &[7; 20]));
        assert!(!are_equal(&[1; 16], &[vec![1; 15], vec![2]].concat()));
    }

    #[test]
    fn every_change_of_a_byte_changes_the_sum() {
        let bytes: Vec<u8> = (0..=100).collect();
        let sum = checksum(&bytes);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            assert_ne!(checksum(&changed), sum, "{at}");
            assert_ne!(checksum(&bytes[..at]), sum, "{at}");
        }
    }
}
