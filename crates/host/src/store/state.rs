//! The folder that holds everything the guard keeps for one user.

use super::signing::in_force::InForce;
use crate::system::files::once_made;
use crate::system::folders::Folders;
use crate::system::{hex, random};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Everything the guard keeps of one user on one machine.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) folder: PathBuf,
    /// The user's home, whose hook entries name the key with which a person's words are signed.
    pub(super) home: PathBuf,
    /// Whether what a person said here counts: not where only the environment names the home.
    pub(super) may_loosen: bool,
    /// Which key decides about it, once that was looked up.
    pub(super) keys: Arc<OnceLock<InForce>>,
}

impl Store {
    /// The store of these folders.
    pub fn new(folders: &Folders) -> Store {
        Store {
            folder: folders.state.clone(),
            home: folders.home.clone(),
            may_loosen: !folders.may_only_tighten(),
            keys: Arc::default(),
        }
    }

    /// The folder of all of it.
    pub fn state(&self) -> &Path {
        &self.folder
    }

    /// Whether what a person said here counts.
    pub(crate) fn may_loosen(&self) -> bool {
        self.may_loosen
    }

    /// Where a person's yes to the files of workspaces is kept.
    pub(crate) fn trust_folder(&self) -> PathBuf {
        self.folder.join("trust")
    }

    /// Whether records hold no texts of calls, as a person has chosen.
    pub(crate) fn structure_only(&self) -> bool {
        self.folder.join("audit/structure-only").exists()
    }

    /// A name for this machine that means nothing elsewhere; made at the first use.
    pub fn host(&self) -> String {
        once_made(&self.folder.join("host"), random::uuid).unwrap_or_default()
    }

    /// What makes tags of secrets: equal secrets get equal tags here, and nobody can try secrets out on a tag.
    pub(crate) fn key(&self) -> Vec<u8> {
        let fresh = || {
            let mut bytes = [0; 32];
            random::fill(&mut bytes);
            hex::encode(&bytes)
        };
        once_made(&self.folder.join("key"), fresh).unwrap_or_else(|_| fresh()).into_bytes()
    }
}
